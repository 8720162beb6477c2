"""The difference of two texts: by lines, as a unified diff, and by words, for single changed lines."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

from webstrata.detect.diff.matching import MatchingLines, Section, matching_lines

# A number with its separators is one word, so that 99 and 4.99 differ as a whole. Chinese and Japanese are written
# without spaces: each character counts as a word.
_UNSPACED = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_TOKEN = re.compile(rf"\s+|\d+(?:[.,:]\d+)+|[{_UNSPACED}]|[^\W{_UNSPACED}]+|[^\w\s]")
_MAX_TOKENS = 20_000
_MAX_WORD_WORK = 200_000
"""Work limit of matching the words of two lines."""


class WordRun(NamedTuple):
    """Adjacent words that are equal (` `), removed (`-`) or added (`+`)."""

    sign: Literal[" ", "-", "+"]
    text: str


def word_diff(before: str, after: str) -> list[WordRun]:
    """The words of both texts in order. Texts with too many words count as replaced as a whole."""
    old, new = _TOKEN.findall(before), _TOKEN.findall(after)
    if len(old) > _MAX_TOKENS or len(new) > _MAX_TOKENS:
        return [WordRun("-", before), WordRun("+", after)] if before != after else [WordRun(" ", before)]
    matches = [run for run in matching_lines(old, new, max_work=_MAX_WORD_WORK) if _has_word(run, old, new)]
    words_in_order: list[WordRun] = []
    i = j = 0
    for run in [*matches, MatchingLines(len(old), len(new), 0)]:
        for sign, words in (("-", old[i : run.before]), ("+", new[j : run.after])):
            if words:
                words_in_order.append(WordRun(sign, "".join(words)))  # type: ignore[arg-type]
        if run.length:
            words_in_order.append(WordRun(" ", "".join(old[run.before : run.before + run.length])))
        i, j = run.before + run.length, run.after + run.length
    return words_in_order


def _has_word(run: MatchingLines, old: Sequence[str], new: Sequence[str]) -> bool:
    """Whether equal tokens are more than the space between two changed words, which then differ together."""
    if run.before == run.after == 0 or (run.before + run.length, run.after + run.length) == (len(old), len(new)):
        return True
    return any(not token.isspace() for token in old[run.before : run.before + run.length])


def tokens(line: str) -> Iterator[str]:
    """The words, spaces and punctuation marks of a line."""
    return (match[0] for match in _TOKEN.finditer(line))


CONTEXT = 3
_MAX_LINES = 200_000
_MAX_LINE_CHARS = 20_000
_LONG_LINE_CHARS = 2_000
_PIECE_END = re.compile(r"(?<=>)(?=<)|(?<=[{};])(?=\S)|(?<=[.!?] )|(?<=,)(?=[\"\[{])")

Sign = Literal[" ", "-", "+", "@"]


class DiffLine(NamedTuple):
    """A line of a difference: equal (` `), removed (`-`), added (`+`), or the heading of a hunk (`@`)."""

    sign: Sign
    text: str


def diff_lines(before: str, after: str) -> list[DiffLine]:
    """The hunks of the difference with `CONTEXT` lines around each; empty if the texts have the same lines."""
    return [line for hunk in _hunks(_lines(before), _lines(after)) for line in hunk]


def unified(lines: Sequence[DiffLine], *, before_name: str = "before", after_name: str = "after") -> str:
    """These lines as a unified diff in the format of `diff -u`; empty if there are none."""
    if not lines:
        return ""
    shown = (line.text if line.sign == "@" else line.sign + line.text for line in lines)
    return "\n".join([f"--- {before_name}", f"+++ {after_name}", *shown]) + "\n"


def _lines(text: str) -> list[str]:
    """Split at CR LF, CR or LF, and long lines also inside; the number of lines and their length are limited."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n", _MAX_LINES)
    if lines[-1] == "":
        lines.pop()
    if any(len(line) > _LONG_LINE_CHARS for line in lines):
        lines = [piece for line in lines for piece in _pieces(line)]
        if len(lines) > _MAX_LINES:
            lines[_MAX_LINES:] = ["".join(lines[_MAX_LINES:])]
    return [line if len(line) <= _MAX_LINE_CHARS else _shortened(line) for line in lines]


def _pieces(line: str) -> list[str]:
    """A long line in pieces that end where its markup, code or sentences do, so that most pieces are equal."""
    return _PIECE_END.split(line) if len(line) > _LONG_LINE_CHARS else [line]


def _shortened(line: str) -> str:
    """The beginning of a line; a hash of the rest, so that lines that differ only there are still different."""
    rest = line[_MAX_LINE_CHARS:].encode("utf-8", "replace")
    return f"{line[:_MAX_LINE_CHARS]}… ({len(rest)} more bytes, SHA-256 {hashlib.sha256(rest).hexdigest()[:12]})"


def _edits(matches: list[MatchingLines], old_length: int, new_length: int) -> Iterator[Section]:
    """The edits between matching lines: lines `i:i_end` became lines `j:j_end`."""
    i = j = 0
    for run in [*matches, MatchingLines(old_length, new_length, 0)]:
        if run.before > i or run.after > j:
            yield Section(i, run.before, j, run.after)
        i, j = run.before + run.length, run.after + run.length


def _hunks(old: Sequence[str], new: Sequence[str]) -> Iterator[list[DiffLine]]:
    group: list[Section] = []
    for edit in _edits(matching_lines(old, new), len(old), len(new)):
        if group and edit.i - group[-1].i_end > 2 * CONTEXT:
            yield _hunk(old, new, group)
            group = []
        group.append(edit)
    if group:
        yield _hunk(old, new, group)


def _hunk(old: Sequence[str], new: Sequence[str], edits: list[Section]) -> list[DiffLine]:
    first, last = edits[0], edits[-1]
    start = max(0, first.i - CONTEXT)
    new_start = first.j - (first.i - start)
    end = min(len(old), last.i_end + CONTEXT)
    new_end = last.j_end + (end - last.i_end)
    lines = [_heading(start, end, new_start, new_end)]
    position = start
    for edit in edits:
        lines += (DiffLine(" ", text) for text in old[position : edit.i])
        lines += (DiffLine("-", text) for text in old[edit.i : edit.i_end])
        lines += (DiffLine("+", text) for text in new[edit.j : edit.j_end])
        position = edit.i_end
    lines += (DiffLine(" ", text) for text in old[position:end])
    return lines


def _heading(start: int, end: int, new_start: int, new_end: int) -> DiffLine:
    return DiffLine("@", f"@@ -{_range(start, end)} +{_range(new_start, new_end)} @@")


def hunk_heading(old_first: int, old_count: int, new_first: int, new_count: int) -> DiffLine:
    """The heading of a hunk with these numbers of lines of both texts; their first lines are counted from 1."""
    old, new = max(0, old_first - 1), max(0, new_first - 1)
    return _heading(old, old + old_count, new, new + new_count)


def _range(start: int, end: int) -> str:
    """A range in the format of `diff -u`: counted from 1; an empty range is given by the line before it."""
    length = end - start
    if length == 1:
        return str(start + 1)
    return f"{start + 1 if length else start},{length}"
