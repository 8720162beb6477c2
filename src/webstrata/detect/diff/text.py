"""The difference of two texts by words: for one changed line, or for whole short texts.

The difference of two texts, for people, in unified lines. Of other bytes, that they differ.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

from webstrata.detect.diff.matching import MatchingLines, matching_lines

_TOKEN = re.compile(r"\s+|\w+|[^\w\s]")
_MOST_TOKENS = 20_000


class WordRun(NamedTuple):
    """Neighbouring words that are equal, gone or come."""

    sign: Literal[" ", "-", "+"]
    text: str


def word_diff(before: str, after: str) -> list[WordRun]:
    """Runs of words in order; texts too long to be split count as replaced as a whole."""
    old, new = _TOKEN.findall(before), _TOKEN.findall(after)
    if len(old) > _MOST_TOKENS or len(new) > _MOST_TOKENS:
        return [WordRun("-", before), WordRun("+", after)] if before != after else [WordRun(" ", before)]
    found: list[WordRun] = []
    i = j = 0
    for run in [*matching_lines(old, new), MatchingLines(len(old), len(new), 0)]:
        for sign, words in (("-", old[i : run.before]), ("+", new[j : run.after])):
            if words:
                found.append(WordRun(sign, "".join(words)))  # type: ignore[arg-type]
        if run.length:
            found.append(WordRun(" ", "".join(old[run.before : run.before + run.length])))
        i, j = run.before + run.length, run.after + run.length
    return found


CONTEXT = 3
_MOST_LINES = 200_000
_LONGEST_LINE = 20_000

Sign = Literal[" ", "-", "+", "@"]


class DiffLine(NamedTuple):
    """One line of a difference: equal, gone, come, or (`@`) where a hunk begins."""

    sign: Sign
    text: str


def diff_lines(before: str, after: str, *, context: int = CONTEXT) -> list[DiffLine]:
    """The hunks of the difference, with lines around; empty if the texts have the same lines."""
    old, new = _lines(before), _lines(after)
    return [line for hunk in _hunks(old, new, context) for line in hunk]


def unified(
    before: str, after: str, *, before_name: str = "before", after_name: str = "after", context: int = CONTEXT
) -> str:
    """Unified diff as `diff -u` writes it; empty if there is no difference."""
    lines = diff_lines(before, after, context=context)
    if not lines:
        return ""
    shown = (line.text if line.sign == "@" else line.sign + line.text for line in lines)
    return "\n".join([f"--- {before_name}", f"+++ {after_name}", *shown]) + "\n"


def unified_bytes(before: bytes, after: bytes, *, before_name: str = "before", after_name: str = "after") -> str:
    """Unified diff of two bodies as they are; of what is no text, one line that says how they differ."""
    if before == after:
        return ""
    if _is_binary(before) or _is_binary(after):
        old, new = (f"{len(body)} bytes, SHA-256 {hashlib.sha256(body).hexdigest()}" for body in (before, after))
        return f"--- {before_name}\n+++ {after_name}\nBinary contents differ: {old} -> {new}\n"
    old, new = (body.decode("utf-8", "backslashreplace") for body in (before, after))
    shown = unified(old, new, before_name=before_name, after_name=after_name)
    return shown or f"--- {before_name}\n+++ {after_name}\nOnly line endings differ.\n"


def _is_binary(body: bytes) -> bool:
    return b"\0" in body[:8000]


def _lines(text: str) -> list[str]:
    """Lines by the line feed only, limited in number and length."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n", _MOST_LINES)
    if lines[-1] == "":
        lines.pop()
    return [line if len(line) <= _LONGEST_LINE else line[:_LONGEST_LINE] + "…" for line in lines]


class _Edit(NamedTuple):
    """Lines `i:i_end` became lines `j:j_end`."""

    i: int
    i_end: int
    j: int
    j_end: int


def _edits(runs: list[MatchingLines], old_length: int, new_length: int) -> Iterator[_Edit]:
    """What lies between equal runs."""
    i = j = 0
    for run in [*runs, MatchingLines(old_length, new_length, 0)]:
        if run.before > i or run.after > j:
            yield _Edit(i, run.before, j, run.after)
        i, j = run.before + run.length, run.after + run.length


def _hunks(old: Sequence[str], new: Sequence[str], context: int) -> Iterator[list[DiffLine]]:
    group: list[_Edit] = []
    for edit in _edits(matching_lines(old, new), len(old), len(new)):
        if group and edit.i - group[-1].i_end > 2 * context:
            yield _hunk(old, new, group, context)
            group = []
        group.append(edit)
    if group:
        yield _hunk(old, new, group, context)


def _hunk(old: Sequence[str], new: Sequence[str], edits: list[_Edit], context: int) -> list[DiffLine]:
    first, last = edits[0], edits[-1]
    start = max(0, first.i - context)
    new_start = first.j - (first.i - start)
    end = min(len(old), last.i_end + context)
    new_end = last.j_end + (end - last.i_end)
    head = f"@@ -{_range(start, end)} +{_range(new_start, new_end)} @@"
    lines = [DiffLine("@", head)]
    place = start
    for edit in edits:
        lines += (DiffLine(" ", text) for text in old[place : edit.i])
        lines += (DiffLine("-", text) for text in old[edit.i : edit.i_end])
        lines += (DiffLine("+", text) for text in new[edit.j : edit.j_end])
        place = edit.i_end
    lines += (DiffLine(" ", text) for text in old[place:end])
    return lines


def _range(start: int, end: int) -> str:
    """As `diff -u` counts: from 1; the line before where the range is empty."""
    length = end - start
    if length == 1:
        return str(start + 1)
    return f"{start + 1 if length else start},{length}"
