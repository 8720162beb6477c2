"""PDF: the text of each page; for documents without text (scans), a digest of the rendered pages.

A PDF that was generated again has other bytes (times, ids, the order of objects), but the same text. The library is
PDFium; it is loaded when the first PDF is parsed. Documents beyond the limits are compared by their bytes.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from msgspec import Struct

if TYPE_CHECKING:
    import pypdfium2

MAX_BYTES = 200 * 1024 * 1024
MAX_PAGES = 2000
MAX_TEXT_LENGTH = 16 * 1024 * 1024
"""Characters of all pages."""
MAX_RENDERED_PAGES = 50
"""A scan of more pages is compared by its bytes: decoding its pictures takes long."""
_RENDERED_WIDTH, _RENDERED_HEIGHT = 256, 512
"""Pixels of a rendered page at most: small, but the change of one letter changes some of them."""

_HYPHEN = re.compile("[\x02\ufffe\u00ad](?:\r?\n)?")
"""PDFium marks the hyphen of a divided word. Another layout divides other words."""
_LINE_END = re.compile(r"\r\n?|\x0b|\f")
_CONTROL = re.compile("[\x00-\x08\x0e-\x1f\ufffe\uffff]")


class PdfContent(Struct, frozen=True, kw_only=True):
    """What is compared of a PDF."""

    pages: tuple[str, ...] = ()
    """The text of each page, in lines."""
    rendered: str | None = None
    """Of a document without text: SHA-256 of its pages as small grey pictures."""
    note: str | None = None
    """Why the document is compared by its bytes, or why its text is not."""

    @property
    def text(self) -> str:
        """The text of all pages; an empty line separates pages."""
        return "\n\n".join(self.pages)


class _PdfError(ValueError):
    """The document cannot be read; the message is the reason."""


def pdf_content(body: bytes) -> PdfContent:
    """The text of a PDF, or the digest of its rendered pages. Never raises."""
    try:
        with _opened(body) as document:
            return _content(document)
    except _PdfError as error:
        return PdfContent(note=str(error))


def pdf_page_count(body: bytes) -> int | None:
    """The number of pages; None if the document cannot be read. Never raises."""
    try:
        with _opened(body) as document:
            return len(document)
    except _PdfError:
        return None


@contextmanager
def _opened(body: bytes) -> Iterator[pypdfium2.PdfDocument]:
    """An open document. Raises _PdfError, also for errors of the library in the block."""
    import pypdfium2

    if len(body) > MAX_BYTES:
        raise _PdfError(f"longer than {MAX_BYTES} bytes")
    try:
        document = pypdfium2.PdfDocument(body)
    except pypdfium2.PdfiumError as error:
        raise _PdfError("encrypted" if "password" in str(error).lower() else f"not a PDF: {error}") from None
    try:
        yield document
    except (pypdfium2.PdfiumError, OverflowError) as error:
        raise _PdfError(f"a page is broken: {error}") from None
    finally:
        document.close()


def _content(document: pypdfium2.PdfDocument) -> PdfContent:
    count = len(document)
    if not count:
        return PdfContent(note="no pages")
    if count > MAX_PAGES:
        return PdfContent(note=f"more than {MAX_PAGES} pages")
    pages: list[str] = []
    length = 0
    for index in range(count):
        pages.append(_page_text(document, index))
        length += len(pages[-1])
        if length > MAX_TEXT_LENGTH:
            return PdfContent(note=f"more than {MAX_TEXT_LENGTH} characters")
    if any(pages):
        return PdfContent(pages=tuple(pages))
    if count > MAX_RENDERED_PAGES:
        return PdfContent(note=f"no text, and more than {MAX_RENDERED_PAGES} pages")
    return PdfContent(rendered=_rendered(document), note="no text: the pages are compared as pictures")


def _page_text(document: pypdfium2.PdfDocument, index: int) -> str:
    page = document[index]
    try:
        text_page = page.get_textpage()
        try:
            text = text_page.get_text_range(errors="replace")
        finally:
            text_page.close()
    finally:
        page.close()
    text = _CONTROL.sub(" ", _LINE_END.sub("\n", _HYPHEN.sub("", text)))
    return "\n".join(filter(None, (" ".join(line.split()) for line in text.split("\n"))))


def _rendered(document: pypdfium2.PdfDocument) -> str:
    """The digest of small pictures of the pages, in grey."""
    state = hashlib.sha256(b"%d" % len(document))
    for index in range(len(document)):
        page = document[index]
        width, height = page.get_size()
        scale = min(_RENDERED_WIDTH / max(width, 1.0), _RENDERED_HEIGHT / max(height, 1.0))
        bitmap = page.render(scale=scale, grayscale=True)
        state.update(b"%d %d:" % (bitmap.width, bitmap.height))
        state.update(bytes(bitmap.buffer))
        bitmap.close()
        page.close()
    return state.hexdigest()
