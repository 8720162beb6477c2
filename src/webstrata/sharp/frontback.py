"""From the hottest page to the coldest, each takes the next slot from the inside or the next from the outside: the best
of these 2^n plans by dynamic programming, n^2 steps in n rows.

It holds every plan without frozen pages that `segments` can find, and more: pages need not split at one rate.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from webstrata.sharp.rates import Places


def front_back(worths: NDArray[np.float64]) -> Places:
    """The slot of each row (pages from hot to cold, columns are slots inside to outside)."""
    count = len(worths)
    best = np.zeros(count + 1)  # best[j]: of the pages so far, j took inner slots
    inner = np.zeros((count, count + 1), dtype=bool)
    for row in range(count):
        inside = best[: row + 1] + worths[row, : row + 1]
        outside = best[: row + 1] + worths[row, count - 1 - row :]
        chosen = inside[:row] >= outside[1:]
        inner[row, 1 : row + 1] = chosen
        inner[row, row + 1] = True
        best[1 : row + 1] = np.where(chosen, inside[:row], outside[1:])
        best[0], best[row + 1] = outside[0], inside[row]
    return _traced(inner, int(np.argmax(best)))


def _traced(inner: NDArray[np.bool_], taken: int) -> Places:
    count = len(inner)
    slots = np.empty(count, dtype=np.intp)
    for row in range(count - 1, -1, -1):
        if inner[row, taken]:
            taken -= 1
            slots[row] = taken
        else:
            slots[row] = count - 1 - (row - taken)
    return slots
