"""Hashes of a text: the simhash of the whole, and one hash per run, so that two versions can be compared run by run.

Simhash: every three consecutive words are one shingle. A polynomial over its bytes hashes each word; two polynomials
over the three word hashes, mixed, give the upper and the lower half of the shingle's hash. A bit of the result is set
if more than half of the shingles' hashes have it set. Texts that differ in few words differ in few of the 64 bits. All
operations are on 32-bit integers, so that the function is short in any language.

Runs: a run is a line, or a sentence of a long line. With the hash of its words, the hash of its *shape* is stored: the
same words with numbers, dates, times and tokens masked. Two runs with the same shape and different words are usually a
clock, a counter or a token; `detect` decides.
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
    """The simhash of words in UTF-8, separated by one space; None if empty. One or two words are one shingle."""
    return KERNEL.simhash(text) if text else None


TITLE, BODY, HEADER, FOOTER, DATA, SIDE = range(6)
MAX_RUNS = {TITLE: 4, BODY: 400, HEADER: 80, FOOTER: 80, SIDE: 400}
"""Runs stored for each part; the rest of the part is hashed as one run."""
_LONG_LINE = 240
"""Characters; lines of this length or longer are split into sentences."""
_SHORT = 60
_MAX_EXCERPTS = 24
_EXCERPT_LENGTH = 100
_MAX_WORDS = 65_535
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
"""Occurs in names of days and months and in `now` and `ago`; or is a token without a digit."""
_NUMBER = re.compile(r"[0-9][0-9.,:'\u2019/]*[0-9]|[0-9]")


Row = tuple[int, int, int, int, bool]


def runs_of(title: str, body: str, header: str = "", footer: str = "", side: str = "") -> bytes:
    """The runs of a page, as rows of `RUN`. The text of each part is given in lines."""
    rows: list[Row] = []
    for part, text in ((TITLE, title), (BODY, body), (SIDE, side), (HEADER, header), (FOOTER, footer)):
        rows += _rows(part, text)
    return np.array(rows, dtype=RUN).tobytes()


def excerpts_of(texts: Iterable[str], previous: bytes) -> dict[int, str]:
    """The beginnings of up to 24 runs that the previous version (its `runs_of`) does not have, by their hash."""
    if not previous:
        return {}
    known = set(np.frombuffer(previous, dtype=RUN)["value"].tolist()) if len(previous) % RUN.itemsize == 0 else set()
    excerpts: dict[int, str] = {}
    for text in texts:
        for run in split_runs(text):
            value = hash64(run)
            if value not in known:
                excerpts[value] = run if len(run) <= _EXCERPT_LENGTH else run[: _EXCERPT_LENGTH - 1] + "…"
                if len(excerpts) == _MAX_EXCERPTS:
                    return excerpts
    return excerpts


def runs_of_data(fields: Sequence[DataField]) -> bytes:
    """The fields of data as runs: the name of a field is its shape, all its values are its words."""
    rows = [
        (field.value, crc32(field.name.encode("utf-8", "replace")), min(field.size, _MAX_WORDS), DATA, field.stamps)
        for field in fields
    ]
    return np.array(rows, dtype=RUN).tobytes()


def excerpts_of_data(fields: Sequence[DataField], previous: bytes) -> dict[int, str]:
    """The fields whose values differ from the previous version, each with its first value; see `excerpts_of`."""
    if not previous or len(previous) % RUN.itemsize:
        return {}
    known = set(np.frombuffer(previous, dtype=RUN)["value"].tolist())
    changed = [(field.value, f"{field.name}: {field.example}") for field in fields if field.value not in known]
    return {value: text[:_EXCERPT_LENGTH] for value, text in changed[:_MAX_EXCERPTS]}


def split_runs(text: str) -> Iterator[str]:
    """The lines that are not empty; long lines are split into sentences."""
    for line in text.split("\n"):
        if len(line) >= _LONG_LINE:
            yield from filter(None, _SENTENCE_END.split(line))
        elif line:
            yield line


def run_shape(run: str) -> str:
    """The run with numbers, dates, times and tokens masked."""
    return run_shapes([run])[0]


def run_shapes(runs: Sequence[str]) -> list[str]:
    """The shapes of many runs. They are masked as one text, because no mask matches across the end of a line."""
    # Masking is slow, so it is applied only to runs with a digit and to short runs with a word for a date or time.
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
    limit = MAX_RUNS[part]
    first, rest = (runs, []) if len(runs) <= limit else (runs[: limit - 1], runs[limit - 1 :])
    rows = [_row(part, run, shape) for run, shape in zip(first, run_shapes(first), strict=True)]
    if rest:
        whole = "\n".join(rest)
        # The shape is the text itself, so that no part of the rest becomes noise. The rest is never a sentence.
        rows.append((*_row(part, whole, whole)[:4], False))
    return rows


def _row(part: int, run: str, shape: str) -> Row:
    words = run.count(" ") + run.count("\n") + 1
    sentence = words >= _SENTENCE_WORDS and run.endswith(_STOPS)
    return hash64(run), crc32(shape.encode("utf-8", "replace")), min(words, _MAX_WORDS), part, sentence
