"""`describe`: a document in one line for people, like `PNG 640×480, 31 KB`."""

from __future__ import annotations

from webstrata.observe.documents.archive_members import archive_members
from webstrata.observe.documents.container import ContainerError, ZipContainer
from webstrata.observe.documents.epub import reading_order
from webstrata.observe.documents.formats import ARCHIVES, SPREADSHEETS, document_format
from webstrata.observe.documents.icalendar import calendar_entries
from webstrata.observe.documents.image import image_summary
from webstrata.observe.documents.pdf import pdf_page_count
from webstrata.observe.documents.spreadsheet import sheet_names
from webstrata.observe.documents.svg import svg_size
from webstrata.wording import counted

_NAMES = {
    "docx": "Word document",
    "odt": "OpenDocument text",
    "pptx": "PowerPoint presentation",
    "odp": "OpenDocument presentation",
    "xlsx": "Excel workbook",
    "ods": "OpenDocument spreadsheet",
    "epub": "EPUB",
    "zip": "ZIP",
    "tar": "tar archive",
    "gzip": "gzip",
    "calendar": "iCalendar",
    "svg": "SVG",
    "pdf": "PDF",
    "image": "image",
}
_PLAIN_NAMES = {
    "": "binary",
    "application/octet-stream": "binary",
    "text/plain": "text",
    "text/csv": "CSV",
    "application/json": "JSON",
    "application/xml": "XML",
    "text/xml": "XML",
}


def describe(body: bytes, media_type: str) -> str:
    """The format, what it holds and the size of a document. Never raises."""
    name = document_format(body, media_type)
    if not name:
        kind = _PLAIN_NAMES.get(media_type, media_type)
        return f"{kind}, {readable_size(len(body))}"
    try:
        details = _details(body, name)
    except (ContainerError, ValueError):
        details = _NAMES[name]
    return f"{details}, {readable_size(len(body))}"


def _details(body: bytes, name: str) -> str:
    """The name of the format with its details. Raises ContainerError or ValueError if they cannot be read."""
    if name == "image":
        return image_summary(body) or _NAMES[name]
    if name == "svg":
        size = svg_size(body)
        return f"SVG {size[0]}×{size[1]}" if size else "SVG"
    if name == "pdf":
        pages = pdf_page_count(body)
        return "PDF" if pages is None else f"PDF, {_counted(pages, 'page')}"
    if name in SPREADSHEETS:
        return f"{_NAMES[name]}, {_counted(len(sheet_names(body, name)), 'sheet')}"
    if name == "epub":
        return f"EPUB, {_counted(len(reading_order(ZipContainer(body))), 'document')}"
    if name == "calendar":
        return f"iCalendar, {_counted(len(calendar_entries(body, None)), 'entry', 'entries')}"
    if name in ARCHIVES:
        return f"{_NAMES[name]}, {_counted(len(archive_members(body)), 'file')}"
    return _NAMES[name]


def _counted(number: int, noun: str, nouns: str = "") -> str:
    return counted(f"{number:,}", noun, nouns)


def readable_size(size: int) -> str:
    """A number of bytes for people: `3,114 bytes`, `31 KB`, `1.2 MB`, `2.0 GB`."""
    if size < 10_000:
        return _counted(size, "byte")
    if size < 1_000_000:
        return f"{size / 1000:.0f} KB"
    return f"{size / 1_000_000:.1f} MB" if size < 1_000_000_000 else f"{size / 1_000_000_000:.1f} GB"
