"""Selects the kernel: the compiled functions if the build produced them, else the same functions in NumPy.

Forecasts are the same to the last bit, rates to ten digits (tests/predict/kernel compares them).
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from webstrata.compiled import is_compiled


class PredictKernel(Protocol):
    """What a kernel of `predict` computes; the modules `library` and `python` are the two implementations."""

    def forecast(
        self,
        beliefs: NDArray[np.float32],
        rows: NDArray[np.int64] | None,
        at: NDArray[np.float64],
        parts: NDArray[np.float64],
        ages: NDArray[np.float64],
        tables: NDArray[np.float32],
    ) -> NDArray[np.float32]:
        """Ten columns: the age of the table that each page's age `at` selects, the next age, and the eight products of
        the page's belief and that table.

        `rows` are the pages' rows in `beliefs`; None: the first ones, in order. The numbers of one row of `beliefs`
        must be contiguous; between rows there may be other data. `parts` and `ages` are those of an `AgeGrid`. `tables`
        has the axes age, level and column; ages beyond the last use the last one's table.
        """

    def irregular_rates(
        self, offsets: NDArray[np.int64], lengths: NDArray[np.float64], changed: NDArray[np.bool_]
    ) -> NDArray[np.float64]:
        """For each page the root of eq. 5, from its visits `offsets[page]` to before `offsets[page + 1]`.

        Without visits NaN, without a change 0, and with a change at every visit eq. 4. All arrays are contiguous.
        """


def select_kernel(*, compiled: bool) -> PredictKernel:
    """The compiled kernel or the one in NumPy."""
    if compiled:
        from webstrata.predict.kernel import library

        return library
    from webstrata.predict.kernel import python

    return python


KERNEL = select_kernel(compiled=is_compiled("predict"))
"""The kernel that this installation runs."""
