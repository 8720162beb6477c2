"""Hidden activity: a page is on one of thirteen levels, each with its own rate of changes, and moves between them.

Real changes come in bursts and lulls, which a single rate cannot describe. The belief about a page is the probability
of each level. The belief right after the last visit and the time since then determine the forecast, at any age:

    unchanged(τ) = m · exp((Q - Λ) τ) 1      no change in the time τ since the visit
    density(τ)   = m · exp((Q - Λ) τ) λ      the first change comes at τ: the probability per day
    rate(τ)      = m · exp(Q τ) λ            changes per day at τ, whatever happened before

with m the belief, Q the rates of the moves, λ the rates of changes and Λ = diag(λ): a Markov-modulated Poisson process.
The tables of an `AgeGrid` are computed once; between its ages the numbers are interpolated linearly. After a visit
without a change the belief is m exp((Q - Λ) τ), after one with a change the rest of m exp(Q τ), each normalised to one.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from webstrata.columns import Column, Days, Flags, Rows
from webstrata.predict.age_grid import AgeGrid
from webstrata.predict.kernel.choice import KERNEL

Belief: TypeAlias = NDArray[np.floating[Any]]
"""Pages by levels; each row sums to one."""


class Forecast(NamedTuple):
    """Columns with the forecast of some pages: four numbers at the age `begin`, and how they change per day from there
    until the age `end`. The ages are two neighbours of the grid, the last one not above the page's age."""

    begin: Column
    end: Column
    unchanged: Column
    """Probability of no change since the last visit."""
    density: Column
    """Probability per day that the first change since the last visit comes at this age."""
    rate: Column
    """Changes per day at this age, whatever happened before."""
    fresh_days: Column
    """Expected time since the last visit in which the copy was up to date, in days."""
    unchanged_slope: Column
    density_slope: Column
    rate_slope: Column
    fresh_slope: Column


_SHORTEST_DAYS = 1.0 / 86_400
"""A change that was seen after no time at all is treated as one after this time."""


class Levels(Struct, frozen=True, kw_only=True):
    """The parameters of the model."""

    per_day: tuple[float, ...]
    """Changes per day on each level, slowest first."""
    start: tuple[float, ...]
    """Probability of each level for a page without any visit."""
    moves: tuple[dict[int, float], ...]
    """By level: the rate per day of moves to each other level."""


def rates_of(daily_chances: Sequence[float]) -> tuple[float, ...]:
    """The changes per day of levels that were fitted to days: a day has a change with these probabilities."""
    return tuple(float(-np.log1p(-chance)) for chance in daily_chances)


POOLED = Levels(
    per_day=(*rates_of((4.3e-5, 2.64e-4, 0.00118, 0.00312, 0.00605, 0.0167, 0.045, 0.106, 0.226, 0.611)), 3, 12, 60),
    start=(0.115, 0.108, 0.116, 0.102, 0.145, 0.212, 0.13, 0.059, 0.01, 0.003, 3e-4, 1e-4, 3e-5),
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
        {5: 0.0019, 6: 0.0011, 7: 0.0045, 8: 0.0251, 10: 0.0003},
        {9: 0.05, 11: 0.0003},
        {10: 0.05, 12: 0.0003},
        {11: 0.05},
    ),
)
"""The ten slower levels were fitted to days, on the 1,925 pages of five corpora that existed in the three years before
those that the policies are measured on. The three fastest levels are not fitted: few pages of these corpora change
several times a day. They are so improbable that daily visits are planned as without them."""


class Activity:
    """The model for many pages at once. It holds only tables; the caller owns the beliefs."""

    def __init__(self, levels: Levels = POOLED, longest_days: int = 400) -> None:
        """Longer times since a visit count as `longest_days`."""
        self.per_day = np.array(levels.per_day, dtype=np.float64)
        self.width = len(self.per_day)
        self._start = np.array(levels.start) / sum(levels.start)
        self._grid = AgeGrid(longest_days)
        moves = np.zeros((self.width, self.width))
        for level, row in enumerate(levels.moves):
            moves[level, list(row)] = list(row.values())
            moves[level, level] = -sum(row.values())
        self._any = _transitions(moves, self._grid)
        self._none = _transitions(moves - np.diag(self.per_day), self._grid)
        unchanged = self._none.sum(axis=2)
        days = np.diff(self._grid.ages)[:, None]
        fresh = np.zeros_like(unchanged)
        fresh[1:] = np.cumsum((unchanged[1:] + unchanged[:-1]) / 2 * days, axis=0)
        values = np.stack([unchanged, self._none @ self.per_day, self._any @ self.per_day, fresh], axis=-1)
        slopes = np.zeros_like(values)  # of the last age: 0
        slopes[:-1] = np.diff(values, axis=0) / days[:, :, None]
        self._tables = np.ascontiguousarray(np.concatenate([values, slopes], axis=-1), dtype=np.float32)

    def start(self, n: int) -> Belief:
        """Beliefs about n pages without any visit."""
        return np.tile(self._start.astype(np.float32), (n, 1))

    def forecast(self, belief: Belief, age_days: Days, rows: Rows | None = None) -> Forecast:
        """The forecast at these ages, for the beliefs in `rows` (None: for all beliefs)."""
        beliefs = belief if _is_in_rows(belief) else np.ascontiguousarray(belief, dtype=np.float32)
        ages = np.ascontiguousarray(age_days, dtype=np.float64)
        selected = None if rows is None else np.ascontiguousarray(rows, dtype=np.int64)
        if beliefs.shape[1] != self.width or (selected is not None and len(selected) != len(ages)):
            raise ValueError(f"beliefs have {self.width} levels, and each selected page has an age.")
        return Forecast(*KERNEL.forecast(beliefs, selected, ages, self._grid.parts, self._grid.ages, self._tables))

    def after_visit(self, belief: Belief, elapsed_days: Days, changed: Flags, quiet: Column | None = None) -> Belief:
        """Beliefs right after a visit. `quiet`: probability that no event of the whole site changed the page since the
        last visit; a change that such an event explains says less about the page's own level."""
        days = np.clip(elapsed_days, _SHORTEST_DAYS, self._grid.ages[-1])
        cell = np.minimum(self._grid.cells(days), len(self._grid) - 2)
        begin, end = self._grid.ages[cell], self._grid.ages[cell + 1]
        part = ((days - begin) / (end - begin))[:, None]
        none, any_change = (_moved(belief, table, cell, part) for table in (self._none, self._any))
        free = none if quiet is None else none * quiet[:, None]
        after = np.where(changed[:, None], np.maximum(any_change - free, 1e-12), none)
        normal: Belief = (after / after.sum(axis=1, keepdims=True)).astype(np.float32)
        return normal


@cache
def pooled_activity() -> Activity:
    """The model with the pooled levels. Computing its tables takes longer than opening a small home."""
    return Activity()


def _is_in_rows(belief: Belief) -> bool:
    """Whether each page's numbers are contiguous, as the kernel needs them; there may be gaps between pages."""
    return belief.dtype == np.float32 and belief.ndim == 2 and belief.strides[1] == belief.itemsize


def _transitions(generator: NDArray[np.float64], grid: AgeGrid) -> NDArray[np.float64]:
    """exp(generator · age) for each age of the grid: by products, from the shortest step on."""
    found = np.empty((len(grid), *generator.shape))
    found[0] = np.eye(len(generator))
    steps_per_day = grid.steps[0][0]
    step = _exponential(generator / steps_per_day)
    at = 0
    for steps, count in grid.steps:
        step = np.linalg.matrix_power(step, steps_per_day // steps)
        steps_per_day = steps
        for _ in range(count):
            found[at + 1] = found[at] @ step
            at += 1
    return found


def _exponential(matrix: NDArray[np.float64]) -> NDArray[np.float64]:
    """exp(matrix), by the power series after halving until it converges quickly, and squaring as often."""
    halvings = max(0, int(np.ceil(np.log2(max(float(np.abs(matrix).sum(axis=1).max()), 1e-9)))) + 4)
    small = matrix / 2.0**halvings
    total = term = np.eye(len(matrix))
    for order in range(1, 12):
        term = term @ small / order
        total = total + term
    return np.linalg.matrix_power(total, 2**halvings)


def _moved(
    belief: Belief, transitions: NDArray[np.float64], cell: NDArray[np.intp], part: NDArray[np.float64]
) -> NDArray[np.float64]:
    moved: NDArray[np.float64] = np.einsum("ij,ijk->ik", belief, transitions[cell])
    if part.any():
        moved = moved * (1.0 - part) + np.einsum("ij,ijk->ik", belief, transitions[cell + 1]) * part
    return moved
