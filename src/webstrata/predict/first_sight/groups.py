"""Groups of pages that change about equally often: k-means on the logarithm of their rates.

The logarithms lie on a line, where the best partition consists of intervals. It is computed exactly by dynamic
programming over a fine grid of rates, so there is no random start. A page without any change has no logarithm. It
belongs to the slowest group and does not move its centre: how slow it is, nobody has seen.
"""

from __future__ import annotations

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from webstrata.columns import Days
from webstrata.errors import UsageError

FEWEST, MOST = 2, 6
_CELLS = 512

GroupNumbers = NDArray[np.intp]


class ChangeGroups(Struct, frozen=True):
    """The groups, fastest first."""

    interval_days: tuple[float, ...]
    """The mean interval between changes in each group: the inverse of its centre, the geometric mean of its rates."""

    def __len__(self) -> int:
        return len(self.interval_days)

    @property
    def names(self) -> tuple[str, ...]:
        """The mean intervals in words."""
        return tuple(_in_words(days) for days in self.interval_days)

    def of(self, rates: Days) -> GroupNumbers:
        """The group of each rate per day: the one whose centre is nearest in the logarithm; of rate 0 the slowest."""
        borders = -np.log(np.sqrt(np.multiply(self.interval_days[:-1], self.interval_days[1:])))
        with np.errstate(divide="ignore"):
            logs = np.log(np.asarray(rates, dtype=np.float64))
        return np.searchsorted(-borders, -logs, side="right")


class GroupSizes(Struct, frozen=True, kw_only=True):
    """The groups of some pages, and what Figure 2 of the paper shows of them."""

    groups: ChangeGroups
    pages: tuple[int, ...]
    mean_rate_per_day: tuple[float, ...]
    """The arithmetic mean of the rates in each group, with pages without a change as 0."""
    explained: float
    """Share of the variance of the logarithms that lies between the groups, of pages with changes."""


def grouped(rates: Days, k: int = 4) -> ChangeGroups:
    """The k groups of pages with these rates per day. Raises UsageError if there are fewer than k different rates."""
    return group_sizes(rates, k).groups


def group_sizes(rates: Days, k: int = 4) -> GroupSizes:
    """The k groups of pages with these rates per day, with their sizes."""
    if not FEWEST <= k <= MOST:
        raise UsageError(f"the number of groups must be from {FEWEST} to {MOST}.")
    rates = np.asarray(rates, dtype=np.float64)
    known = rates[np.isfinite(rates) & (rates >= 0)]
    if not (known > 0).any():
        raise UsageError("no page has changed, so there are no groups. Wait for changes, or name other pages.")
    logs = np.log(known[known > 0])
    cells, count = _cells(logs)
    if len(cells) < k:
        raise UsageError(f"the pages have only {len(cells)} different rates. Ask for fewer than {k} groups with --k.")
    starts = _partition(cells, count, k)
    sums = np.add.reduceat(cells * count, starts)
    centres = sums / np.add.reduceat(count, starts)
    groups = ChangeGroups(tuple(float(days) for days in np.exp(-centres[::-1])))
    number = groups.of(known)
    pages = np.bincount(number, minlength=k)
    means = np.bincount(number, weights=known, minlength=k) / np.maximum(pages, 1)
    total = float(np.sum((logs - logs.mean()) ** 2))
    inside = float(np.sum((logs + np.log(groups.interval_days)[number[known > 0]]) ** 2))
    return GroupSizes(
        groups=groups,
        pages=tuple(pages.tolist()),
        mean_rate_per_day=tuple(means.tolist()),
        explained=1.0 - inside / total if total else 1.0,
    )


def _cells(logs: Days) -> tuple[Days, Days]:
    """The values on a grid, ascending, each as the mean of its cell, and how many there are of each."""
    low, high = float(logs.min()), float(logs.max())
    cell = np.minimum(((logs - low) / max(high - low, 1e-12) * _CELLS).astype(np.int64), _CELLS - 1)
    count = np.bincount(cell, minlength=_CELLS).astype(np.float64)
    filled = count > 0
    return np.bincount(cell, weights=logs, minlength=_CELLS)[filled] / count[filled], count[filled]


def _partition(values: Days, count: Days, k: int) -> NDArray[np.intp]:
    """Where the k intervals with the least sum of squares begin."""
    weight, first, second = (np.concatenate([[0.0], np.cumsum(count * values**power)]) for power in range(3))
    n = len(values)

    def spread(begin: NDArray[np.intp], end: int) -> Days:
        w, s = weight[end] - weight[begin], first[end] - first[begin]
        squares: Days = second[end] - second[begin] - s**2 / w
        return squares

    best = np.full(n + 1, np.inf)
    best[0] = 0.0
    cuts = []
    for groups in range(1, k + 1):
        next_best, cut = np.full(n + 1, np.inf), np.zeros(n + 1, dtype=np.intp)
        for end in range(groups, n + 1):
            begins = np.arange(groups - 1, end)
            costs = best[begins] + spread(begins, end)
            cut[end] = begins[np.argmin(costs)]
            next_best[end] = costs.min()
        best = next_best
        cuts.append(cut)
    starts, end = [], n
    for cut in reversed(cuts):
        end = int(cut[end])
        starts.append(end)
    return np.array(starts[::-1], dtype=np.intp)


def _in_words(days: float) -> str:
    """Hours up to two days, then days, weeks, months and years, so that the number is at least 2 where possible."""
    for unit, length in (("years", 365.25), ("months", 30.4375), ("weeks", 7.0), ("days", 1.0)):
        if days >= 2 * length:
            return f"{days / length:.0f} {unit}"
    return "1 day" if days >= 0.75 else f"{max(1, round(days * 24))} h"
