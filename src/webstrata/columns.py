"""NumPy types for many pages at once, and the conversion of policy states to and from the store.

A policy's state is a structured array with one row per page. The store keeps each row as bytes, with its page.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum, IntFlag
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


class Part(IntEnum):
    """Where a run belongs. The numbers are stored."""

    TITLE = 0
    BODY = 1
    HEADER = 2
    FOOTER = 3
    DATA = 4
    """A field of a data document."""
    SIDE = 5
    """Text of the main content that is not in the body: comments, boxes beside an article."""
    MAIN_LINK = 6
    """A link in the main content."""
    OTHER_LINK = 7
    """A link outside the main content."""
    DESCRIPTION = 8
    """From here on: what a page states outside its text, one part for each kind of attribute."""
    CANONICAL = 9
    ROBOTS = 10
    IMAGE = 11
    LABEL = 12
    FORM = 13
    STRUCTURED = 14
    PRODUCT = 15


ATTRIBUTE_PARTS = {
    "description": Part.DESCRIPTION,
    "canonical": Part.CANONICAL,
    "robots": Part.ROBOTS,
    "image": Part.IMAGE,
    "label": Part.LABEL,
    "form": Part.FORM,
    "structured": Part.STRUCTURED,
    "product": Part.PRODUCT,
}
"""Kinds of attributes, as rules name them, and the part of their runs. (The title is a part of the main content.)"""


class RunFlag(IntFlag):
    """What is known of a run besides its hashes. The numbers are stored."""

    SENTENCE = 1
    """A whole sentence, not a heading or a menu entry."""
    TIMES = 2
    """All of its figures are dates, times or tokens; of a field of data: all of its values."""
    WATCHED = 4
    """It has a figure that people watch (a price, a stock, a score), or says whether something can be had: it is never
    learned as noise by itself."""
    TRIVIAL = 8
    """All of its figures are ages ("3 hours ago"), view counts or load times, which nobody watches."""
    BLOCK = 16
    """Several runs at the end of a long page, stored as one."""
    STAMP = 32
    """It only says when or from what the page was made: its dates, numbers and tokens do not count."""


RUN = np.dtype(
    [
        ("value", "<u8"),
        ("sketch", "<u8"),
        ("shape", "<u4"),
        ("figure", "<f4"),
        ("bag", "<u4"),
        ("words", "<u2"),
        ("part", "u1"),
        ("flags", "u1"),
    ]
)
"""One run of a page (32 bytes): `observe` computes runs, `detect` compares them.

`value` is a hash of the run's words; `sketch` has one bit inverted for each word, so that the sketches of two runs
differ in about as many bits as the runs have other words; `shape` is a hash of the same words with numbers, dates and
tokens masked; `figure` is the number in the run if there is exactly one, else NaN; `bag` is a hash of the words in any
order, 0 for sentences, single words and runs with figures; `words` is the number of words; `part` is a `Part`; `flags`
are `RunFlag`s.

A link is a run whose value is a hash of its address. A field of a data document is a run too: `shape` is a hash of the
field's name and `words` is the number of its values. The same holds for attributes.
"""
LINK = np.dtype("<u8")
"""Hash of a link."""
LINK_PLACE = np.dtype([("value", "<u8"), ("shape", "<u4"), ("main", "?"), ("stamp", "?")])
"""A link with its place (14 bytes): `value` is its hash, as in `LINK`; `shape` is a hash of the same link with numbers,
tokens and long values of the query masked; `main` is true in the body part; `stamp` is true if the address has a token
or the version of a file."""


class LinkKind(IntEnum):
    """Where a link leads. The numbers are stored."""

    INTERNAL = 0
    """To a page of the same host, with or without `www.`."""
    EXTERNAL = 1
    DOCUMENT = 2
    """To a file of another media type, on any host."""


COPY_LINK = np.dtype([("value", "<u8"), ("kind", "u1")])
"""A link of one content: `value` is its hash, as in `LINK`; `kind` is a `LinkKind`."""
SEEN_LINK = np.dtype([("value", "<u8"), ("kind", "u1"), ("first_at", "<f8")])
"""A link that was seen on a page, and the time of the first content that has it."""
