"""Hidden activity: a page lives on one of ten levels, each with its own daily chance of a change, and moves at times.

Real changes come in bursts and lulls, which one rate cannot say. What is known of a page is a belief: the probability
of each level. Between two visits nothing but time passes, so the belief right after the last visit and the days since
then give everything else through tables made once:

    unchanged(τ) = m · (A D)^τ 1       no change in the τ days since the visit
    rate(τ)      = m · A^τ A p         chance of a change on the day after, whatever happened before

with A the moves of a day, p the chances, D = diag(1 - p), and between whole days the straight line. A visit that saw no
change leaves m (A D)^τ, one that saw a change the rest of m A^τ, each made to sum to one.
"""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from webstrata.columns import Column, Days, Flags, Rows
from webstrata.predict.kernel.choice import KERNEL

Belief: TypeAlias = NDArray[np.floating[Any]]
"""Pages by levels; every row sums to one."""


class Forecast(NamedTuple):
    """Of some pages, so many days after their last visits; each a column."""

    unchanged: Column
    """No change until now."""
    coming: Column
    """The first change comes on the next day."""
    rate: Column
    """A change on that day, whatever happened before."""
    fresh_days: Column
    """How many of the days since the last visit the copy is expected to have been up to date."""


_SHORTEST_DAYS = 1e-3
"""A change seen after no time at all happened in some."""


class Levels(Struct, frozen=True, kw_only=True):
    """The population's parameters: what `fit` of a history would give, here from 4,120 pages of five corpora."""

    chance: tuple[float, ...]
    """Daily probability of a change on each level, slowest first."""
    start: tuple[float, ...]
    """Where a page of which nothing is known may be."""
    moves: tuple[dict[int, float], ...]
    """Level by level: where to, with which daily probability. It stays with the rest."""


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
"""Learned on the three years before those that the policies are measured on; no date and no page is in it."""


class Activity:
    """Beliefs of many pages at once. Holds only tables; the caller owns the beliefs."""

    def __init__(self, levels: Levels = POOLED, longest_days: int = 400) -> None:
        """Time since a visit is told apart up to `longest_days`."""
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
        coming, rate = unchanged[:-1] - unchanged[1:], self._any @ moves @ self.chance
        fresh = np.cumsum(unchanged, axis=0) - unchanged
        tables = np.stack([unchanged[:-1], coming, rate[:-1], fresh[:-1]], axis=-1)  # by day, level, what is asked
        self._tables = np.ascontiguousarray(tables, dtype=np.float32)

    def start(self, n: int) -> Belief:
        """Beliefs of n pages of which nothing is known."""
        return np.tile(self._start.astype(np.float32), (n, 1))

    def outlook(self, belief: Belief, whole_days: NDArray[np.integer[Any]], rows: Rows | None = None) -> Forecast:
        """So many days after the last visit, for the pages in `rows` of the beliefs (without: for all of them)."""
        beliefs = belief if _is_in_rows(belief) else np.ascontiguousarray(belief, dtype=np.float32)
        days = np.ascontiguousarray(np.clip(whole_days, 0, self._longest), dtype=np.int16)
        asked = None if rows is None else np.ascontiguousarray(rows, dtype=np.int64)
        if beliefs.shape[1] != self.width or (asked is not None and len(asked) != len(days)):
            raise ValueError(f"beliefs have {self.width} levels, and every page asked for its days.")
        return Forecast(*KERNEL.outlook(beliefs, asked, days, self._tables))

    def seen(self, belief: Belief, elapsed_days: Days, changed: Flags, quiet: Column | None = None) -> Belief:
        """Beliefs right after a visit. `quiet`: probability that no event of the whole site touched the page since the
        last visit; a change that such an event explains does not make the page itself look lively."""
        days = np.clip(elapsed_days, _SHORTEST_DAYS, self._longest)
        whole = days.astype(np.intp)
        part = (days - whole)[:, None]
        none, every = (_moved(belief, table, whole, part) for table in (self._none, self._any))
        free = none if quiet is None else none * quiet[:, None]
        after = np.where(changed[:, None], np.maximum(every - free, 1e-12), none)
        normal: Belief = (after / after.sum(axis=1, keepdims=True)).astype(np.float32)
        return normal

    def rate_per_day(self, belief: Belief) -> Column:
        """The expected daily chance of a change as it stands right after a visit."""
        return self.outlook(belief, np.zeros(len(belief), dtype=np.int16)).rate


def _is_in_rows(belief: Belief) -> bool:
    """Whether each page's numbers lie side by side, as the kernel reads them; between pages there may be more."""
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
