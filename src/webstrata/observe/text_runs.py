"""Hashes of a text: the simhash of the whole, and one hash per run, so that two versions can be compared run by run.

Simhash: every three consecutive words are one shingle. A polynomial over its bytes hashes each word; two polynomials
over the three word hashes, mixed, give the upper and the lower half of the shingle's hash. A bit of the result is set
if more than half of the shingles' hashes have it set. Texts that differ in few words differ in few of the 64 bits. All
operations are on 32-bit integers, so that the function is short in any language.

Runs: a run is a line, or a sentence of a long line. With the hash of its words, the hash of its *shape* is stored: the
same words with numbers, dates, times, ages and tokens masked. Two runs with the same shape and different words are
usually a clock, a counter or a token; `detect` decides, and reads from the flags of a run what its figures are
(`figures.py`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from zlib import crc32

import numpy as np

from webstrata.columns import RUN, Part, RunFlag
from webstrata.observe.data.data_field import DataField
from webstrata.observe.figures import NO_FIGURE, RunFigure, examined, figures_of
from webstrata.observe.kernel.choice import KERNEL
from webstrata.observe.sketch import hash64, sketch_of
from webstrata.observe.stamps import is_stamp
from webstrata.observe.time_words import lower_words, with_dates_masked, without_ages


def simhash(text: bytes) -> int | None:
    """The simhash of words in UTF-8, separated by one space; None if empty. One or two words are one shingle."""
    return KERNEL.simhash(text) if text else None


MAX_RUNS = {Part.TITLE: 4, Part.BODY: 1200, Part.SIDE: 600, Part.HEADER: 200, Part.FOOTER: 200}
"""Runs stored one by one for each part; the rest of the part is stored in blocks."""
_BLOCK_RUNS = 16
"""Runs in a block on average. A block ends at a run whose hash says so, so that an insertion moves no other block."""
_MAX_BLOCK_RUNS = 256
_CHANGING = RunFlag.TIMES | RunFlag.TRIVIAL
"""Runs that may differ at every visit: no block ends at them."""
_KINDS_OF_FIGURES = 4
_MAX_BLOCK_ROWS = 1000
"""Rows of a part's blocks; the last block holds all the rest."""
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
_HALF_DAY = re.compile(r"\b[ap]\.?m\b", re.IGNORECASE)
_DIGIT = re.compile(r"[0-9]")
_NAME_PART = re.compile(r"[^\W\d_][a-zà-ÿ]+|[A-Z]+(?![a-z])")
"""A word of a field's name: `lowPrice` has two."""
_CLOCK = re.compile(r"[DdNnGg](?:ay|ow|o\b)|ember|uary|[A-Za-z+/_=-]{20}")
"""Occurs in names of days and months and in `now` and `ago`; or is a token without a digit."""
_NUMBER = re.compile(
    r"[0-9](?:[0-9]{0,2}(?:[ \u00a0\u202f][0-9]{3}(?![0-9]))+(?:[.,][0-9]+)?|(?:[0-9.,:'\u2019/]*[0-9])?)"
)
_MAX_EXAMINED = 6000
"""Runs of a part whose figures are examined. Later figures are taken for watched, so that they are never noise."""


Row = tuple[int, int, int, float, int, int, int, int]
"""A row of `RUN`: value, sketch, shape, figure, bag, words, part, flags."""


def runs_of(title: str, body: str, header: str = "", footer: str = "", side: str = "") -> bytes:
    """The runs of a page, as rows of `RUN`. The text of each part is given in lines."""
    rows: list[Row] = []
    for part, text in (
        (Part.TITLE, title),
        (Part.BODY, body),
        (Part.SIDE, side),
        (Part.HEADER, header),
        (Part.FOOTER, footer),
    ):
        rows += _rows(part, text, title)
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
    rows: list[Row] = [
        (
            field.value,
            field.sketch,
            crc32(field.name.encode("utf-8", "replace")),
            figure.figure if field.size == 1 else NO_FIGURE,
            0,
            min(field.size, _MAX_WORDS),
            Part.DATA,
            RunFlag.TIMES if field.stamps else figure.flags & ~RunFlag.TIMES,
        )
        for field, figure in ((field, _field_figure(field)) for field in fields)
    ]
    return np.array(rows, dtype=RUN).tobytes()


def _field_figure(field: DataField) -> RunFigure:
    """What the name of a field says about its values: `offers[].lowPrice` is watched, `page.views` is trivial."""
    name = " ".join(_NAME_PART.findall(field.name))
    return (
        examined(f"{name} {field.example}")
        if _DIGIT.search(field.example)
        else examined(f"{name} 0")._replace(figure=NO_FIGURE)
    )


def excerpts_of_data(fields: Sequence[DataField], previous: bytes) -> dict[int, str]:
    """The fields whose values differ from the previous version, each with its first value; see `excerpts_of`."""
    if not previous or len(previous) % RUN.itemsize:
        return {}
    known = set(np.frombuffer(previous, dtype=RUN)["value"].tolist())
    changed = [(field.value, field.excerpt) for field in fields if field.value not in known]
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
    masked = [i for i, run in enumerate(runs) if _DIGIT.search(run) or (len(run) <= _SHORT and _is_dated(run))]
    shapes = list(runs)
    if masked:
        text = "\n".join([_without_times(runs[i]) for i in masked])
        text = _NUMBER.sub("0", _HALF_DAY.sub("@", _TOKEN.sub("#", text)))
        for i, shape in zip(masked, text.split("\n"), strict=True):
            shapes[i] = shape
    return shapes


def _without_times(run: str) -> str:
    """The run with its ages and the names of months and weekdays masked."""
    words = lower_words(run)
    return with_dates_masked(without_ages(run, words, "@"), words)


def _is_dated(run: str) -> bool:
    return _CLOCK.search(run) is not None or without_ages(run, lower_words(run)) != run


def _rows(part: Part, text: str, title: str) -> list[Row]:
    runs = list(split_runs(text))
    limit = MAX_RUNS[part]
    shapes = run_shapes(runs)
    figures = figures_of(runs[:_MAX_EXAMINED], title)
    figures += [RunFigure(RunFlag.WATCHED if _DIGIT.search(run) else 0, NO_FIGURE) for run in runs[_MAX_EXAMINED:]]
    rows = [_row(part, *one) for one in zip(runs[:limit], shapes[:limit], figures[:limit], strict=True)]
    if len(runs) > limit:
        rows += _block_rows(part, runs[limit:], shapes[limit:], figures[limit:])
    return rows


def _block_rows(part: Part, runs: list[str], shapes: list[str], figures: list[RunFigure]) -> list[Row]:
    """The runs beyond the limit in blocks, with the words and the shapes of their runs.

    A block is one row for each kind of figures in it, so that a clock does not change the row of the text around it.
    """
    rows: list[Row] = []
    start = 0
    for index, (run, figure) in enumerate(zip(runs, figures, strict=True), 1):
        is_end = index - start == _MAX_BLOCK_RUNS or (
            not figure.flags & _CHANGING and crc32(run.encode("utf-8", "replace")) % _BLOCK_RUNS == 0
        )
        if index == len(runs) or (is_end and len(rows) < _MAX_BLOCK_ROWS - 2 * _KINDS_OF_FIGURES):
            for flags in sorted({figure.flags for figure in figures[start:index]}):
                chosen = [i for i in range(start, index) if figures[i].flags == flags]
                text, shape = ("\n".join([lines[i] for i in chosen]) for lines in (runs, shapes))
                row = _row(part, text, shape, RunFigure(flags, NO_FIGURE))
                rows.append((*row[:3], NO_FIGURE, 0, *row[5:7], flags | RunFlag.BLOCK))  # a block is never a sentence
            start = index
    return rows


def _row(part: Part, run: str, shape: str, figure: RunFigure) -> Row:
    words = run.encode("utf-8", "replace").split()
    flags = figure.flags | (RunFlag.SENTENCE if len(words) >= _SENTENCE_WORDS and run.endswith(_STOPS) else 0)
    if is_stamp(run, shape) and not flags & RunFlag.WATCHED:
        flags |= RunFlag.STAMP
    has_bag = len(words) > 1 and not flags & RunFlag.SENTENCE and _DIGIT.search(run) is None
    return (
        hash64(run),
        sketch_of(words),
        crc32(shape.encode("utf-8", "replace")),
        figure.figure,
        sum(map(crc32, words)) & 0xFFFFFFFF if has_bag else 0,
        min(len(words), _MAX_WORDS),
        part,
        flags,
    )
