"""The shared libraries that the build compiles from C: where they are, and whether they were built.

The folders `observe/kernel` and `predict/kernel` hold C sources. A build with a C compiler puts `kernel.so` next to
them; a build without one leaves it out, and the Python functions in the same folders run instead.
"""

from __future__ import annotations

import ctypes
from pathlib import Path

from webstrata.errors import WebstrataError

STAGES = ("observe", "predict")
"""Folders of the package that have a kernel."""


def library_path(stage: str) -> Path:
    """The path of the compiled kernel of a folder; the file exists only if a compiler was present at the build."""
    return Path(__file__).parent / stage / "kernel" / "kernel.so"


def is_compiled(stage: str) -> bool:
    """Whether the compiled kernel of this folder is installed."""
    return library_path(stage).is_file()


def kernel_description() -> str:
    """Which kernels this installation runs, for `webstrata --version`."""
    if all(is_compiled(stage) for stage in STAGES):
        return "compiled kernels"
    return "Python kernels: slower; install a C compiler and reinstall"


def load_library(stage: str, version: int) -> ctypes.CDLL:
    """Load the compiled kernel of a folder; an error if its version is not the one that the callers expect."""
    path = library_path(stage)
    try:
        library = ctypes.CDLL(str(path))
        if library.kernel_version() == version:
            return library
        problem = f"{path} belongs to another version"
    except (OSError, AttributeError) as error:
        problem = str(error)
    raise WebstrataError(f"the compiled kernel cannot be loaded; install Webstrata again (make install): {problem}")
