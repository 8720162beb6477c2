"""Outline -> title, header, body and footer: the main content, found by how much of a box's text is links.

After WCD (section 4.1) and Pan et al.: link text density, amount of links, their density, and length of text decide.
All sums are of whole numbers, so that every implementation divides a page alike (docs/reference/fingerprint.md).
Rather a menu too much than a paragraph too little: what is left out of the body is not looked at by default.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from struct import pack

from webstrata.observe.html.outline import HtmlOutline, Span

ALL_LINKS = pack("=ii", 0, 2**31 - 1)


class PageParts:
    """The lines of a page's body element, each in one part, and which links stand in the body part."""

    __slots__ = ("_body", "_footer", "_header", "_outline", "main_links")

    def __init__(self, outline: HtmlOutline) -> None:
        number = len(outline.line_ends)
        lines = outline.main_lines
        self.main_links = outline.main_links
        """Spans, as the kernel writes them."""
        if not lines:  # nothing but menus: then these are the page
            lines, self.main_links = [(0, number)] if number else [], ALL_LINKS
        self._outline = outline
        self._body = lines
        first, last = (lines[0][0], lines[-1][1]) if lines else (0, 0)
        self._header = [(0, first)] if first else []
        self._footer = _without((first, number), lines) if last < number or len(lines) > 1 else []

    @property
    def header(self) -> str:
        """Its text, in lines."""
        return self._lined(self._header)

    @property
    def body(self) -> str:
        return self._lined(self._body)

    @property
    def footer(self) -> str:
        return self._lined(self._footer)

    def digests(self, title: bytes) -> tuple[str, str, str, str]:
        """MD5 of the title and of each part, its lines joined by one space."""
        return _md5(title), self._digest(self._header), self._digest(self._body), self._digest(self._footer)

    def _lined(self, spans: list[Span]) -> str:
        return b"\n".join([self._outline.lined(start, end) for start, end in spans]).decode("utf-8")

    def _digest(self, spans: list[Span]) -> str:
        return _md5(b" ".join([self._outline.joined(start, end) for start, end in spans]))


def _md5(text: bytes) -> str:
    return hashlib.md5(text, usedforsecurity=False).hexdigest()


def _without(whole: Span, holes: Iterable[Span]) -> list[Span]:
    """What holes leave of a span. They are in order, and each lies inside, or outside and counts for nothing."""
    place, end = whole
    left: list[Span] = []
    for hole, behind in holes:
        if place <= hole < behind <= end:
            if place < hole:
                left.append((place, hole))
            place = behind
    return [*left, (place, end)] if place < end else left
