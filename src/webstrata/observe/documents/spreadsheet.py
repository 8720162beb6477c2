"""The sheets of Excel workbooks (.xlsx) and OpenDocument spreadsheets (.ods), as rows of cells.

A cell is its value as stored: the result of a formula, a number without its format, a date of an .xlsx file as a
number of days. Empty rows, and empty cells at the end of a row, are left out.
"""

from __future__ import annotations

from typing import NamedTuple
from xml.parsers import expat

from webstrata.observe.data import xml
from webstrata.observe.documents.container import ContainerError, ZipContainer
from webstrata.observe.documents.office import RELATION_ID, elements, related_parts

MAX_CELLS = 2_000_000
"""With the empty cells between filled ones."""
MAX_COLUMNS = 16_384
_MAX_SHARED_LENGTH = 64 * 1024 * 1024

SheetRow = tuple[str, ...]


class Sheet(NamedTuple):
    """One sheet with its name."""

    name: str
    rows: list[SheetRow]


def sheets_of(body: bytes, name: str) -> list[Sheet]:
    """The sheets of a workbook of the format `xlsx` or `ods`, in order. Raises ContainerError."""
    container = ZipContainer(body)
    if name == "ods":
        reader = _OpenDocumentReader()
        reader.read(container.read("content.xml"))
        return reader.sheets
    return _excel_sheets(container)


def sheet_names(body: bytes, name: str) -> list[str]:
    """The names of the sheets of a workbook. Raises ContainerError."""
    container = ZipContainer(body)
    if name == "ods":
        tables = [attributes for tag, attributes in elements(container.read("content.xml")) if tag == "table"]
        return [_of_local_name(attributes, "name") for attributes in tables]
    return [attributes.get("name", "") for tag, attributes in elements(container.read(_WORKBOOK)) if tag == "sheet"]


class _CellReader:
    """The base of the expat handlers that collect rows, with the limits."""

    def __init__(self) -> None:
        self.rows: list[SheetRow] = []
        self._cells = 0
        self._row: list[str] = []
        self._depth = 0

    def read(self, part: bytes) -> None:
        """Parse a part. Raises ContainerError."""
        parser = expat.ParserCreate(namespace_separator=" ")
        parser.buffer_text = True
        parser.StartElementHandler = self._open
        parser.EndElementHandler = self._close
        parser.CharacterDataHandler = self._text
        problem = xml.parse_safely(part, parser)
        if problem is not None:
            raise ContainerError(problem)

    def _open(self, tag: str, attributes: dict[str, str]) -> None:
        self._depth += 1
        if self._depth > xml.MAX_DEPTH:
            raise xml.XmlRefusedError(f"nested deeper than {xml.MAX_DEPTH}")
        self._start(tag.rpartition(" ")[2], attributes)

    def _close(self, tag: str) -> None:
        self._depth -= 1
        self._end(tag.rpartition(" ")[2])

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        raise NotImplementedError

    def _end(self, name: str) -> None:
        raise NotImplementedError

    def _text(self, text: str) -> None:
        raise NotImplementedError

    def _add_cell(self, column: int, value: str) -> None:
        """Store a cell that is not empty."""
        if column >= MAX_COLUMNS:
            raise xml.XmlRefusedError(f"more than {MAX_COLUMNS} columns")
        missing = column + 1 - len(self._row)
        self._cells += max(missing, 0)
        if self._cells > MAX_CELLS:
            raise xml.XmlRefusedError(f"more than {MAX_CELLS} cells")
        self._row += [""] * missing
        self._row[column] = value

    def _end_row(self) -> None:
        if self._row:
            self.rows.append(tuple(self._row))
            self._row = []


# ── Excel ───────────────────────────────────────────────────────────────────────────────────────────────────────

_WORKBOOK = "xl/workbook.xml"
_SHARED = "xl/sharedStrings.xml"
_BOOLEANS = {"0": "FALSE", "1": "TRUE"}


def _excel_sheets(container: ZipContainer) -> list[Sheet]:
    targets = related_parts(container, _WORKBOOK)
    shared = _SharedStrings()
    if _SHARED in container:
        shared.read(container.read(_SHARED))
    sheets: list[Sheet] = []
    cells = 0
    for tag, attributes in elements(container.read(_WORKBOOK)):
        part = targets.get(attributes.get(RELATION_ID, ""), "") if tag == "sheet" else ""
        if part in container:
            reader = _ExcelReader(shared.strings, cells)
            reader.read(container.read(part))
            cells = reader.cells
            sheets.append(Sheet(attributes.get("name", ""), reader.rows))
    return sheets


class _SharedStrings(_CellReader):
    """The strings to which cells refer by number. Phonetic readings (`rPh`) are left out."""

    def __init__(self) -> None:
        super().__init__()
        self.strings: list[str] = []
        self._parts: list[str] = []
        self._in_text = self._in_phonetic = False

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        self._in_text = name == "t"
        self._in_phonetic = self._in_phonetic or name == "rPh"

    def _end(self, name: str) -> None:
        self._in_text = False
        if name == "rPh":
            self._in_phonetic = False
        elif name == "si":
            self.strings.append("".join(self._parts))
            self._parts = []

    def _text(self, text: str) -> None:
        if self._in_text and not self._in_phonetic:
            self._parts.append(text)


class _ExcelReader(_CellReader):
    def __init__(self, shared: list[str], cells: int) -> None:
        super().__init__()
        self._cells = cells
        self._shared = shared
        self._shared_length = 0
        self._type = "n"
        self._column = -1
        self._value: list[str] = []
        self._in_value = False

    @property
    def cells(self) -> int:
        return self._cells

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        if name == "c":
            self._type = attributes.get("t", "n")
            reference = attributes.get("r", "")
            self._column = _column_number(reference) if reference else self._column + 1
            self._value = []
        elif name in ("v", "t"):
            self._in_value = True

    def _end(self, name: str) -> None:
        if name in ("v", "t"):
            self._in_value = False
        elif name == "c":
            value = self._cell_value("".join(self._value))
            if value:
                self._add_cell(self._column, value)
        elif name == "row":
            self._end_row()
            self._column = -1

    def _text(self, text: str) -> None:
        if self._in_value:
            self._value.append(text)

    def _cell_value(self, text: str) -> str:
        if self._type == "s":
            number = int(text) if text.isascii() and text.isdigit() and len(text) < 10 else -1
            value = self._shared[number] if 0 <= number < len(self._shared) else ""
            self._shared_length += len(value)
            if self._shared_length > _MAX_SHARED_LENGTH:  # one long string in many cells
                raise xml.XmlRefusedError(f"more than {_MAX_SHARED_LENGTH} characters")
            return value
        return _BOOLEANS.get(text, text) if self._type == "b" else text


def _column_number(reference: str) -> int:
    """The number of the column in a reference such as `C12`, from 0."""
    number = 0
    for letter in reference[:4]:
        if not "A" <= letter <= "Z":
            break
        number = number * 26 + ord(letter) - ord("A") + 1
    return max(number - 1, 0)


# ── OpenDocument ────────────────────────────────────────────────────────────────────────────────────────────────


class _OpenDocumentReader(_CellReader):
    def __init__(self) -> None:
        super().__init__()
        self.sheets: list[Sheet] = []
        self._name = ""
        self._column = 0
        self._row_repeats = self._cell_repeats = 1
        self._stored = ""
        self._words: list[str] = []
        self._in_paragraph = 0

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        if name == "table":
            self._name, self.rows = _of_local_name(attributes, "name"), []
        elif name == "table-row":
            self._column = 0
            self._row_repeats = _repeats(attributes, "number-rows-repeated")
        elif name in ("table-cell", "covered-table-cell"):
            self._cell_repeats = _repeats(attributes, "number-columns-repeated")
            self._stored = next(
                filter(None, (_of_local_name(attributes, key) for key in ("value", "date-value", "boolean-value"))), ""
            )
            self._words = []
        elif name == "p":
            self._in_paragraph += 1
            if self._words:
                self._words.append("\n")

    def _end(self, name: str) -> None:
        if name == "p":
            self._in_paragraph -= 1
        elif name in ("table-cell", "covered-table-cell"):
            value = self._stored or "".join(self._words)
            if value:
                for column in range(self._column, self._column + self._cell_repeats):
                    self._add_cell(column, value)
            self._column += self._cell_repeats
        elif name == "table-row":
            self._repeat_row()
        elif name == "table":
            self.sheets.append(Sheet(self._name, self.rows))

    def _text(self, text: str) -> None:
        if self._in_paragraph:
            self._words.append(text)

    def _repeat_row(self) -> None:
        width, before = len(self._row), len(self.rows)
        self._end_row()
        if width and self._row_repeats > 1:
            self._cells += width * (self._row_repeats - 1)
            if self._cells > MAX_CELLS:
                raise xml.XmlRefusedError(f"more than {MAX_CELLS} cells")
            self.rows += [self.rows[before]] * (self._row_repeats - 1)


def _of_local_name(attributes: dict[str, str], name: str) -> str:
    return next((value for key, value in attributes.items() if key.rpartition(" ")[2] == name), "")


def _repeats(attributes: dict[str, str], name: str) -> int:
    text = _of_local_name(attributes, name)
    return max(int(text), 1) if text.isascii() and text.isdigit() and len(text) < 10 else 1
