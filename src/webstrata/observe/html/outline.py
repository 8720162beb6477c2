"""The outline of a page: the lines and links of its body, and its parts (header, body, side, footer).

The rules for lines (complete in docs/reference/fingerprint.md):

1. The tree is the one that a browser with scripting enabled builds (WHATWG parsing), so `noscript` contains no markup.
2. The content of invisible elements, comments and attributes is not text.
3. All other text of the body counts in document order, even if a style sheet hides it. A line ends where an element
   that ends lines starts or ends. Inside a line two texts are joined without a space (`foo<b>bar</b>` is one word),
   unless both a start tag and an end tag are between them (`<a>foo</a><a>bar</a>`): then a space is inserted.
4. White space is U+0009 to U+000D, U+0020 and U+00A0. It is collapsed to one space and removed at the ends of a line.
   Lines are in Unicode's composed form (NFC), here in UTF-8. Empty lines do not count.

The main content is selected after WCD (section 4.1) and Pan et al. by link text density, number and density of links,
and length of text. The selection prefers including a menu to losing a paragraph, because text outside it is not
compared by default. Inside it, the body part is the text itself; comments, captions, forms and other additions are the
side part. All sums are of integers, so that every implementation gives the same parts. The kernel computes lines, links
and parts (`observe/kernel`).
"""

from __future__ import annotations

import hashlib
from struct import pack

import numpy as np
from selectolax.lexbor import LexborNode

from webstrata.observe.kernel.choice import KERNEL
from webstrata.observe.kernel.results import BodyOutline, Span, composed, without_holes

_LINE_FEED = 0x0A
_NOTHING = BodyOutline(b"", np.zeros(0, dtype=np.int32), b"", b"", [], [], b"")


class HtmlOutline:
    """The lines and links of a page's body element."""

    __slots__ = ("body_lines", "has_body", "hrefs", "line_ends", "main_lines", "main_links", "pointers", "text")

    def __init__(self, body: BodyOutline | None = None) -> None:
        """Without a body element: no lines and no links."""
        fields = body or _NOTHING
        self.has_body = body is not None
        self.text = fields.text
        """All lines, separated by one space."""
        self.line_ends = fields.line_ends
        """The position in the text at which each line ends."""
        self.hrefs = fields.hrefs
        """The `href` values of links as written, each followed by a 0."""
        self.pointers = fields.pointers
        """The addresses of image maps and inline frames, each followed by a 0."""
        self.main_lines = fields.main_lines
        """The ranges of lines that are main content, without the noise inside it."""
        self.body_lines = fields.body_lines
        """The ranges of these lines that are the text itself."""
        self.main_links = fields.main_links
        """The ranges of links in the main content, as pairs of int32."""

    def lined(self, first: int = 0, end: int | None = None) -> bytes:
        """A range of lines, separated by line feeds."""
        ends = self.line_ends[first:end]
        if not len(ends):
            return b""
        start = self._start(first)
        text = np.frombuffer(self.text, dtype=np.uint8)[start : ends[-1]].copy()
        text[ends[:-1] - start] = _LINE_FEED
        return text.tobytes()

    def joined(self, first: int, end: int) -> bytes:
        """A range of at least one line, separated by spaces."""
        return self.text[self._start(first) : self.line_ends[end - 1]]

    def _start(self, line: int) -> int:
        return int(self.line_ends[line - 1]) + 1 if line else 0


def outline(body: LexborNode | None) -> HtmlOutline:
    """The outline of a body element; empty if the page has none."""
    if body is None or body.tag != "body":
        return HtmlOutline()
    return HtmlOutline(KERNEL.outline_body(body))


def clean(text: str) -> list[bytes]:
    """The words of a text in composed form, in UTF-8."""
    return composed(text).split()


ALL_LINKS = pack("=ii", 0, 2**31 - 1)


class PageParts:
    """The lines of a page's body element, each in one part, and the links in the main content (body and side)."""

    __slots__ = ("_body", "_footer", "_header", "_main", "_outline", "_side", "main_links")

    def __init__(self, outline: HtmlOutline) -> None:
        number = len(outline.line_ends)
        lines = outline.main_lines
        self.main_links = outline.main_links
        """The ranges of links, as pairs of int32."""
        if not lines:  # only menus: then the whole page is the main content
            lines, self.main_links = [(0, number)] if number else [], ALL_LINKS
        self._outline = outline
        self._main = lines
        self._body = outline.body_lines or lines
        self._side = [rest for span in lines for rest in without_holes(span, self._body)] if lines != self._body else []
        first, last = (lines[0][0], lines[-1][1]) if lines else (0, 0)
        self._header = [(0, first)] if first else []
        self._footer = without_holes((first, number), lines) if last < number or len(lines) > 1 else []

    @property
    def header(self) -> str:
        """The text of the header in lines."""
        return self._lined(self._header)

    @property
    def body(self) -> str:
        return self._lined(self._body)

    @property
    def side(self) -> str:
        """The lines of the main content that are not in the body part."""
        return self._lined(self._side)

    @property
    def footer(self) -> str:
        return self._lined(self._footer)

    def digests(self, title: bytes) -> tuple[str, str, str, str, str, str]:
        """MD5 of the title, of each part and of the main content, with lines joined by one space."""
        header, body, side, footer = map(self._digest, (self._header, self._body, self._side, self._footer))
        main = self._digest(self._main) if self._side else body
        return _md5(title), header, body, side, footer, main

    def _lined(self, spans: list[Span]) -> str:
        return b"\n".join([self._outline.lined(start, end) for start, end in spans]).decode("utf-8")

    def _digest(self, spans: list[Span]) -> str:
        return _md5(b" ".join([self._outline.joined(start, end) for start, end in spans]))


def _md5(text: bytes) -> str:
    return hashlib.md5(text, usedforsecurity=False).hexdigest()
