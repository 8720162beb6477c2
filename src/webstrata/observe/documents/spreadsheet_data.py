"""Spreadsheets as data: the digest of all sheets, the fields (columns of sheets), and the rows for differences.

Each sheet is compared like a CSV table: the order of rows does not count if its first column identifies them.
"""

from __future__ import annotations

from webstrata.observe.data.data_field import MAX_FIELDS, DataField, limited
from webstrata.observe.data.digest import DataDigest, digest_of, refused
from webstrata.observe.data.table import TableContent, TableError, content_of_rows
from webstrata.observe.documents.container import ContainerError
from webstrata.observe.documents.formats import document_format
from webstrata.observe.documents.spreadsheet import SheetRow, sheets_of


def spreadsheet_digest(
    body: bytes, media_type: str, url: str, *, unordered: bool = False, ordered: bool = False
) -> DataDigest:
    """The digest of all sheets with cells, in their order. Never raises."""
    try:
        contents = _contents(body, media_type, url, unordered=unordered, ordered=ordered)
    except (ContainerError, TableError) as error:
        return refused("spreadsheet", error)
    if not contents:
        return refused("spreadsheet", "no cells")
    parts = [part for name, content in contents for part in (name.encode("utf-8", "replace"), *content.parts)]
    size = sum(content.cells for _, content in contents)
    return DataDigest(
        kind="spreadsheet",
        digest=digest_of("spreadsheet", parts),
        size=size,
        read_fields=lambda: limited(sorted(_fields(contents)), MAX_FIELDS),
    )


def _fields(contents: list[tuple[str, TableContent]]) -> list[DataField]:
    """One field per column of each sheet: `Sheet!Column`."""
    return [field for name, content in contents for field in content.fields(f"{name}!")]


def spreadsheet_sheets(body: bytes, media_type: str, url: str) -> dict[str, list[SheetRow]] | None:
    """The rows of the sheets that have cells, by name; None if the spreadsheet cannot be read. Never raises."""
    try:
        sheets = sheets_of(body, document_format(body, media_type, url))
    except ContainerError:
        return None
    return {sheet.name: sheet.rows for sheet in sheets if sheet.rows}


def _contents(
    body: bytes, media_type: str, url: str, *, unordered: bool, ordered: bool
) -> list[tuple[str, TableContent]]:
    """Name and canonical content of each sheet that has cells. Raises ContainerError or TableError."""
    sheets = sheets_of(body, document_format(body, media_type, url))
    return [
        (sheet.name, content_of_rows(sheet.rows, unordered=unordered, ordered=ordered))
        for sheet in sheets
        if sheet.rows
    ]
