"""The runs of a text (rows of `columns.RUN`), read and given places: what stands where, so that versions can be laid
side by side without their text.

A *place* is known by the shapes of the two runs before it and its own. Clocks and counters keep their shape, so they
keep their place while their value goes on; whoever writes other words there makes another place. Places of data are
known by their names.
"""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from webstrata.columns import RUN

TITLE, BODY, HEADER, FOOTER, DATA = range(5)
MAIN = frozenset({TITLE, BODY})
EVERYWHERE = frozenset({TITLE, BODY, HEADER, FOOTER})
IN_DATA = frozenset({DATA})

_ODD = np.array([0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9], dtype=np.uint64)
"""Odd constants that spread shapes over 64 bits."""
_SIGNED = (1 << 63) - 1


class TextRuns(NamedTuple):
    """The runs of one version, in order."""

    values: list[int]
    shapes: list[int]
    words: list[int]
    parts: list[int]
    sentences: list[bool]
    places: list[int]
    by_place: dict[int, int]
    """Place -> value."""


def read_runs(packed: bytes) -> TextRuns:
    """The runs as observed or remembered; none for bytes that are no runs."""
    if len(packed) % RUN.itemsize:
        packed = b""
    rows = np.frombuffer(packed, dtype=RUN)
    values: list[int] = rows["value"].tolist()
    places = _places(rows["shape"].astype(np.uint64), rows["part"])
    return TextRuns(
        values=values,
        shapes=rows["shape"].tolist(),
        words=rows["words"].tolist(),
        parts=rows["part"].tolist(),
        sentences=rows["sentence"].tolist(),
        places=places,
        by_place=dict(zip(places, values, strict=True)),
    )


def _places(shapes: NDArray[np.uint64], parts: NDArray[np.uint8]) -> list[int]:
    """A number for each run's place; equal neighbourhoods are numbered through."""
    before = _shifted(shapes, parts, 1)
    mixed = (shapes * _ODD[0]) ^ (before * _ODD[1]) ^ (_shifted(shapes, parts, 2) * _ODD[2]) ^ parts
    mixed = np.where(parts == DATA, shapes * _ODD[0], mixed)  # places of data have names of their own
    seen: Counter[int] = Counter()
    places = []
    for place in mixed.tolist():
        places.append((place + seen[place] * 0x9E3779B1) & _SIGNED)
        seen[place] += 1
    return places


def _shifted(shapes: NDArray[np.uint64], parts: NDArray[np.uint8], by: int) -> NDArray[np.uint64]:
    """The shape of the run `by` places before in the same part; 0 at its start."""
    shifted = np.zeros_like(shapes)
    if len(shapes) > by:
        shifted[by:] = np.where(parts[by:] == parts[:-by], shapes[:-by], 0)
    return shifted


def share_changed(before: TextRuns, after: TextRuns, parts: frozenset[int]) -> tuple[float, int]:
    """(Share of the words that stand in runs which only one side has; the words of the longest such stretch)."""
    old = Counter(value for value, part in zip(before.values, before.parts, strict=True) if part in parts)
    new = Counter(value for value, part in zip(after.values, after.parts, strict=True) if part in parts)
    gone, _ = _lonely(before, old - new, parts)
    come, longest = _lonely(after, new - old, parts)
    total = sum(
        words for side in (before, after) for words, part in zip(side.words, side.parts, strict=True) if part in parts
    )
    return ((gone + come) / total if total else 0.0), longest


def _lonely(side: TextRuns, only: Counter[int], parts: frozenset[int]) -> tuple[int, int]:
    """Words of the runs in `only`, and of the longest unbroken stretch of them."""
    total = stretch = longest = 0
    for value, words, part in zip(side.values, side.words, side.parts, strict=True):
        if part in parts and only[value] > 0:
            only[value] -= 1
            total += words
            stretch += words
            longest = max(longest, stretch)
        else:
            stretch = 0
    return total, longest
