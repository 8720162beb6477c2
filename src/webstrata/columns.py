"""Many pages at once: the NumPy columns that policies work on, and their way into and out of the store.

A policy's state is a structured array with one row per page. In the store each page carries its own row as bytes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

State: TypeAlias = NDArray[np.void]
"""One row per page; the policy's dtype."""
Rows: TypeAlias = NDArray[np.intp]
"""Positions in a state array, each at most once."""
Days: TypeAlias = NDArray[np.float64]
Flags: TypeAlias = NDArray[np.bool_]
Column: TypeAlias = NDArray[np.floating[Any]]
"""One number for each row; single precision where there may be millions."""


def pack(state: State) -> list[bytes]:
    """Every row as the bytes that its page keeps."""
    size = state.dtype.itemsize
    data = state.tobytes()
    return [data[start : start + size] for start in range(0, len(data), size)]


def unpack(packed: Sequence[bytes], fresh: State) -> State:
    """The rows that pages kept, as one array; `fresh` gives the row of a page that kept none that fits.

    A row fits by its length: who changes a policy's columns without changing their size must change its name too.
    """
    size = fresh.dtype.itemsize
    kept = [len(row) == size for row in packed]
    state = fresh.copy()
    if any(kept):
        data = b"".join(row for row, fits in zip(packed, kept, strict=True) if fits)
        state[np.array(kept)] = np.frombuffer(data, dtype=fresh.dtype)
    return state


def columns(names: dict[str, Any]) -> np.dtype[np.void]:
    """A packed structured dtype from `{"name": type}`."""
    return np.dtype(list(names.items()))


RUN = np.dtype([("value", "<u8"), ("shape", "<u4"), ("words", "<u2"), ("part", "u1"), ("sentence", "?")])
"""One run of a page's text, as `observe` hashes it and `detect` compares it: 16 bytes.

`value` is a hash of the run's words; `shape` of the same words with numbers, dates and tokens masked; `part` is 0 for
the title, 1 for the body, 2 for the header, 3 for the footer; `sentence` tells what is neither a heading nor a menu.
A place of data is a run too: part 4, its `shape` is that of the place's name, `words` the number of values that stand
there, and `sentence` tells that all of them are times or tokens.
"""
LINK = np.dtype("<u8")
"""Hash of one link."""
