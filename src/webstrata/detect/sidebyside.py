"""Two texts beside each other, line against line."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import zip_longest
from typing import NamedTuple

from webstrata.detect.textdiff import DiffLine, diff_lines


class LinePair(NamedTuple):
    """A line of each side; none where the other side has one more. `differs`: they are not the same line."""

    before: str | None
    after: str | None
    differs: bool
    heading: bool = False
    """Not a line of the texts: where a stretch begins."""


def side_by_side(before: str, after: str) -> list[LinePair]:
    """The changed stretches with some lines around, as pairs: removed lines against those that took their place."""
    return list(_pairs(diff_lines(before, after)))


def _pairs(lines: Sequence[DiffLine]) -> Iterator[LinePair]:
    gone: list[str] = []
    come: list[str] = []
    for line in lines:
        if line.sign == "-":
            gone.append(line.text)
        elif line.sign == "+":
            come.append(line.text)
        else:
            yield from _replaced(gone, come)
            gone, come = [], []
            yield LinePair(line.text, line.text, differs=False, heading=line.sign == "@")
    yield from _replaced(gone, come)


def _replaced(gone: list[str], come: list[str]) -> Iterator[LinePair]:
    for old, new in zip_longest(gone, come):
        yield LinePair(old, new, differs=True)
