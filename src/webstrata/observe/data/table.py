"""CSV and TSV -> digest of a typed table: quoting, line ends, delimiters and spellings of numbers do not count.

- The first row is the header if its cells are distinct words; columns with a header have no order.
- A table is keyed if its first column has a header and a different value in every row: its rows have no order either.
  Otherwise the order of rows counts, unless the page is looked at as unordered.
- A column of plain numbers is compared as exact decimals (1, 1.0 and 1.00 are equal; 007 and 1,000 are text), a column
  of ISO date-times with zones as instants; everything else as text without the spaces around it.
"""

from __future__ import annotations

import csv
import hashlib
import re
from collections.abc import Callable, Iterator
from datetime import UTC, datetime

from webstrata.observe.charset import decode_plain
from webstrata.observe.data.data import Data, digest_of, refused
from webstrata.observe.data.dialect import delimiter_of, rows_of

LARGEST_BODY = 64 * 1024 * 1024
MOST_COLUMNS = 16_384
"""As many as a spreadsheet has."""
MOST_CELLS = 5_000_000
_LONGEST_NUMBER = 400

_NUMBER = re.compile(r"[+-]?(?:0|[1-9]\d*)(?:\.\d+)?", re.ASCII)
_INSTANT = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:\.\d{1,6})?(?:Z|[+-]\d\d:?\d\d)", re.ASCII)
_HINT = re.compile(r"sep=(.)\r?\n")

_Spelling = Callable[[str], str]


class _TooLargeError(ValueError):
    """With the reason."""


def read(body: bytes, charset: str | None, url: str, *, delimiter: str = ",", unordered: bool = False) -> Data:
    """One table; `delimiter` is what its media type promises, though others are recognised. Never raises."""
    if len(body) > LARGEST_BODY:
        return refused("table", f"longer than {LARGEST_BODY} bytes")
    text, _ = decode_plain(body, charset)
    if "\0" in text:
        return refused("table", "not a table: contains NUL")
    hint = _HINT.match(text)
    if hint:
        text, delimiter = text[hint.end() :], hint[1]
    else:
        delimiter = delimiter_of(text, delimiter)
    try:
        return _Table(text, delimiter).read(unordered)
    except (csv.Error, _TooLargeError) as error:
        return refused("table", error)


class _Table:
    """A table's text, gone through twice: what its columns are, then what its rows say. Only digests are kept."""

    def __init__(self, text: str, delimiter: str) -> None:
        self._text = text
        self._delimiter = delimiter

    def read(self, unordered: bool) -> Data:
        rows = self._rows()
        first = next(rows, None)
        if first is None:
            return refused("table", "no rows")
        header = first if _is_header(first) else None
        columns = _Columns()
        for row in rows if header else self._rows():
            columns.add(row)
        keyed = header is not None and columns.has_key
        digests = list(self._digests(header, columns.spellings()))
        if unordered or keyed:
            digests.sort()
        names = sorted(header) if header else [str(columns.width)]
        parts = [*(name.encode("utf-8", "replace") for name in names), b"".join(digests)]
        return Data(kind="table", digest=digest_of("table", parts), size=columns.cells + len(header or ()))

    def _rows(self) -> Iterator[list[str]]:
        for row in rows_of(self._text, self._delimiter):
            if len(row) > MOST_COLUMNS:
                raise _TooLargeError(f"more than {MOST_COLUMNS} columns")
            yield [cell.strip() for cell in row]

    def _digests(self, header: list[str] | None, spellings: list[_Spelling]) -> Iterator[bytes]:
        """One digest a row, the cells in the order of the column names."""
        rows = self._rows()
        order: list[int] | None = None
        if header:
            next(rows)
            order = sorted(range(len(header)), key=header.__getitem__)
        for row in rows:
            cells = [spell(cell) for spell, cell in zip(spellings, row, strict=False)]
            if order and len(cells) == len(order):
                cells = [cells[column] for column in order]
            made = hashlib.sha256()
            for cell in cells:
                data = cell.encode("utf-8", "replace")
                made.update(b"%d:" % len(data))
                made.update(data)
            yield made.digest()


def _is_header(row: list[str]) -> bool:
    """Distinct, not empty, and nothing that a cell of data would be."""
    if len(set(row)) != len(row) or not all(row):
        return False
    return not any(_NUMBER.fullmatch(cell) or _INSTANT.fullmatch(cell) for cell in row)


class _Columns:
    """What the columns hold, learned row by row."""

    def __init__(self) -> None:
        self.cells = 0
        self.width = 0
        self._numeric: list[bool] = []
        self._timed: list[bool] = []
        self._keys: set[str] = set()
        self.has_key = True

    def add(self, row: list[str]) -> None:
        self.cells += len(row)
        if self.cells > MOST_CELLS:
            raise _TooLargeError(f"more than {MOST_CELLS} cells")
        if len(row) > self.width:
            self._numeric += [True] * (len(row) - self.width)
            self._timed += [True] * (len(row) - self.width)
            self.width = len(row)
        for column, cell in enumerate(row):
            if cell and self._numeric[column] and not _is_number(cell):
                self._numeric[column] = False
            if cell and self._timed[column] and not _INSTANT.fullmatch(cell):
                self._timed[column] = False
        if self.has_key:
            self.has_key = bool(row[0]) and row[0] not in self._keys
            self._keys.add(row[0])

    def spellings(self) -> list[_Spelling]:
        """How each column's cells are written down."""
        kinds = zip(self._numeric, self._timed, strict=True)
        return [_decimal if numeric else _instant if timed else str for numeric, timed in kinds]


def _is_number(cell: str) -> bool:
    return len(cell) <= _LONGEST_NUMBER and _NUMBER.fullmatch(cell) is not None


def _decimal(cell: str) -> str:
    plain = cell.removeprefix("+")
    if "." in plain:
        plain = plain.rstrip("0").rstrip(".")
    return "0" if plain == "-0" else plain


def _instant(cell: str) -> str:
    """In UTC; a date that no calendar has stays as it is."""
    try:
        return datetime.fromisoformat(cell).astimezone(UTC).isoformat() if cell else cell
    except (ValueError, OverflowError):
        return cell
