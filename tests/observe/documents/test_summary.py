"""One line about each kind of document, for people."""

from __future__ import annotations

import gzip

import pytest

from tests.observe.documents import samples
from webstrata.observe.documents.summary import describe, readable_size

SVG = b'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 32"><path d="M0 0"/></svg>'

SUMMARIES = [
    (samples.pdf([["one"], ["two"]]), "application/pdf", "PDF, 2 pages, "),
    (samples.docx(["one"]), "application/zip", "Word document, "),
    (samples.odt(["one"]), "", "OpenDocument text, "),
    (samples.pptx([["one"]]), "application/octet-stream", "PowerPoint presentation, "),
    (samples.xlsx({"a": [["x"]], "b": [["y"]]}), "application/octet-stream", "Excel workbook, 2 sheets, "),
    (samples.ods({"a": [["x"]]}), "application/octet-stream", "OpenDocument spreadsheet, 1 sheet, "),
    (samples.epub(["one", "two"]), "application/epub+zip", "EPUB, 2 documents, "),
    (samples.encoded(samples.photograph(1, (64, 48))), "image/png", "PNG 64×48, "),
    (samples.encoded(samples.photograph(1, (64, 48)), "JPEG"), "application/octet-stream", "JPEG 64×48, "),
    (SVG, "image/svg+xml", f"SVG 24×32, {len(SVG)} bytes"),
    (samples.calendar(["UID:1", "UID:2"]), "text/calendar", "iCalendar, 2 entries, "),
    (samples.zipped({"a": "1", "b": "2"}), "application/zip", "ZIP, 2 files, "),
    (gzip.compress(b"text", mtime=0), "application/gzip", "gzip, 1 file, "),
    (bytes(3114), "application/octet-stream", "binary, 3,114 bytes"),
    (b"{}", "application/json", "JSON, 2 bytes"),
    (b"\0" * 12, "video/mp4", "video/mp4, 12 bytes"),
]


@pytest.mark.parametrize(("body", "media_type", "summary"), SUMMARIES, ids=[row[2] for row in SUMMARIES])
def test_documents_in_one_line(body: bytes, media_type: str, summary: str) -> None:
    """The summary begins with the format and what it holds, and ends with the size."""
    assert describe(body, media_type).startswith(summary)
    assert describe(body, media_type).endswith(readable_size(len(body)))


@pytest.mark.parametrize("media_type", ["application/pdf", "image/png", "application/zip", "text/calendar"])
def test_broken_documents_in_one_line(media_type: str) -> None:
    """A document that cannot be read is described by its format and size."""
    assert describe(b"broken", media_type).endswith(", 6 bytes")


def test_sizes() -> None:
    """Sizes are rounded to a unit that people read."""
    sizes = [readable_size(size) for size in (0, 1, 3114, 31_234, 1_234_567)]
    assert sizes == ["0 bytes", "1 byte", "3,114 bytes", "31 KB", "1.2 MB"]
