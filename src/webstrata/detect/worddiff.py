"""The difference of two texts by words: for one changed line, or for whole short texts."""

from __future__ import annotations

import re
from typing import Literal, NamedTuple

from webstrata.detect.matching import MatchingLines, matching_runs

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
    for run in [*matching_runs(old, new), MatchingLines(len(old), len(new), 0)]:
        for sign, words in (("-", old[i : run.before]), ("+", new[j : run.after])):
            if words:
                found.append(WordRun(sign, "".join(words)))  # type: ignore[arg-type]
        if run.length:
            found.append(WordRun(" ", "".join(old[run.before : run.before + run.length])))
        i, j = run.before + run.length, run.after + run.length
    return found
