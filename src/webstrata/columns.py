"""NumPy types for many pages at once, and the conversion of policy states to and from the store.

A policy's state is a structured array with one row per page. The store keeps each row as bytes, with its page.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

State: TypeAlias = NDArray[np.void]
"""Array of the policy's dtype, one row per page."""
Rows: TypeAlias = NDArray[np.intp]
"""Row numbers of a state array, each at most once."""
Days: TypeAlias = NDArray[np.float64]
Flags: TypeAlias = NDArray[np.bool_]
Column: TypeAlias = NDArray[np.floating[Any]]
"""One number per row; single precision where there may be millions of rows."""


def pack(state: State) -> list[bytes]:
    """Each row as bytes, for the store."""
    size = state.dtype.itemsize
    data = state.tobytes()
    return [data[start : start + size] for start in range(0, len(data), size)]


def unpack(packed: Sequence[bytes], fresh: State) -> State:
    """The stored rows as one array. Rows of another length are replaced by those of `fresh`.

    Only the length is checked: if a policy's columns change and their total size does not, the policy's name must.
    """
    size = fresh.dtype.itemsize
    is_valid = [len(row) == size for row in packed]
    state = fresh.copy()
    if any(is_valid):
        data = b"".join(row for row, valid in zip(packed, is_valid, strict=True) if valid)
        state[np.array(is_valid)] = np.frombuffer(data, dtype=fresh.dtype)
    return state


def columns(names: dict[str, Any]) -> np.dtype[np.void]:
    """A packed structured dtype from `{"name": type}`."""
    return np.dtype(list(names.items()))


RUN = np.dtype([("value", "<u8"), ("shape", "<u4"), ("words", "<u2"), ("part", "u1"), ("sentence", "?")])
"""One run of a page's text (16 bytes): `observe` computes runs, `detect` compares them.

`value` is a hash of the run's words; `shape` is a hash of the same words with numbers, dates and tokens masked;
`words` is the number of words; `part` is 0 for the title, 1 for the body, 2 for the header, 3 for the footer;
`sentence` is false for headings and menus.

A field of a data document is a run too, with part 4: `shape` is a hash of the field's name, `words` is the number of
its values, and `sentence` is true if all of them are times or tokens.
"""
LINK = np.dtype("<u8")
"""Hash of a link."""
LINK_PLACE = np.dtype([("value", "<u8"), ("shape", "<u4"), ("main", "?")])
"""A link with its place (13 bytes): `value` is its hash, as in `LINK`; `shape` is a hash of the same link with numbers,
tokens and long values of the query masked; `main` is true in the body part."""
