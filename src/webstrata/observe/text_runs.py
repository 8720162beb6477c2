"""Text -> 64 bits that differ in few places where the texts differ in few words.

Every three words in a row are hashed: each word by a polynomial over its bytes, the three by two polynomials over their
hashes, mixed. One gives the upper half, the other the lower. A bit of the result is set if more than half of these
hashes have it set. All of it works on 32-bit integers, so that it is a few lines in any language.

Text in lines -> a short hash for each run of it, so that the next version can be compared run by run.

A run is a line, or a sentence of a long line. Beside the hash of its words stands that of its *shape*: the same words
with numbers, dates, times and tokens masked. Two runs with one shape and different words are a clock, a counter or a
token that went on; what has become of them is for `detect` to judge.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Sequence
from zlib import crc32

import numpy as np

from webstrata.columns import RUN
from webstrata.observe.data.fields import DataField
from webstrata.observe.kernel.choice import KERNEL


def simhash(text: bytes) -> int | None:
    """Of words in UTF-8, one space apart; None if there are none. A text of fewer than three words is one shingle."""
    return KERNEL.simhash(text) if text else None


def distance(one: int, other: int) -> int:
    """In how many of the 64 bits they differ."""
    return (one ^ other).bit_count()


TITLE, BODY, HEADER, FOOTER, DATA = range(5)
MAX_RUNS = {TITLE: 4, BODY: 400, HEADER: 80, FOOTER: 80}
"""Runs kept of each part; what follows them is hashed as one."""
_LONG_LINE = 240
"""Characters from which a line is cut into its sentences."""
_SHORT = 60
_EXCERPTS = 24
_EXCERPT_LENGTH = 100
_MOST_WORDS = 65_535
_SENTENCE_WORDS = 8
_STOPS = (".", "!", ".)", ".”", "。")

_SENTENCE_END = re.compile(r"(?<=[.!?;])\s+")
_TOKEN = re.compile(
    r"(?<![A-Za-z0-9])(?:[A-Za-z0-9+/_=-]{20,}|(?=[A-Za-z+/_=-]*[0-9])[A-Za-z0-9+/_=-]{7,})(?![A-Za-z0-9])"
)
_DATE_WORD = re.compile(
    r"\b(?:jan|feb|mar|apr|may|june?|july?|aug|sept?|oct|nov|dec|january|february|march|april|august|september|october"
    r"|november|december|mon|tues?|wed|thu|thurs|fri|sat|sun|(?:mon|tues|wednes|thurs|fri|satur|sun)day"
    r"|[ap]\.?m|just now|today|yesterday|an?(?= (?:second|minute|hour|day|week|month|year)s?\b)"
    r"|(?:second|minute|hour|day|week|month|year)s?(?= ago\b))\b",
    re.IGNORECASE,
)
_DIGIT = re.compile(r"[0-9]")
_CLOCK = re.compile(r"[DdNnGg](?:ay|ow|o\b)|ember|uary|[A-Za-z+/_=-]{20}")
"""In the words for days and months, in `now` and `ago`; or a token without a digit."""
_NUMBER = re.compile(r"[0-9][0-9.,:'\u2019/]*[0-9]|[0-9]")


Row = tuple[int, int, int, int, bool]


def runs_of(title: str, body: str, header: str = "", footer: str = "") -> bytes:
    """The runs of a page whose text, in lines, is given part by part; rows of `RUN`."""
    rows: list[Row] = []
    for part, text in ((TITLE, title), (BODY, body), (HEADER, header), (FOOTER, footer)):
        rows += _rows(part, text)
    return np.array(rows, dtype=RUN).tobytes()


def excerpts_of(texts: Iterable[str], previous: bytes) -> dict[int, str]:
    """Beginnings of the runs that the previous version (its `runs_of`) did not have, by their hash; a few of them."""
    if not previous:
        return {}
    known = set(np.frombuffer(previous, dtype=RUN)["value"].tolist()) if len(previous) % RUN.itemsize == 0 else set()
    found: dict[int, str] = {}
    for text in texts:
        for run in split_runs(text):
            value = hash64(run)
            if value not in known:
                found[value] = run if len(run) <= _EXCERPT_LENGTH else run[: _EXCERPT_LENGTH - 1] + "…"
                if len(found) == _EXCERPTS:
                    return found
    return found


def runs_of_data(places: Sequence[DataField]) -> bytes:
    """The places of data as runs."""
    rows = [
        (one.value, crc32(one.name.encode("utf-8", "replace")), min(one.size, _MOST_WORDS), DATA, one.stamps)
        for one in places
    ]
    return np.array(rows, dtype=RUN).tobytes()


def excerpts_of_data(places: Sequence[DataField], previous: bytes) -> dict[int, str]:
    """The same as `excerpts_of`: the places that say something else, each with its first value."""
    if not previous or len(previous) % RUN.itemsize:
        return {}
    known = set(np.frombuffer(previous, dtype=RUN)["value"].tolist())
    said = [(one.value, f"{one.name}: {one.example}") for one in places if one.value not in known]
    return {value: text[:_EXCERPT_LENGTH] for value, text in said[:_EXCERPTS]}


def split_runs(text: str) -> Iterator[str]:
    """Lines that say something; long ones sentence by sentence."""
    for line in text.split("\n"):
        if len(line) >= _LONG_LINE:
            yield from filter(None, _SENTENCE_END.split(line))
        elif line:
            yield line


def run_shape(run: str) -> str:
    """The run with all masked that clocks, counters and tokens change."""
    return run_shapes([run])[0]


def run_shapes(runs: Sequence[str]) -> list[str]:
    """The same for many. They are masked in one go, since no mask reaches over the end of a line."""
    # Masking is what takes the time: only where there is a digit, or a word that stands for one in a short run.
    masked = [i for i, run in enumerate(runs) if _DIGIT.search(run) or (len(run) <= _SHORT and _CLOCK.search(run))]
    shapes = list(runs)
    if masked:
        text = "\n".join([runs[i] for i in masked])
        text = _NUMBER.sub("0", _DATE_WORD.sub("@", _TOKEN.sub("#", text)))
        for i, shape in zip(masked, text.split("\n"), strict=True):
            shapes[i] = shape
    return shapes


def hash64(text: str) -> int:
    digest = hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=8).digest()
    return int.from_bytes(digest, "little")


def _rows(part: int, text: str) -> list[Row]:
    runs = list(split_runs(text))
    most = MAX_RUNS[part]
    kept, rest = (runs, []) if len(runs) <= most else (runs[: most - 1], runs[most - 1 :])
    rows = [_row(part, run, shape) for run, shape in zip(kept, run_shapes(kept), strict=True)]
    if rest:
        whole = "\n".join(rest)
        # Its own shape: nothing in there is ever taken for noise; and no sentence, whatever it ends with.
        rows.append((*_row(part, whole, whole)[:4], False))
    return rows


def _row(part: int, run: str, shape: str) -> Row:
    words = run.count(" ") + run.count("\n") + 1
    sentence = words >= _SENTENCE_WORDS and run.endswith(_STOPS)
    return hash64(run), crc32(shape.encode("utf-8", "replace")), min(words, _MOST_WORDS), part, sentence
