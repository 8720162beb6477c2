"""The ages for which forecasts are tabled: some seconds apart right after a visit, days apart for old pages.

What has decayed needs no fine steps: a page that changes every half hour is almost certainly changed after six hours.
Between two ages of the grid, the numbers of a forecast are interpolated linearly. All whole days are in the grid.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from webstrata.columns import Days

_PARTS = ((0.0, 1152), (0.25, 96), (1.0, 24), (2.0, 4), (4.0, 1))
"""From this age in days on, so many steps per day. Each number is a multiple of the next."""


class AgeGrid:
    """Ages from 0 to `longest_days`, in ascending order."""

    def __init__(self, longest_days: int) -> None:
        longest_days = max(longest_days, 1)
        parts = [(begin, steps) for begin, steps in _PARTS if begin < longest_days]
        ends = [*(begin for begin, _ in parts[1:]), float(longest_days)]
        counts = [round((end - begin) * steps) for (begin, steps), end in zip(parts, ends, strict=True)]
        first = np.cumsum([0, *counts])
        self.parts: NDArray[np.float64] = np.column_stack(
            [[begin for begin, _ in parts], [steps for _, steps in parts], first[:-1]]
        ).astype(np.float64)
        """By part: the age at which it begins, steps per day, and the index of its first age."""
        inside = [begin + np.arange(count) / steps for (begin, steps), count in zip(parts, counts, strict=True)]
        self.ages: Days = np.append(np.concatenate(inside), float(longest_days))
        self.steps: list[tuple[int, int]] = [(steps, count) for (_, steps), count in zip(parts, counts, strict=True)]
        """By part: steps per day, and the number of steps."""

    def __len__(self) -> int:
        return len(self.ages)

    def cells(self, age_days: Days) -> NDArray[np.intp]:
        """The index of the last age of the grid that is not above each of these ages; negative ages count as 0."""
        return grid_cells(age_days, self.parts, len(self))


def grid_cells(age_days: Days, parts: NDArray[np.float64], size: int) -> NDArray[np.intp]:
    """The same for the `parts` of a grid of this size. The C code does the same operations in the same order."""
    last_begin, last_steps, last_first = parts[-1]
    longest = last_begin + (size - 1 - last_first) / last_steps
    age = np.clip(np.nan_to_num(age_days, nan=0.0), 0.0, longest)
    part = np.searchsorted(parts[:, 0], age, side="right") - 1
    begin, steps, first = parts[part].T
    cells: NDArray[np.intp] = (first + np.floor((age - begin) * steps)).astype(np.intp)
    return np.minimum(cells, size - 1)
