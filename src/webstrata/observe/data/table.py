"""CSV and TSV: cells, and the digest of a table, independent of quoting, line ends, delimiter and notation of numbers.

- The first row is the header if its cells are distinct words; columns with a header have no order.
- A table is keyed if its first column has a header and a different value in every row; then its rows have no order.
  Otherwise the order of rows counts. A page's rules can set the table to unordered, or to ordered in spite of a key.
- A column of plain numbers is compared as exact decimals (1, 1.0 and 1.00 are equal; 007 and 1,000 are text), a column
  of ISO date-times with zones as instants; other columns are text without surrounding spaces.

Columns are processed as one string each, with NUL between the cells: Python is too slow for a function call per cell.
"""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from hashlib import sha256
from io import StringIO
from itertools import islice, zip_longest
from operator import itemgetter, le
from typing import Any, NamedTuple

from msgspec import Struct

from webstrata.observe.data.data_field import MAX_FIELDS, DataField, all_stamps, limited
from webstrata.observe.data.digest import DataDigest, digest_of, refused
from webstrata.observe.html.charset import decode_plain
from webstrata.observe.sketch import hash64, sketch_of

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
_CHUNK = 2048
"""Lines that are divided into cells together."""
_SAMPLE = 64
_MAX_KEY_DIGITS = 18
"""Longer keys are compared as text: converting them to integers takes long."""
_MAX_QUOTED_SHARE = 0.2
"""If more lines of a chunk have quotes, the csv module parses all of them: starting it for each line takes longer."""

_NUMBER_PATTERN = r"[+-]?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?"
_INSTANT_PATTERN = (
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]{1,6})?(?:Z|[+-][0-9]{2}:?[0-9]{2})"
)
_PLAIN_INSTANT_PATTERN = r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z"


def _column_of(pattern: str) -> re.Pattern[str]:
    """Matches a column in which every cell is empty or matches the pattern."""
    return re.compile(rf"(?:{pattern})?(?:\0(?:{pattern})?)*+")


_NUMBER, _INSTANT = re.compile(_NUMBER_PATTERN), re.compile(_INSTANT_PATTERN)
_NUMBERS, _INSTANTS = _column_of(_NUMBER_PATTERN), _column_of(_INSTANT_PATTERN)
_PLAIN_INSTANTS = _column_of(_PLAIN_INSTANT_PATTERN)
_QUOTED = "quoted"
"""Stands for a line that is parsed by the csv module."""
_SEPARATOR_LINE = re.compile(r"sep=(.)\r?\n")
_DIGITS = b"0123456789\0"
_PADDED = re.compile(r"\x000[0-9]")
"""A number with a zero in front."""
_SPACES = "\t\n\x0b\x0c\r\x1c\x1d\x1e\x1f "


class TableError(ValueError):
    """The table cannot be parsed, or exceeds a limit; the message is the reason."""


class TableContent(Struct, frozen=True, kw_only=True):
    """A table in canonical form."""

    names: tuple[str, ...]
    """The names of the columns, sorted; empty without a header."""
    columns: tuple[str, ...]
    """The normalised cells of each column in the canonical order of rows, with NUL between them."""
    digests: tuple[bytes, ...]
    """SHA-256 of each column."""
    times: tuple[bool, ...]
    """Whether all cells of a column are instants, and none is empty."""
    rows: int
    """Without the header."""

    @property
    def cells(self) -> int:
        return self.rows * len(self.columns)

    @property
    def parts(self) -> list[bytes]:
        """What the digest covers. Different tables have different parts."""
        names = self.names or (str(len(self.columns)),)
        return [str(self.rows).encode(), *(name.encode("utf-8", "replace") for name in names), *self.digests]

    def fields(self, prefix: str = "") -> list[DataField]:
        """One field per column, sorted by name. A value's position is that of its row."""
        names = self.names or tuple(f"column {number + 1}" for number in range(len(self.columns)))
        return [
            DataField(
                prefix + name,
                hash64(f"{prefix}{name}\0{self.rows}\0".encode("utf-8", "replace") + digest),
                self.rows,
                stamps=is_times or _has_only_stamps(column),
                example=column.lstrip("\0").partition("\0")[0],
                sketch=sketch_of(column.encode("utf-8", "replace").split(b"\0")),
            )
            for name, column, digest, is_times in sorted(
                zip(names, self.columns, self.digests, self.times, strict=True)
            )
        ]


def table_digest(
    body: bytes, charset: str | None, *, delimiter: str = ",", unordered: bool = False, ordered: bool = False
) -> DataDigest:
    """The digest of a table. `delimiter` is that of the media type; other delimiters are detected. Never raises.

    `unordered`: the order of rows does not count. `ordered`: it counts even if the table is keyed.
    """
    try:
        content = table_content(body, charset, delimiter=delimiter, unordered=unordered, ordered=ordered)
    except TableError as error:
        return refused("table", error)
    return DataDigest(
        kind="table",
        digest=digest_of("table", content.parts),
        size=content.cells,
        read_fields=lambda: limited(content.fields(), MAX_FIELDS),
    )


def table_content(
    body: bytes, charset: str | None, *, delimiter: str, unordered: bool = False, ordered: bool = False
) -> TableContent:
    """The canonical form of a table in CSV or a similar format. Raises TableError."""
    if len(body) > MAX_BYTES:
        raise TableError(f"longer than {MAX_BYTES} bytes")
    text, _ = decode_plain(body, charset)
    if "\0" in text:
        raise TableError("not a table: contains NUL")
    separator = _SEPARATOR_LINE.match(text)
    if separator:
        text, delimiter = text[separator.end() :], separator[1]
    else:
        delimiter = delimiter_of(text, delimiter)
    columns = _TableColumns()
    try:
        for chunk in _chunks(_lines(text), delimiter):
            columns.add(chunk)
    except (csv.Error, ValueError, TypeError) as error:  # the last two: the csv module refuses the delimiter
        raise TableError(str(error)) from None
    return columns.content(unordered=unordered, ordered=ordered)


def content_of_rows(rows: Sequence[Sequence[str]], *, unordered: bool = False, ordered: bool = False) -> TableContent:
    """The canonical form of rows of cells. Raises TableError."""
    columns = _TableColumns()
    for start in range(0, len(rows), _CHUNK):
        columns.add(_transposed(rows[start : start + _CHUNK]))
    return columns.content(unordered=unordered, ordered=ordered)


# ── from lines to columns ───────────────────────────────────────────────────────────────────────────────────────────


def _lines(text: str) -> list[str]:
    """The lines of a text, whatever ends them."""
    ends = text.count("\r\n")
    if text.count("\r") == ends == text.count("\n"):
        return text.split("\r\n")
    return (text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text).split("\n")


def _chunks(lines: list[str], delimiter: str) -> Iterator[Sequence[Sequence[str]]]:
    """The columns of successive chunks of rows."""
    position = 0
    while position < len(lines):
        end = min(position + _CHUNK, len(lines))
        quoted = [index for index in range(position, end) if '"' in lines[index]]
        if len(quoted) > _MAX_QUOTED_SHARE * (end - position):
            reader = csv.reader(_with_ends(lines, position), delimiter=delimiter)
            rows = list(filter(None, islice(reader, _CHUNK)))
            position += reader.line_num
            columns: Sequence[Sequence[str]] = _transposed(rows)
        else:
            columns, position = _mixed_columns(lines, position, end, quoted, delimiter)
        if columns:
            yield columns


def _mixed_columns(
    lines: list[str], start: int, end: int, quoted: list[int], delimiter: str
) -> tuple[Sequence[Sequence[str]], int]:
    """The columns of a chunk of lines, and where it ends. Only lines with quotes are given to the csv module."""
    parsed = _rows_of_lines([lines[index] for index in quoted], delimiter) if quoted else []
    if parsed is not None:
        whole = lines[start:end]
        for index in quoted:
            whole[index - start] = _QUOTED
        plain = list(filter(None, whole))
        places = [place for place, line in enumerate(plain) if line is _QUOTED] if quoted else []
        return _columns_of(plain, dict(zip(places, parsed, strict=True)), delimiter), end
    plain, rows, position = [], {}, start
    for index in quoted:
        if index >= position:  # not in the middle of a cell of several lines
            plain += filter(None, lines[position:index])
            reader = csv.reader(_with_ends(lines, index), delimiter=delimiter)
            rows[len(plain)] = next(reader)
            plain.append(_QUOTED)
            position = index + reader.line_num
    plain += filter(None, lines[position:end])
    return _columns_of(plain, rows, delimiter), max(position, end)


def _rows_of_lines(lines: list[str], delimiter: str) -> list[list[str]] | None:
    """The rows of lines with quotes, if each line is a row; None if a cell has several lines."""
    rows = list(csv.reader([*lines, _QUOTED], delimiter=delimiter))
    return rows[:-1] if len(rows) == len(lines) + 1 else None


def _columns_of(lines: list[str], parsed: dict[int, list[str]], delimiter: str) -> Sequence[Sequence[str]]:
    """The columns of lines without quotes; `parsed` has the rows of the lines that are `_QUOTED`."""
    if max(map(len, lines), default=0) > MAX_CELL_LENGTH:
        raise TableError(f"a cell is longer than {MAX_CELL_LENGTH} characters")
    if not lines:
        return []
    width = len(parsed[0]) if 0 in parsed else lines[0].count(delimiter) + 1
    for index in parsed:
        lines[index] = delimiter * (width - 1)
    is_even = {line.count(delimiter) for line in lines} == {width - 1}
    if not is_even or any(len(row) != width for row in parsed.values()):
        return _transposed([parsed.get(index) or line.split(delimiter) for index, line in enumerate(lines)])
    cells = delimiter.join(lines).split(delimiter)
    columns = [cells[index::width] for index in range(width)]
    for index, row in parsed.items():
        for column, cell in zip(columns, row, strict=True):
            column[index] = cell
    return columns


def _with_ends(lines: list[str], start: int) -> Iterator[str]:
    return (lines[index] + "\n" for index in range(start, len(lines)))


def _transposed(rows: Sequence[Sequence[str]]) -> Sequence[Sequence[str]]:
    if len(set(map(len, rows))) < 2:
        return list(zip(*rows, strict=True))
    widest = max(map(len, rows))
    if widest > MAX_COLUMNS or widest * len(rows) > MAX_CELLS:
        raise TableError(f"more than {MAX_COLUMNS} columns, or more than {MAX_CELLS} cells")
    return list(zip_longest(*rows, fillvalue=""))


# ── from columns to the canonical form ──────────────────────────────────────────────────────────────────────────────


class _TableColumns:
    """The cells of a table by column, as strings with NUL between the cells."""

    def __init__(self) -> None:
        self._header: list[str] = []
        self._pieces: list[list[str]] = []
        """For each column the strings of its chunks."""
        self._rows = 0
        self._cells = 0

    def add(self, chunk: Sequence[Sequence[str]]) -> None:
        """Append the columns of a chunk of rows. Raises TableError at the limits."""
        rows = len(chunk[0])
        self._cells += rows * len(chunk)
        if len(chunk) > MAX_COLUMNS:
            raise TableError(f"more than {MAX_COLUMNS} columns")
        if self._cells > MAX_CELLS:
            raise TableError(f"more than {MAX_CELLS} cells")
        if not self._pieces:
            names = [column[0].strip() for column in chunk]
            if _is_header(names):
                self._header = names
                chunk = [column[1:] for column in chunk]
                rows -= 1
                if not rows:
                    return
        missing = [] if not self._rows else ["\0" * (self._rows - 1)]
        self._pieces += [list(missing) for _ in range(len(chunk) - len(self._pieces))]
        for pieces, column in zip(self._pieces, chunk, strict=False):
            pieces.append("\0".join(column))
        for pieces in self._pieces[len(chunk) :]:
            pieces.append("\0" * (rows - 1))
        self._rows += rows

    def content(self, *, unordered: bool, ordered: bool) -> TableContent:
        """The canonical form. Raises TableError if there are no cells."""
        columns = [_normalised(_stripped("\0".join(pieces))) for pieces in self._pieces]
        width = max(
            max((number for number, column in enumerate(columns, 1) if column.text.strip("\0")), default=0),
            len(self._header),
        )
        if not width:
            raise TableError("no cells")
        empty = _Column("\0" * (self._rows - 1), is_times=False)
        columns = (columns + [empty] * (width - len(columns)))[:width]
        names = self._header
        order = sorted(range(len(names)), key=names.__getitem__)
        key = columns[0].text
        is_keyed = bool(names) and not ordered and _is_key(key, self._rows)
        columns = [*(columns[index] for index in order), *columns[len(names) :]]
        texts = [column.text for column in columns]
        if self._rows > 1 and (is_keyed or unordered):
            texts = _in_canonical_order(texts, self._rows, known_key=key if is_keyed else None)
        headings = tuple(names[index] for index in order)
        further = tuple(f"column {number + 1}" for number in range(len(names), width)) if names else ()
        return TableContent(
            names=headings + further,
            columns=tuple(texts),
            digests=tuple(sha256(text.encode("utf-8", "replace")).digest() for text in texts),
            times=tuple(column.is_times for column in columns),
            rows=self._rows,
        )


class _Column(NamedTuple):
    """The normalised cells of a column, with NUL between them."""

    text: str
    is_times: bool
    """All cells are instants, and none is empty."""


def _is_header(row: list[str]) -> bool:
    """Whether the cells are distinct, not empty, and neither numbers nor instants. Removes empty cells at the end."""
    while row and not row[-1]:
        row.pop()
    if not row or len(set(row)) != len(row) or not all(row):
        return False
    return not any(_NUMBER.fullmatch(cell) or _INSTANT.fullmatch(cell) for cell in row)


def _is_key(column: str, rows: int) -> bool:
    """Whether every row has another value in this column, and none is empty."""
    cells = column.split("\0")
    if len(set(cells[:_SAMPLE])) < min(rows, _SAMPLE):  # most columns are excluded here
        return False
    return all(cells) and len(set(cells)) == rows


def _in_canonical_order(columns: list[str], rows: int, *, known_key: str | None) -> list[str]:
    """The columns with their rows sorted by the first column that is a key, or by all cells if there is none."""
    key = next((column for column in columns if column is known_key or _is_key(column, rows)), None)
    keys: Sequence[Any]
    if key is None:
        keys = list(zip(*(column.split("\0") for column in columns), strict=True))
    else:
        keys = key.split("\0")
        if (
            not key.strip(_DIGITS.decode())
            and max(map(len, keys)) <= _MAX_KEY_DIGITS
            and not _PADDED.search(f"\0{key}")
        ):
            keys = list(map(int, keys))
        if all(map(le, keys, islice(keys, 1, None))):  # as most tables are
            return columns
    pick = itemgetter(*sorted(range(rows), key=keys.__getitem__))
    return ["\0".join(pick(column.split("\0"))) for column in columns]


def _stripped(column: str) -> str:
    """The column without white space around its cells."""
    spaces = [space for space in _SPACES if space in column]
    is_clean = not spaces or (
        spaces == [" "] and " \0" not in column and "\0 " not in column and column == column.strip(" ")
    )
    if is_clean and column.isascii():
        return column
    return "\0".join(map(str.strip, column.split("\0")))


def _normalised(column: str) -> _Column:
    """The column with its numbers or instants in one notation, if all its cells are numbers or instants."""
    first = column.lstrip("\0").partition("\0")[0]
    if not first.isascii() or not (_NUMBER.fullmatch(first) or _INSTANT.fullmatch(first)):
        return _Column(column, is_times=False)
    signs = column.encode("utf-8", "replace").translate(None, _DIGITS)
    if not signs:  # integers, or codes with zeros in front
        return _Column(column, is_times=False)
    if not signs.strip(b"+-."):
        return _Column(_with_decimals(column, signs) if _NUMBERS.fullmatch(column) else column, is_times=False)
    is_full = not ("\0\0" in column or column.startswith("\0") or column.endswith("\0"))
    if _PLAIN_INSTANTS.fullmatch(column):
        return _Column(column.replace("Z", "+00:00"), is_times=is_full)
    if not _INSTANTS.fullmatch(column):
        return _Column(column, is_times=False)
    return _Column("\0".join(map(_instant, column.split("\0"))), is_times=is_full)


def _with_decimals(column: str, signs: bytes) -> str:
    """A column of numbers in one notation; `signs` are the characters that are no digits."""
    if b"+" in signs or "-0" in column:
        return "\0".join(map(_decimal, column.split("\0")))
    if b"." not in signs:
        return column
    return "\0".join([_decimal(cell) if cell[-1:] == "0" else cell for cell in column.split("\0")])


def _has_only_stamps(column: str) -> bool:
    """Whether all cells are times or tokens."""
    return all_stamps((column.partition("\0")[0],)) and all_stamps(column.split("\0"))


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
