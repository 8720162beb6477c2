"""The text runs of a version (rows of `columns.RUN`) and the place of each run, for comparing versions without text.

A run is a line of text or a value of data, stored as hashes. A *place* identifies a run across versions. For text it
is a hash of the run's shape; if several runs have this shape, also of the shapes of the two runs before it. Clocks and
counters keep their shape, so they keep their place while their value changes; a line with other words is another
place. For data a place is a hash of the field name.
"""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from webstrata.columns import RUN, Part

MAIN_PARTS: frozenset[int] = frozenset({Part.TITLE, Part.BODY, Part.SIDE})
ALL_TEXT_PARTS: frozenset[int] = MAIN_PARTS | {Part.HEADER, Part.FOOTER}
DATA_PARTS: frozenset[int] = frozenset({Part.DATA})

_MULTIPLIERS = np.array([0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9], dtype=np.uint64)
"""Odd constants that spread shapes over 64 bits."""
_MAX_INT64 = (1 << 63) - 1


class TextRuns(NamedTuple):
    """The runs of one version, in order."""

    values: list[int]
    shapes: list[int]
    words: list[int]
    """Number of words in each run."""
    parts: list[int]
    flags: list[int]
    """`RunFlag`s."""
    sketches: list[int]
    """64 bits, of which each word inverts one."""
    bags: list[int]
    """A hash of the words in any order; 0 where the order matters."""
    figures: list[float]
    """The only number in a run; NaN if there is none, or more than one."""
    places: list[int]


def parse_runs(packed: bytes) -> TextRuns:
    """Unpack the runs of an observation or of a page's memory; no runs if the length is not valid."""
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
        flags=rows["flags"].tolist(),
        sketches=rows["sketch"].tolist(),
        bags=rows["bag"].tolist(),
        figures=rows["figure"].tolist(),
        places=places,
    )


def _places(shapes: NDArray[np.uint64], parts: NDArray[np.uint8]) -> list[int]:
    """The place of each run; runs with equal neighbourhoods are numbered, so that each place is unique."""
    before = _shifted(shapes, parts, 1)
    mixed = (
        (shapes * _MULTIPLIERS[0]) ^ (before * _MULTIPLIERS[1]) ^ (_shifted(shapes, parts, 2) * _MULTIPLIERS[2]) ^ parts
    )
    by_shape = (shapes * _MULTIPLIERS[0]) ^ parts
    _, index, counts = np.unique(by_shape, return_inverse=True, return_counts=True)
    mixed = np.where(counts[index] == 1, by_shape, mixed)  # what stands before it may change
    # The shape of data and of attributes is the hash of their name.
    mixed = np.where(parts == Part.DATA, shapes * _MULTIPLIERS[0], mixed)
    mixed = np.where(parts >= Part.DESCRIPTION, by_shape, mixed)
    seen: Counter[int] = Counter()
    places = []
    for place in mixed.tolist():
        places.append((place + seen[place] * 0x9E3779B1) & _MAX_INT64)
        seen[place] += 1
    return places


def _shifted(shapes: NDArray[np.uint64], parts: NDArray[np.uint8], by: int) -> NDArray[np.uint64]:
    """For each run, the shape of the run `by` positions earlier in the same part; 0 if there is none."""
    shifted = np.zeros_like(shapes)
    if len(shapes) > by:
        shifted[by:] = np.where(parts[by:] == parts[:-by], shapes[:-by], 0)
    return shifted
