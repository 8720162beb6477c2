"""Loads the kernel and says how its functions are called."""

from __future__ import annotations

from ctypes import c_int64, c_void_p

from webstrata.compiled import load_kernel

_VERSION = 1
"""Of the functions below; kernel.h has the same."""


_library = load_kernel(__file__, _VERSION)

outlook = _library.outlook
outlook.argtypes = [
    *(c_void_p, c_int64, c_int64),
    *(c_void_p, c_void_p, c_int64),
    *(c_void_p, c_int64, c_int64),
    c_void_p,
]
outlook.restype = c_int64
irregular_rates = _library.irregular_rates
irregular_rates.argtypes = [c_void_p, c_int64, *[c_void_p] * 4]
irregular_rates.restype = None
