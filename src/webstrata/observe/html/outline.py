"""Tree -> the lines of its body, its links, and which of them are the main content: shared by all that is read from it.

By these rules (docs/reference/fingerprint.md has them in full):

1. The tree is the one a browser with scripting on builds (WHATWG parsing), so the content of `noscript` is no markup.
2. What stands in silent elements, in comments and in attributes says nothing.
3. All other text of the body counts in document order, whether or not a style sheet hides it. A line ends where an
   element that ends lines starts or ends. Inside a line two texts are joined as they stand (`foo<b>bar</b>` is one
   word), unless between them both an element starts and an element ends (`<a>foo</a><a>bar</a>`): then a space is put.
4. White space is ASCII's (U+0009 to U+000D and U+0020) and U+00A0. It is collapsed to one space, and cut at the ends.
   Lines are in Unicode's composed form (NFC) and, here, in UTF-8. Empty lines do not count.

The compiled kernel does it, on the tree as the parser serialises it: asking Python for every node took longer than all
the rest.
"""

from __future__ import annotations

import unicodedata

import numpy as np
from selectolax.lexbor import LexborNode

from webstrata.observe.kernel import library as kernel
from webstrata.observe.rules.reserialise import reserialised

Span = tuple[int, int]

_LINE_FEED = 0x0A
_NO_LINES = np.zeros(0, dtype=np.int32)


class HtmlOutline:
    """The body of a page."""

    __slots__ = ("has_body", "hrefs", "line_ends", "main_lines", "main_links", "pointers", "text")

    def __init__(self, read: kernel.KernelPage | None = None) -> None:
        self.has_body = read is not None
        self.text = b"" if read is None else read.text.copy()
        """All lines, one space apart."""
        self.line_ends = _NO_LINES if read is None else np.frombuffer(read.line_ends.copy(), dtype=np.int32)
        """Where in the text each line ends."""
        self.hrefs = b"" if read is None else read.hrefs.copy()
        """What the links say, as written, a 0 behind each."""
        self.pointers = b"" if read is None else read.pointers.copy()
        """The same for image maps and inline frames."""
        self.main_lines: list[Span] = [] if read is None else read.main_lines.spans()
        """First line and end of each stretch of the main content, without the noise in it."""
        self.main_links = b"" if read is None else read.main_links.copy()
        """The same for its links, as the kernel writes it."""

    def lined(self, first: int = 0, end: int | None = None) -> bytes:
        """Some lines, or all, a line feed between them."""
        ends = self.line_ends[first:end]
        if not len(ends):
            return b""
        start = self._start(first)
        text = np.frombuffer(self.text, dtype=np.uint8)[start : ends[-1]].copy()
        text[ends[:-1] - start] = _LINE_FEED
        return text.tobytes()

    def joined(self, first: int, end: int) -> bytes:
        """Some lines, at least one, joined by a space."""
        return self.text[self._start(first) : self.line_ends[end - 1]]

    def _start(self, line: int) -> int:
        return int(self.line_ends[line - 1]) + 1 if line else 0


def outline(body: LexborNode | None) -> HtmlOutline:
    """Of a page's body element, if it has one."""
    if body is None or body.tag != "body":
        return HtmlOutline()
    read = _read((body.html or "").encode("utf-8", "replace"), is_spelled=False)
    if read is None:
        read = _read(reserialised(body), is_spelled=True)
    return read or HtmlOutline()


def _read(html: bytes, *, is_spelled: bool) -> HtmlOutline | None:
    """None where the kernel cannot tell what the serialised tree was."""
    page = kernel.page_read(html, len(html), is_spelled)
    if not page:
        raise MemoryError
    try:
        read = page.contents
        if read.status == kernel.READ:
            if not read.is_composed:
                text, linked = composed(read.text.copy().decode()), composed(read.linked.copy().decode())
                kernel.page_recompose(page, text, len(text), linked, len(linked))
            kernel.page_finish(page)
        if read.status == kernel.NO_MEMORY:
            raise MemoryError
        return HtmlOutline(read) if read.status == kernel.READ else None
    finally:
        kernel.page_free(page)


def clean(text: str) -> list[bytes]:
    """The words of a text, in UTF-8: what white space leaves of its composed form."""
    return composed(text).split()


def composed(text: str) -> bytes:
    """The text in NFC and UTF-8, with spaces for no-break spaces."""
    if not text.isascii():
        text = unicodedata.normalize("NFC", text).replace("\xa0", " ")
    return text.encode("utf-8", "replace")
