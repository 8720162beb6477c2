"""How a table's text is cut into cells: the delimiter, found from the first rows in bounded time.

CSV and TSV -> digest of a typed table: quoting, line ends, delimiters and spellings of numbers do not count.

- The first row is the header if its cells are distinct words; columns with a header have no order.
- A table is keyed if its first column has a header and a different value in every row: its rows have no order either.
  Otherwise the order of rows counts. A page may be looked at as unordered, or as ordered in spite of a key.
- A column of plain numbers is compared as exact decimals (1, 1.0 and 1.00 are equal; 007 and 1,000 are text), a column
  of ISO date-times with zones as instants; everything else as text without the spaces around it.
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
"""Characters. The limit is the csv module's own and one for the whole process; its default (128 K) cuts geometries."""
csv.field_size_limit(MAX_CELL_LENGTH)

DELIMITERS = ",;\t|"
_SNIFFED = 65_536
_MOST_ROWS = 200


def rows_of(text: str, delimiter: str) -> Iterator[list[str]]:
    """Rows of cells, empty lines left out. Raises csv.Error for a cell beyond the limit."""
    return filter(None, csv.reader(StringIO(text, newline=""), delimiter=delimiter))


def delimiter_of(text: str, likely: str) -> str:
    """The delimiter that cuts the first rows most evenly; `likely` where none does, or others do no better."""
    start = text[:_SNIFFED]
    if len(text) > _SNIFFED:  # the last row of the sample is cut off
        start = start[: start.rfind("\n") + 1] or start
    order = likely + DELIMITERS.replace(likely, "")
    return max(order, key=lambda delimiter: _evenness(start, delimiter))


def _evenness(text: str, delimiter: str) -> tuple[float, bool]:
    """Share of rows with the commonest number of cells, where that is more than one."""
    widths: Counter[int] = Counter()
    try:
        for number, row in enumerate(rows_of(text, delimiter)):
            if number == _MOST_ROWS:
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
"""As many as a spreadsheet has."""
MAX_CELLS = 5_000_000
_CHUNK = 256
_KEPT = 1_000_000
"""Characters of a table whose cells are kept between the two goings: that is quicker, and small."""

_NUMBER = re.compile(r"[+-]?(?:0|[1-9]\d*)(?:\.\d+)?", re.ASCII)
_INSTANT = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:\.\d{1,6})?(?:Z|[+-]\d\d:?\d\d)", re.ASCII)
_HINT = re.compile(r"sep=(.)\r?\n")

_Spelling = Callable[[str], str]


class _TooLargeError(ValueError):
    """With the reason."""


def table_digest(
    body: bytes,
    charset: str | None,
    url: str,
    *,
    delimiter: str = ",",
    unordered: bool = False,
    ordered: bool = False,
) -> DataDigest:
    """One table; `delimiter` is what its media type promises, though others are recognised. Never raises.

    `unordered`: the order of rows never counts. `ordered`: it does, even where a key names them.
    """
    if len(body) > MAX_BYTES:
        return refused("table", f"longer than {MAX_BYTES} bytes")
    text, _ = decode_plain(body, charset)
    if "\0" in text:
        return refused("table", "not a table: contains NUL")
    hint = _HINT.match(text)
    if hint:
        text, delimiter = text[hint.end() :], hint[1]
    else:
        delimiter = delimiter_of(text, delimiter)
    try:
        return _TableText(text, delimiter).read(unordered, ordered)
    except (csv.Error, _TooLargeError) as error:
        return refused("table", error)


class _TableText:
    """A table's text, gone through twice: what its columns are, then what its rows say. Of a long one only digests are
    kept."""

    def __init__(self, text: str, delimiter: str) -> None:
        self._text = text
        self._delimiter = delimiter
        first = next(rows_of(text, delimiter), [])
        names = [name.strip() for name in first]
        self._header = names if _is_header(names) else []

    def read(self, unordered: bool, ordered: bool) -> DataDigest:
        columns = _Columns()
        kept = list(self._chunks()) if len(self._text) <= _KEPT else None
        for chunk in kept if kept is not None else self._chunks():
            columns.add(chunk)
        width = max(columns.filled, len(self._header))
        if not width:
            return refused("table", "no cells")
        digests = list(self._digests(kept if kept is not None else self._chunks(), columns.spellings(), width))
        if unordered or (self._header and columns.has_key and not ordered):
            digests.sort()
        names = sorted(self._header) or [str(width)]
        parts = [*(name.encode("utf-8", "replace") for name in names), b"".join(digests)]
        return DataDigest(kind="table", digest=digest_of("table", parts), size=columns.cells)

    def _chunks(self) -> Iterator[list[list[str]]]:
        """The rows below the header in chunks, each as its columns: these are quicker to go through than cells."""
        rows = rows_of(self._text, self._delimiter)
        if self._header:
            next(rows)
        while chunk := list(islice(rows, _CHUNK)):
            if max(map(len, chunk)) > MAX_COLUMNS:
                raise _TooLargeError(f"more than {MAX_COLUMNS} columns")
            yield [list(map(str.strip, column)) for column in zip_longest(*chunk, fillvalue="")]

    def _digests(
        self, chunks: Iterable[list[list[str]]], spellings: list[_Spelling | None], width: int
    ) -> Iterator[bytes]:
        """One digest a row, the cells in the order of the column names. No cell has a NUL in it: they stay apart."""
        names = self._header
        order = [*sorted(range(len(names)), key=names.__getitem__), *range(len(names), width)]
        for chunk in chunks:
            missing = [""] * len(chunk[0])
            columns = [_spelled(column, spell) for column, spell in zip(chunk[:width], spellings, strict=False)]
            columns += [missing] * (width - len(columns))
            for row in zip(*(columns[place] for place in order), strict=True):
                yield hashlib.sha256("\0".join(row).encode("utf-8", "replace")).digest()


def _spelled(column: list[str], spell: _Spelling | None) -> list[str]:
    return column if spell is None else list(map(spell, column))


def _is_header(row: list[str]) -> bool:
    """Distinct, not empty, and nothing that a cell of data would be."""
    if len(set(row)) != len(row) or not all(row):
        return False
    return not any(_NUMBER.fullmatch(cell) or _INSTANT.fullmatch(cell) for cell in row)


class _Columns:
    """What the columns hold, learned chunk by chunk."""

    def __init__(self) -> None:
        self.cells = 0
        self.filled = 0
        """Columns up to the last that holds anything."""
        self.has_key = True
        """The first column has a different value in every row."""
        self._keys: set[str] = set()
        self._kinds: list[int] = []
        """For each column, which of `_KINDS` it still may be; as many as these: text."""

    def add(self, chunk: list[list[str]]) -> None:
        rows = len(chunk[0])
        self.cells += rows * len(chunk)
        if self.cells > MAX_CELLS:
            raise _TooLargeError(f"more than {MAX_CELLS} cells")
        self._kinds += [0] * (len(chunk) - len(self._kinds))
        for place, column in enumerate(chunk):
            if place >= self.filled and any(column):
                self.filled = place + 1
            while self._kinds[place] < len(_KINDS) and not _all_match(_KINDS[self._kinds[place]][0], column):
                self._kinds[place] += 1
        if self.has_key:
            before = len(self._keys)
            self._keys.update(chunk[0])
            self.has_key = len(self._keys) == before + rows and "" not in self._keys

    def spellings(self) -> list[_Spelling | None]:
        """How each column's cells are written down; None: as they are."""
        return [_KINDS[kind][1] if kind < len(_KINDS) else None for kind in self._kinds]


def _all_match(pattern: re.Pattern[str], column: list[str]) -> bool:
    return all(map(pattern.fullmatch, filter(None, column)))


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


_KINDS: list[tuple[re.Pattern[str], _Spelling]] = [(_NUMBER, _decimal), (_INSTANT, _instant)]
