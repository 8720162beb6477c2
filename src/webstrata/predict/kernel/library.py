"""Loads the kernel and says how its functions are called."""

from __future__ import annotations

import ctypes
from ctypes import c_int64, c_void_p

from webstrata.errors import WebstrataError

_VERSION = 1
"""Of the functions below; kernel.h has the same."""


def _load() -> ctypes.CDLL:
    path = __file__.rpartition("library.")[0] + "kernel.so"
    try:
        library = ctypes.CDLL(path)
        if library.predict_kernel_version() == _VERSION:
            return library
        problem = f"{path} belongs to another version"
    except (OSError, AttributeError) as missing:
        problem = str(missing)
    raise WebstrataError(f"the compiled part of Webstrata is missing; install it again (make install): {problem}")


_library = _load()

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
