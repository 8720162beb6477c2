"""Which lines of two texts are the same, in time that hostile texts cannot stretch.

Patience diff: lines that occur once on both sides anchor the rest, found in n log n. Stretches without such anchors
are matched by difflib while they are small. Where the work allowed is used up, what is left counts as replaced.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from typing import NamedTuple

_WORK = 8_000_000
"""Comparisons allowed in all: lines looked at for anchors, and the product of both sides for difflib."""
_LARGEST_PRODUCT = 160_000
"""Product of both sides up to which difflib, which can be quadratic, may have a stretch."""


class MatchingLines(NamedTuple):
    """Lines `before:before + length` of one text are lines `after:after + length` of the other."""

    before: int
    after: int
    length: int


class _Stretch(NamedTuple):
    i: int
    i_end: int
    j: int
    j_end: int


def matching_lines(before: Sequence[str], after: Sequence[str]) -> list[MatchingLines]:
    """Equal runs in order, as long as they can be, without overlap."""
    runs: list[MatchingLines] = []
    waiting = [_Stretch(0, len(before), 0, len(after))]
    work = _WORK
    while waiting:
        stretch, equal = _trimmed(before, after, waiting.pop())
        runs += equal
        old, new = stretch.i_end - stretch.i, stretch.j_end - stretch.j
        work -= old + new
        if not old or not new or work < 0:
            continue
        anchors = _anchors(before, after, stretch)
        if anchors:
            waiting += _between(stretch, anchors)
        elif old * new <= min(_LARGEST_PRODUCT, work):
            work -= old * new
            runs += _by_difflib(before, after, stretch)
    return list(_merged(sorted(run for run in runs if run.length)))


def _trimmed(before: Sequence[str], after: Sequence[str], whole: _Stretch) -> tuple[_Stretch, list[MatchingLines]]:
    """The stretch without the equal lines at its start and end, and those."""
    i, i_end, j, j_end = whole
    while i < i_end and j < j_end and before[i] == after[j]:
        i, j = i + 1, j + 1
    while i < i_end and j < j_end and before[i_end - 1] == after[j_end - 1]:
        i_end, j_end = i_end - 1, j_end - 1
    edges = [MatchingLines(whole.i, whole.j, i - whole.i), MatchingLines(i_end, j_end, whole.i_end - i_end)]
    return _Stretch(i, i_end, j, j_end), edges


def _anchors(before: Sequence[str], after: Sequence[str], stretch: _Stretch) -> list[tuple[int, int]]:
    """Lines that are unique on both sides, as many as keep their order (longest increasing subsequence)."""
    once_after = _unique(after, stretch.j, stretch.j_end)
    once_before = _unique(before, stretch.i, stretch.i_end)
    pairs = [(i, once_after[line]) for line, i in once_before.items() if line in once_after]
    tails: list[int] = []
    tail_pairs: list[int] = []
    previous: list[int] = []
    for index, (_, j) in enumerate(pairs):
        pile = bisect_left(tails, j)
        previous.append(tail_pairs[pile - 1] if pile else -1)
        if pile == len(tails):
            tails.append(j)
            tail_pairs.append(index)
        else:
            tails[pile], tail_pairs[pile] = j, index
    chain: list[tuple[int, int]] = []
    index = tail_pairs[-1] if tail_pairs else -1
    while index >= 0:
        chain.append(pairs[index])
        index = previous[index]
    return chain[::-1]


def _unique(lines: Sequence[str], start: int, end: int) -> dict[str, int]:
    """Lines that occur once in the stretch, in order, with their places."""
    counts = Counter(lines[start:end])
    return {lines[place]: place for place in range(start, end) if counts[lines[place]] == 1}


def _between(stretch: _Stretch, anchors: list[tuple[int, int]]) -> Iterator[_Stretch]:
    """The parts of a stretch that begin at one anchor and end before the next; an anchor is matched by trimming."""
    i, j = stretch.i, stretch.j
    for anchor_i, anchor_j in anchors:
        yield _Stretch(i, anchor_i, j, anchor_j)
        i, j = anchor_i, anchor_j
    yield _Stretch(i, stretch.i_end, j, stretch.j_end)


def _by_difflib(before: Sequence[str], after: Sequence[str], stretch: _Stretch) -> Iterator[MatchingLines]:
    i, i_end, j, j_end = stretch
    for block in SequenceMatcher(None, before[i:i_end], after[j:j_end], autojunk=False).get_matching_blocks():
        yield MatchingLines(i + block.a, j + block.b, block.size)


def _merged(runs: list[MatchingLines]) -> Iterator[MatchingLines]:
    """Neighbours as one."""
    current: MatchingLines | None = None
    for run in runs:
        if current and (current.before + current.length, current.after + current.length) == (run.before, run.after):
            current = MatchingLines(current.before, current.after, current.length + run.length)
        else:
            if current:
                yield current
            current = run
    if current:
        yield current
