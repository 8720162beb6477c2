"""An excerpt of a difference: only the lines and words that differ, for lists of many changes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Literal, NamedTuple

from msgspec.structs import replace

from webstrata.detect.diff.difference import Difference
from webstrata.detect.diff.lines import ShownLine, excerpt, merged_lines, signed_lines
from webstrata.detect.diff.text import WordRun

_MAX_LINE = 200
"""Characters of a line; a longer one is cut."""
_MAX_LINES = 1_000
"""Lines from which words are collected."""


class ChangedWords(NamedTuple):
    """The words of a change: one line of text for each line of the page in which some differ."""

    removed: str
    added: str


def changed_lines(difference: Difference, *, merged: bool) -> Iterator[ShownLine]:
    """The lines that differ, without the lines around them, each shortened to its changed words and some around them.

    `merged`: both versions of a changed line in one line.
    """
    lines = merged_lines(difference) if merged else signed_lines(difference)
    for line in lines:
        is_marked = any(run.sign != " " for run in line.runs)
        if line.sign in "-+" or is_marked:
            yield ShownLine(line.sign, list(_shortened(excerpt(line.runs) if is_marked else line.runs)))


def _shortened(runs: Iterable[WordRun]) -> Iterator[WordRun]:
    """The first characters of the runs."""
    left = _MAX_LINE
    for run in runs:
        if len(run.text) > left:
            yield WordRun(run.sign, f"{run.text[:left]}…")
            return
        left -= len(run.text)
        yield run


def changed_words(difference: Difference, max_chars: int) -> ChangedWords:
    """The removed and the added words, at most so many characters of each."""
    lines = list(islice(merged_lines(replace(difference, move=None)), _MAX_LINES))
    if (move := difference.move) is not None:  # an address is one word
        runs = [WordRun("-", move.before or ""), WordRun("+", move.after or "")]
        lines.insert(0, ShownLine(" ", runs))
    return ChangedWords(_words(lines, "-", max_chars), _words(lines, "+", max_chars))


def _words(lines: Iterable[ShownLine], sign: Literal["-", "+"], max_chars: int) -> str:
    found: list[str] = []
    left = max_chars
    for line in lines:
        words = " … ".join(" ".join(run.text.split()) for run in line.runs if run.sign == sign and run.text.strip())
        if not words:
            continue
        if len(words) > left:
            found.append(f"{words[:left]}…")
            break
        found.append(words)
        left -= len(words) + 1
        if left <= 0:
            found.append("…")
            break
    return "\n".join(found)
