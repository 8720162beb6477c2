"""The text of a document in lines, as it is compared and shown in differences."""

from __future__ import annotations

from msgspec import Struct

from webstrata.observe.documents.archive_members import archive_members
from webstrata.observe.documents.container import ContainerError
from webstrata.observe.documents.epub import epub_text
from webstrata.observe.documents.formats import ARCHIVES, SPREADSHEETS, TEXT_FORMATS, document_format
from webstrata.observe.documents.icalendar import calendar_entries
from webstrata.observe.documents.office import office_text
from webstrata.observe.documents.pdf import pdf_content
from webstrata.observe.documents.spreadsheet import sheets_of
from webstrata.observe.html.charset import decode


class DocumentText(Struct, frozen=True, kw_only=True, gc=False):
    """The text of a document, or why there is none."""

    text: str = ""
    """In lines; empty if there is none."""
    rendered: str | None = None
    """Of a PDF without text: the digest of its rendered pages."""
    note: str | None = None


def parsed_text(body: bytes, name: str) -> DocumentText:
    """The text of a document of one of `TEXT_FORMATS`. Never raises."""
    if name == "pdf":
        pdf = pdf_content(body)
        return DocumentText(text=pdf.text, rendered=pdf.rendered, note=pdf.note)
    try:
        text = epub_text(body) if name == "epub" else office_text(body, name)
    except (ContainerError, ValueError) as error:
        return DocumentText(note=" ".join(str(error).split())[:160])
    return DocumentText(text=text, note=None if text else "no text")


def document_text(body: bytes, media_type: str, url: str = "") -> str | None:
    """The lines of a document: its text, its rows, its events, the list of its members or its XML.

    None for other formats, and if the document cannot be read. Never raises.
    """
    name = document_format(body, media_type, url)
    try:
        if name in SPREADSHEETS:
            return _sheet_lines(body, name)
        if name == "calendar":
            return "\n".join(entry.line for entry in calendar_entries(body, None))
        if name in ARCHIVES:
            return "\n".join(
                f"{member.name or 'content'}, {member.size:,} bytes, {member.digest[:12]}"
                for member in archive_members(body)
            )
    except (ContainerError, ValueError):
        return None
    if name == "svg":
        return decode(body, None, html=True, default="utf-8")[0]
    return (parsed_text(body, name).text or None) if name in TEXT_FORMATS else None


def _sheet_lines(body: bytes, name: str) -> str:
    lines: list[str] = []
    for sheet in sheets_of(body, name):
        lines.append(sheet.name)
        lines += ["\t".join(" ".join(cell.split()) for cell in row) for row in sheet.rows]
    return "\n".join(lines)
