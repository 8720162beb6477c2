"""Matching of equal lines of two texts, with a limit on the work, so that hostile texts are compared in bounded time.

Patience diff: lines that are unique in both texts are anchors, found in O(n log n). Sections without anchors are
matched by difflib if they are small. When the work limit is reached, the remaining lines count as replaced.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from typing import NamedTuple

_MAX_WORK = 8_000_000
"""Maximum work: lines searched for anchors, plus the product of both lengths for each call of difflib."""
_MAX_PRODUCT = 160_000
"""Maximum product of both lengths for difflib, which can take quadratic time."""


class MatchingLines(NamedTuple):
    """Lines `before:before + length` of one text equal lines `after:after + length` of the other."""

    before: int
    after: int
    length: int


class Section(NamedTuple):
    """Lines `i:i_end` of one text and lines `j:j_end` of the other."""

    i: int
    i_end: int
    j: int
    j_end: int


def matching_lines(before: Sequence[str], after: Sequence[str], *, max_work: int = _MAX_WORK) -> list[MatchingLines]:
    """Sequences of equal lines, in order, maximal and without overlap."""
    matches: list[MatchingLines] = []
    pending = [Section(0, len(before), 0, len(after))]
    work = max_work
    while pending:
        section, equal = _trimmed(before, after, pending.pop())
        matches += equal
        old, new = section.i_end - section.i, section.j_end - section.j
        work -= old + new
        if not old or not new or work < 0:
            continue
        anchors = _anchors(before, after, section)
        if anchors:
            pending += _between(section, anchors)
        elif old * new <= min(_MAX_PRODUCT, work):
            work -= old * new
            matches += _by_difflib(before, after, section)
    return list(_merged(sorted(match for match in matches if match.length)))


def _trimmed(before: Sequence[str], after: Sequence[str], whole: Section) -> tuple[Section, list[MatchingLines]]:
    """The section without the equal lines at its start and end, and these lines."""
    i, i_end, j, j_end = whole
    while i < i_end and j < j_end and before[i] == after[j]:
        i, j = i + 1, j + 1
    while i < i_end and j < j_end and before[i_end - 1] == after[j_end - 1]:
        i_end, j_end = i_end - 1, j_end - 1
    edges = [MatchingLines(whole.i, whole.j, i - whole.i), MatchingLines(i_end, j_end, whole.i_end - i_end)]
    return Section(i, i_end, j, j_end), edges


def _anchors(before: Sequence[str], after: Sequence[str], section: Section) -> list[tuple[int, int]]:
    """Positions of lines that are unique on both sides and in the same order (longest increasing subsequence)."""
    once_after = _unique(after, section.j, section.j_end)
    once_before = _unique(before, section.i, section.i_end)
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
    """Line -> position, for lines that occur once in the section."""
    counts = Counter(lines[start:end])
    return {lines[i]: i for i in range(start, end) if counts[lines[i]] == 1}


def _between(section: Section, anchors: list[tuple[int, int]]) -> Iterator[Section]:
    """The parts of a section from each anchor to the next. The anchor itself is then matched by trimming."""
    i, j = section.i, section.j
    for anchor_i, anchor_j in anchors:
        yield Section(i, anchor_i, j, anchor_j)
        i, j = anchor_i, anchor_j
    yield Section(i, section.i_end, j, section.j_end)


def _by_difflib(before: Sequence[str], after: Sequence[str], section: Section) -> Iterator[MatchingLines]:
    i, i_end, j, j_end = section
    for block in SequenceMatcher(None, before[i:i_end], after[j:j_end], autojunk=False).get_matching_blocks():
        yield MatchingLines(i + block.a, j + block.b, block.size)


def _merged(matches: list[MatchingLines]) -> Iterator[MatchingLines]:
    """The matches with adjacent ones merged."""
    current: MatchingLines | None = None
    for match in matches:
        if current and (current.before + current.length, current.after + current.length) == (match.before, match.after):
            current = MatchingLines(current.before, current.after, current.length + match.length)
        else:
            if current:
                yield current
            current = match
    if current:
        yield current
