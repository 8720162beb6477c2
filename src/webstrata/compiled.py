"""Loads the compiled part of a folder."""

from __future__ import annotations

import ctypes

from webstrata.errors import WebstrataError


def load_kernel(module: str, version: int) -> ctypes.CDLL:
    """The library that stands beside the file of a module, if it has the version that the module knows how to call."""
    path = module.rpartition("library.")[0] + "kernel.so"
    try:
        library = ctypes.CDLL(path)
        if library.kernel_version() == version:
            return library
        problem = f"{path} belongs to another version"
    except (OSError, AttributeError) as missing:
        problem = str(missing)
    raise WebstrataError(f"the compiled part of Webstrata is missing; install it again (make install): {problem}")
