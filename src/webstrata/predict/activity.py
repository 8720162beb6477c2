"""Hidden activity: a page is on one of ten levels, each with its own daily probability of a change.

Real changes come in bursts and lulls, which a single rate cannot describe. The belief about a page is the probability
of each level. The belief right after the last visit and the days since then determine the forecast, through tables
that are computed once:

    unchanged(τ) = m · (A D)^τ 1       no change in the τ days since the visit
    rate(τ)      = m · A^τ A p         probability of a change on the next day, whatever happened before

with m the belief, A the transition matrix of a day, p the change probabilities and D = diag(1 - p); between whole days
the values are interpolated linearly. After a visit without a change the belief is m (A D)^τ, after one with a change
the rest of m A^τ, each normalised to one.
"""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from webstrata.columns import Column, Days, Flags, Rows
from webstrata.predict.kernel.choice import KERNEL

Belief: TypeAlias = NDArray[np.floating[Any]]
"""Pages by levels; each row sums to one."""


class Forecast(NamedTuple):
    """Columns with the forecast of some pages, each at a number of days after its last visit."""

    unchanged: Column
    """Probability of no change until then."""
    next_day: Column
    """Probability that the first change comes on the next day."""
    rate: Column
    """Probability of a change on the next day, whatever happened before."""
    fresh_days: Column
    """Expected number of days since the last visit on which the copy was up to date."""


_SHORTEST_DAYS = 1e-3
"""A change that was seen after no time at all is treated as one after this time."""


class Levels(Struct, frozen=True, kw_only=True):
    """The parameters of the model, fitted to all pages of a set of histories (`tools/fit_levels.py`)."""

    chance: tuple[float, ...]
    """Daily probability of a change on each level, slowest first."""
    start: tuple[float, ...]
    """Probability of each level for a page without any visit."""
    moves: tuple[dict[int, float], ...]
    """By level: the daily probability of a move to each other level. The rest is the probability to stay."""


POOLED = Levels(
    chance=(4.3e-5, 2.64e-4, 0.00118, 0.00312, 0.00605, 0.0167, 0.045, 0.106, 0.226, 0.611),
    start=(0.115, 0.108, 0.116, 0.102, 0.145, 0.212, 0.13, 0.059, 0.01, 0.003),
    moves=(
        {1: 0.0014, 2: 0.0008, 3: 0.0003, 4: 0.0001},
        {0: 0.0028, 2: 0.0013, 3: 0.0007, 4: 0.0002},
        {0: 0.0030, 1: 0.0025, 3: 0.0015, 4: 0.0008, 6: 0.0001},
        {0: 0.0018, 1: 0.0018, 2: 0.0019, 4: 0.0021, 5: 0.0001, 6: 0.0001, 8: 0.0001},
        {0: 0.0002, 1: 0.0002, 2: 0.0004, 3: 0.0007, 5: 0.0002},
        {3: 0.0001, 4: 0.0008, 6: 0.0004},
        {4: 0.0001, 5: 0.0011, 7: 0.0004, 8: 0.0001},
        {5: 0.0001, 6: 0.0016, 8: 0.0004},
        {3: 0.0001, 4: 0.0014, 5: 0.0001, 6: 0.0015, 7: 0.0021, 9: 0.0035},
        {5: 0.0019, 6: 0.0011, 7: 0.0045, 8: 0.0251},
    ),
)
"""Fitted to 4,120 pages of five corpora, in the three years before those that the policies are measured on."""


class Activity:
    """The model for many pages at once. It holds only tables; the caller owns the beliefs."""

    def __init__(self, levels: Levels = POOLED, longest_days: int = 400) -> None:
        """Longer times since a visit count as `longest_days`."""
        self.chance = np.array(levels.chance)
        self.width = len(self.chance)
        self._start = np.array(levels.start) / sum(levels.start)
        self._longest = longest_days = min(longest_days, np.iinfo(np.int16).max)
        moves = np.zeros((self.width, self.width))
        for level, row in enumerate(levels.moves):
            moves[level, list(row)] = list(row.values())
            moves[level, level] = 1.0 - sum(row.values())
        quiet = moves * (1.0 - self.chance)
        self._any, self._none = _powers(moves, longest_days + 2), _powers(quiet, longest_days + 2)
        unchanged = self._none.sum(axis=2)
        next_day, rate = unchanged[:-1] - unchanged[1:], self._any @ moves @ self.chance
        fresh = np.cumsum(unchanged, axis=0) - unchanged
        tables = np.stack([unchanged[:-1], next_day, rate[:-1], fresh[:-1]], axis=-1)  # by day, level, quantity
        self._tables = np.ascontiguousarray(tables, dtype=np.float32)

    def start(self, n: int) -> Belief:
        """Beliefs about n pages without any visit."""
        return np.tile(self._start.astype(np.float32), (n, 1))

    def forecast(self, belief: Belief, whole_days: NDArray[np.integer[Any]], rows: Rows | None = None) -> Forecast:
        """The forecast at `whole_days` after the last visit, for the beliefs in `rows` (None: for all beliefs)."""
        beliefs = belief if _is_in_rows(belief) else np.ascontiguousarray(belief, dtype=np.float32)
        days = np.ascontiguousarray(np.clip(whole_days, 0, self._longest), dtype=np.int16)
        selected = None if rows is None else np.ascontiguousarray(rows, dtype=np.int64)
        if beliefs.shape[1] != self.width or (selected is not None and len(selected) != len(days)):
            raise ValueError(f"beliefs have {self.width} levels, and each selected page has a number of days.")
        return Forecast(*KERNEL.forecast(beliefs, selected, days, self._tables))

    def after_visit(self, belief: Belief, elapsed_days: Days, changed: Flags, quiet: Column | None = None) -> Belief:
        """Beliefs right after a visit. `quiet`: probability that no event of the whole site changed the page since the
        last visit; a change that such an event explains says less about the page's own level."""
        days = np.clip(elapsed_days, _SHORTEST_DAYS, self._longest)
        whole = days.astype(np.intp)
        part = (days - whole)[:, None]
        none, any_change = (_moved(belief, table, whole, part) for table in (self._none, self._any))
        free = none if quiet is None else none * quiet[:, None]
        after = np.where(changed[:, None], np.maximum(any_change - free, 1e-12), none)
        normal: Belief = (after / after.sum(axis=1, keepdims=True)).astype(np.float32)
        return normal


def _is_in_rows(belief: Belief) -> bool:
    """Whether each page's numbers are contiguous, as the kernel needs them; there may be gaps between pages."""
    return belief.dtype == np.float32 and belief.ndim == 2 and belief.strides[1] == belief.itemsize


def _powers(matrix: NDArray[np.float64], count: int) -> NDArray[np.float64]:
    powers = np.empty((count, *matrix.shape))
    powers[0] = np.eye(len(matrix))
    for day in range(1, count):
        powers[day] = powers[day - 1] @ matrix
    return powers


def _moved(
    belief: Belief, powers: NDArray[np.float64], whole: NDArray[np.intp], part: NDArray[np.float64]
) -> NDArray[np.float64]:
    moved: NDArray[np.float64] = np.einsum("ij,ijk->ik", belief, powers[whole])
    if part.any():
        moved = moved * (1.0 - part) + np.einsum("ij,ijk->ik", belief, powers[whole + 1]) * part
    return moved
