"""The compiled kernel: the C functions with their argument types, and the functions of the interface on top of them.

Importing this module fails where `kernel.so` was not built; `choice.py` then selects `python.py`.
"""

from __future__ import annotations

from ctypes import c_int64, c_void_p

import numpy as np
from numpy.typing import NDArray

from webstrata.compiled import load_library

_VERSION = 3
"""The version of the functions below; kernel.h has the same number."""


_library = load_library("predict", _VERSION)

_forecast = _library.forecast
_forecast.argtypes = [
    *(c_void_p, c_int64, c_int64),
    *(c_void_p, c_void_p, c_int64),
    *(c_void_p, c_int64, c_void_p, c_int64),
    *(c_void_p, c_int64, c_void_p),
]
_forecast.restype = c_int64
_irregular_rates = _library.irregular_rates
_irregular_rates.argtypes = [c_void_p, c_int64, *[c_void_p] * 4]
_irregular_rates.restype = None


# ── the functions of the kernel's interface (choice.py) ─────────────────────────────────────────────────────


def forecast(
    beliefs: NDArray[np.float32],
    rows: NDArray[np.int64] | None,
    at: NDArray[np.float64],
    parts: NDArray[np.float64],
    ages: NDArray[np.float64],
    tables: NDArray[np.float32],
) -> NDArray[np.float32]:
    """The products of each page's belief and the table of its age."""
    columns = np.empty((10, len(at)), dtype=np.float32)
    computed = _forecast(
        *(beliefs.ctypes.data, beliefs.strides[0], len(beliefs)),
        *(None if rows is None else rows.ctypes.data, at.ctypes.data, len(at)),
        *(parts.ctypes.data, len(parts), ages.ctypes.data, len(ages)),
        *(tables.ctypes.data, tables.shape[1], columns.ctypes.data),
    )
    if computed < len(at):
        raise IndexError(f"a row is outside the table of {len(beliefs)} beliefs.")
    return columns


def irregular_rates(
    offsets: NDArray[np.int64], lengths: NDArray[np.float64], changed: NDArray[np.bool_]
) -> NDArray[np.float64]:
    """The maximum-likelihood rate of each page."""
    pages = len(offsets) - 1
    room = np.empty(int(np.diff(offsets).max(initial=0)) + 1)
    rates = np.empty(pages)
    _irregular_rates(
        *(offsets.ctypes.data, pages, lengths.ctypes.data, changed.ctypes.data, room.ctypes.data),
        rates.ctypes.data,
    )
    return rates
