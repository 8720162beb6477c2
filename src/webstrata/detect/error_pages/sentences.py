"""`sentences_of`: the sentences of error pages in a text.

A pattern is tried only if the text has its cue, a word of it, so that texts without such words cost one look-up for
each word.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator

from webstrata.detect.error_pages.sentence_patterns import SPACED, UNSPACED, ErrorSentence


def _by_cue() -> dict[str, list[ErrorSentence]]:
    found: dict[str, list[ErrorSentence]] = defaultdict(list)
    for one in SPACED:
        found[one.cue].append(one)
    return dict(found)


_BY_CUE = _by_cue()
_WORD = re.compile(r"[^\W]+")


def sentences_of(text: str) -> Iterator[ErrorSentence]:
    """The sentences of error pages that a text of bounded length contains, each pattern once."""
    cues = sorted(_BY_CUE.keys() & set(_WORD.findall(text.lower())))
    candidates = [one for cue in cues for one in _BY_CUE[cue]]
    if not text.isascii():
        candidates += [one for one in UNSPACED if one.cue in text]
    found: set[str] = set()
    for one in candidates:
        if one.pattern.pattern not in found and one.pattern.search(text):
            found.add(one.pattern.pattern)
            yield one
