"""What both kernels return (the outline of a body, the links of a page), and operations on spans and texts."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Span = tuple[int, int]
"""First index and end of a range."""


class BodyOutline(NamedTuple):
    """The lines and links of a page's body element."""

    text: bytes
    """All lines, separated by one space."""
    line_ends: NDArray[np.int32]
    """The position in the text at which each line ends."""
    hrefs: bytes
    """The `href` values of links as written, each followed by a 0."""
    pointers: bytes
    """The addresses of image maps and inline frames, each followed by a 0."""
    main_lines: list[Span]
    """The ranges of lines that are main content, without navigation and other noise inside it."""
    body_lines: list[Span]
    """The ranges of these lines that are its text, without additions to it (comments, captions, related pages)."""
    main_links: bytes
    """The ranges of links in the main content, as pairs of int32."""


class LinkTable(NamedTuple):
    """The different URLs that a page links to."""

    urls: bytes
    """In the order of first appearance, each followed by a 0."""
    sorted_texts: bytes
    """The texts by which URLs and contacts are compared, sorted, without duplicates, separated by line feeds."""
    hashes: bytes
    """Sorted uint64 hashes of these texts; empty if not requested."""
    contacts: bytes
    """E-mail addresses and telephone numbers in the order of first appearance, each followed by a 0."""
    internal: int
    external: int
    documents: int


MAX_LINKS = 50_000
"""Different URLs collected from one page; the rest are left out. links.c has the same numbers."""
MAX_CONTACTS = 1_000


def without_holes(whole: Span, holes: Iterable[Span]) -> list[Span]:
    """A span without its holes. They are in order; holes that are not completely inside the span have no effect."""
    first, end = whole
    remaining: list[Span] = []
    for hole, hole_end in holes:
        if first <= hole < hole_end <= end:
            if first < hole:
                remaining.append((first, hole))
            first = hole_end
    return [*remaining, (first, end)] if first < end else remaining


def composed(text: str) -> bytes:
    """The text in Unicode's composed form (NFC), in UTF-8, with spaces for no-break spaces."""
    if not text.isascii():
        text = unicodedata.normalize("NFC", text).replace("\xa0", " ")
    return text.encode("utf-8", "replace")
