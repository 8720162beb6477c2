"""CSV and TSV: cells, and the digest of a table, independent of quoting, line ends, delimiter and notation of numbers.

- The first row is the header if its cells are distinct words; columns with a header have no order.
- A table is keyed if its first column has a header and a different value in every row; then its rows have no order.
  Otherwise the order of rows counts. A page's rules can set the table to unordered, or to ordered in spite of a key.
- A column of plain numbers is compared as exact decimals (1, 1.0 and 1.00 are equal; 007 and 1,000 are text), a column
  of ISO date-times with zones as instants; other columns are text without surrounding spaces.
"""

from __future__ import annotations

import csv
import hashlib
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime
from io import StringIO
from itertools import islice, zip_longest

from webstrata.observe.data.digest import DataDigest, digest_of, refused
from webstrata.observe.html.charset import decode_plain

MAX_CELL_LENGTH = 4 * 1024 * 1024
"""Characters. The csv module has one limit for the whole process; its default (128 K) is too small for geometries."""
csv.field_size_limit(MAX_CELL_LENGTH)

DELIMITERS = ",;\t|"
_SNIFFED = 65_536
_SNIFFED_ROWS = 200


def rows_of(text: str, delimiter: str) -> Iterator[list[str]]:
    """Rows of cells without empty lines. Raises csv.Error if a cell exceeds the limit."""
    return filter(None, csv.reader(StringIO(text, newline=""), delimiter=delimiter))


def delimiter_of(text: str, likely: str) -> str:
    """The delimiter that gives most of the first rows the same number of cells; `likely` if no other is better."""
    start = text[:_SNIFFED]
    if len(text) > _SNIFFED:  # the last row of the sample may be incomplete
        start = start[: start.rfind("\n") + 1] or start
    order = likely + DELIMITERS.replace(likely, "")
    return max(order, key=lambda delimiter: _evenness(start, delimiter))


def _evenness(text: str, delimiter: str) -> tuple[float, bool]:
    """The share of rows with the most common number of cells, if that is more than one."""
    widths: Counter[int] = Counter()
    try:
        for number, row in enumerate(rows_of(text, delimiter)):
            if number == _SNIFFED_ROWS:
                break
            widths[len(row)] += 1
    except csv.Error:
        return 0.0, False
    if not widths:
        return 0.0, False
    width, rows = widths.most_common(1)[0]
    return (rows / widths.total(), True) if width > 1 else (0.0, False)


MAX_BYTES = 64 * 1024 * 1024
MAX_COLUMNS = 16_384
"""The number of columns of a spreadsheet."""
MAX_CELLS = 5_000_000
_CHUNK = 256
_MAX_CACHED_LENGTH = 1_000_000
"""Characters; the cells of a table up to this length are kept in memory for the second pass, which is faster."""

_NUMBER = re.compile(r"[+-]?(?:0|[1-9]\d*)(?:\.\d+)?", re.ASCII)
_INSTANT = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:\.\d{1,6})?(?:Z|[+-]\d\d:?\d\d)", re.ASCII)
_SEPARATOR_LINE = re.compile(r"sep=(.)\r?\n")

_Normaliser = Callable[[str], str]


class _TooLargeError(ValueError):
    """The table exceeds a limit; the message names it."""


def table_digest(
    body: bytes,
    charset: str | None,
    url: str,
    *,
    delimiter: str = ",",
    unordered: bool = False,
    ordered: bool = False,
) -> DataDigest:
    """The digest of a table. `delimiter` is that of the media type; other delimiters are detected. Never raises.

    `unordered`: the order of rows does not count. `ordered`: it counts even if the table is keyed.
    """
    if len(body) > MAX_BYTES:
        return refused("table", f"longer than {MAX_BYTES} bytes")
    text, _ = decode_plain(body, charset)
    if "\0" in text:
        return refused("table", "not a table: contains NUL")
    separator = _SEPARATOR_LINE.match(text)
    if separator:
        text, delimiter = text[separator.end() :], separator[1]
    else:
        delimiter = delimiter_of(text, delimiter)
    try:
        return _Table(text, delimiter).digest(unordered, ordered)
    except (csv.Error, _TooLargeError) as error:
        return refused("table", error)


class _Table:
    """The text of a table, processed in two passes: the types of its columns, then the digests of its rows."""

    def __init__(self, text: str, delimiter: str) -> None:
        self._text = text
        self._delimiter = delimiter
        first = next(rows_of(text, delimiter), [])
        names = [name.strip() for name in first]
        self._header = names if _is_header(names) else []

    def digest(self, unordered: bool, ordered: bool) -> DataDigest:
        columns = _Columns()
        cached = list(self._chunks()) if len(self._text) <= _MAX_CACHED_LENGTH else None
        for chunk in cached if cached is not None else self._chunks():
            columns.add(chunk)
        width = max(columns.filled, len(self._header))
        if not width:
            return refused("table", "no cells")
        digests = list(self._digests(cached if cached is not None else self._chunks(), columns.normalisers(), width))
        if unordered or (self._header and columns.has_key and not ordered):
            digests.sort()
        names = sorted(self._header) or [str(width)]
        parts = [*(name.encode("utf-8", "replace") for name in names), b"".join(digests)]
        return DataDigest(kind="table", digest=digest_of("table", parts), size=columns.cells)

    def _chunks(self) -> Iterator[list[list[str]]]:
        """The rows below the header in chunks of columns, which are faster to process than single cells."""
        rows = rows_of(self._text, self._delimiter)
        if self._header:
            next(rows)
        while chunk := list(islice(rows, _CHUNK)):
            if max(map(len, chunk)) > MAX_COLUMNS:
                raise _TooLargeError(f"more than {MAX_COLUMNS} columns")
            yield [list(map(str.strip, column)) for column in zip_longest(*chunk, fillvalue="")]

    def _digests(
        self, chunks: Iterable[list[list[str]]], normalisers: list[_Normaliser | None], width: int
    ) -> Iterator[bytes]:
        """One digest per row, cells in the order of the column names. NUL separates cells; no cell contains it."""
        names = self._header
        order = [*sorted(range(len(names)), key=names.__getitem__), *range(len(names), width)]
        for chunk in chunks:
            missing = [""] * len(chunk[0])
            columns = [
                column if normalise is None else list(map(normalise, column))
                for column, normalise in zip(chunk[:width], normalisers, strict=False)
            ]
            columns += [missing] * (width - len(columns))
            for row in zip(*(columns[index] for index in order), strict=True):
                yield hashlib.sha256("\0".join(row).encode("utf-8", "replace")).digest()


def _is_header(row: list[str]) -> bool:
    """Whether the cells are distinct, not empty, and neither numbers nor instants."""
    if len(set(row)) != len(row) or not all(row):
        return False
    return not any(_NUMBER.fullmatch(cell) or _INSTANT.fullmatch(cell) for cell in row)


class _Columns:
    """The types of the columns, computed chunk by chunk."""

    def __init__(self) -> None:
        self.cells = 0
        self.filled = 0
        """The number of columns up to the last that is not empty."""
        self.has_key = True
        """The first column has a different value in every row."""
        self._keys: set[str] = set()
        self._types: list[int] = []
        """For each column the index of its type in `_TYPES`; `len(_TYPES)` means text."""

    def add(self, chunk: list[list[str]]) -> None:
        rows = len(chunk[0])
        self.cells += rows * len(chunk)
        if self.cells > MAX_CELLS:
            raise _TooLargeError(f"more than {MAX_CELLS} cells")
        self._types += [0] * (len(chunk) - len(self._types))
        for index, column in enumerate(chunk):
            if index >= self.filled and any(column):
                self.filled = index + 1
            for pattern, _ in _TYPES[self._types[index] :]:
                if all(map(pattern.fullmatch, filter(None, column))):
                    break
                self._types[index] += 1
        if self.has_key:
            before = len(self._keys)
            self._keys.update(chunk[0])
            self.has_key = len(self._keys) == before + rows and "" not in self._keys

    def normalisers(self) -> list[_Normaliser | None]:
        """The function that normalises each column's cells; None for text."""
        return [_TYPES[type_index][1] if type_index < len(_TYPES) else None for type_index in self._types]


def _decimal(cell: str) -> str:
    plain = cell.removeprefix("+")
    if "." in plain:
        plain = plain.rstrip("0").rstrip(".")
    return "0" if plain == "-0" else plain


def _instant(cell: str) -> str:
    """The instant in UTC; an invalid date is returned unchanged."""
    try:
        return datetime.fromisoformat(cell).astimezone(UTC).isoformat() if cell else cell
    except (ValueError, OverflowError):
        return cell


_TYPES: list[tuple[re.Pattern[str], _Normaliser]] = [(_NUMBER, _decimal), (_INSTANT, _instant)]
