"""Outline -> title, header, body and footer: the main content, found by how much of a box's text is links.

After WCD (section 4.1) and Pan et al.: link text density, amount of links, their density, and length of text decide.
All sums are of whole numbers, so that every implementation divides a page alike (docs/reference/fingerprint.md).
Rather a menu too much than a paragraph too little: what is left out of the body is not looked at by default.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

from webstrata.observe.outline import Box, Outline

_ASIDE = frozenset({"aside", "dialog", "form", "menu", "nav"})
_MARGINS = frozenset({"footer", "header"})
_SECTIONS = frozenset({"article", "main", "section"})
"""A header or footer inside one of these belongs to it, and not to the page."""
_LAYOUT = frozenset({"div", "section"})


_Span = tuple[int, int]


class Parts:
    """The lines of a page's body element, each in one part, and what the links of the body part say."""

    __slots__ = ("_body", "_footer", "_header", "_outline", "main_hrefs")

    def __init__(self, outline: Outline) -> None:
        number = len(outline.line_ends)
        lines, links = _main_spans(outline.boxes)
        if not lines:  # nothing but menus: then these are the page
            lines, links = [(0, number)] if number else [], [(0, len(outline.hrefs))]
        self._outline = outline
        self._body = lines
        first, last = (lines[0][0], lines[-1][1]) if lines else (0, 0)
        self._header = [(0, first)] if first else []
        self._footer = _without((first, number), lines) if last < number or len(lines) > 1 else []
        self.main_hrefs = [href for start, end in links for href in outline.hrefs[start:end]]

    @property
    def header(self) -> list[bytes]:
        return self._lines(self._header)

    @property
    def body(self) -> list[bytes]:
        return self._lines(self._body)

    @property
    def footer(self) -> list[bytes]:
        return self._lines(self._footer)

    def digests(self, title: bytes) -> tuple[str, str, str, str]:
        """MD5 of the title and of each part, its lines joined by one space."""
        return _md5(title), self._digest(self._header), self._digest(self._body), self._digest(self._footer)

    def _lines(self, spans: list[_Span]) -> list[bytes]:
        return [line for start, end in spans for line in self._outline.lines(start, end)]

    def _digest(self, spans: list[_Span]) -> str:
        return _md5(b" ".join([self._outline.joined(start, end) for start, end in spans]))


def _md5(text: bytes) -> str:
    return hashlib.md5(text, usedforsecurity=False).hexdigest()


def _without(whole: _Span, holes: Iterable[_Span]) -> list[_Span]:
    """What holes leave of a span. They are in order, and each lies inside, or outside and counts for nothing."""
    place, end = whole
    left: list[_Span] = []
    for hole, behind in holes:
        if place <= hole < behind <= end:
            if place < hole:
                left.append((place, hole))
            place = behind
    return [*left, (place, end)] if place < end else left


_IN, _NOISE, _INSIDE_NOISE = range(3)


def _main_spans(boxes: list[Box]) -> tuple[list[_Span], list[_Span]]:
    """The lines and the links of the main box, without the noise in it."""
    if not boxes:
        return [], []
    start = _start(boxes)
    inner = _inner(boxes, start)
    states = _states(boxes, start, inner)
    main = boxes[_main(boxes, start, inner, states, _kept(boxes, start, inner, states))]
    noise = [boxes[place] for place in inner if states[place] == _NOISE]
    lines = _without((main.first_line, main.end_line), [(box.first_line, box.end_line) for box in noise])
    return lines, _without((main.first_link, main.end_link), [(box.first_link, box.end_link) for box in noise])


def _start(boxes: list[Box]) -> int:
    """Where to look: in the one `main`, unless it holds less than a tenth; else in the whole body."""
    mains = [place for place, box in enumerate(boxes) if box.tag == "main"]
    return mains[0] if len(mains) == 1 and boxes[mains[0]].own_text * 10 >= boxes[0].own_text else 0


def _inner(boxes: list[Box], start: int) -> range:
    """The boxes inside one: those that follow, up to the first whose surrounding box came before."""
    place = start + 1
    while place < len(boxes) and boxes[place].parent >= start:
        place += 1
    return range(start + 1, place)


def _states(boxes: list[Box], start: int, inner: range) -> bytearray:
    """Which boxes are noise, the outermost ones told from those inside them."""
    states = bytearray(len(boxes))
    in_section = bytearray(len(boxes))
    whole = boxes[start].own_text
    is_index = whole * 4 < boxes[start].text  # a page of links: there they are the content
    in_section[start] = boxes[start].tag in _SECTIONS
    for place in inner:
        box = boxes[place]
        if states[box.parent] != _IN:
            states[place] = _INSIDE_NOISE
            continue
        tag, own = box.tag, box.own_text
        if tag in _ASIDE or (tag in _MARGINS and not in_section[box.parent]):
            states[place] = own * 2 <= whole
        elif tag in _LAYOUT and own * 5 <= whole and not is_index:
            links = box.end_link - box.first_link
            states[place] = links >= 2 and (box.link_text * 2 > box.text or links * 20 > box.text)
        in_section[place] = in_section[box.parent] or tag in _SECTIONS
    return states


def _kept(boxes: list[Box], start: int, inner: range, states: bytearray) -> list[int]:
    """How much text outside links each box holds without the noise in it."""
    kept = [box.own_text for box in boxes]
    lost = [0] * len(boxes)
    for place in reversed(inner):
        box = boxes[place]
        lost[box.parent] += box.own_text if states[place] == _NOISE else lost[place]
        kept[place] -= lost[place]
    kept[start] -= lost[start]
    return kept


def _main(boxes: list[Box], start: int, inner: range, states: bytearray, kept: list[int]) -> int:
    """The first article with half of the text, or else the start; in there the innermost box with 19 of 20 parts."""
    main = start
    if kept[start] <= 0:
        return start
    for place in inner:
        if boxes[place].tag == "article" and states[place] == _IN and kept[place] * 2 >= kept[start]:
            main = place
            break
    whole = kept[main]
    for place in _inner(boxes, main):
        if boxes[place].parent == main and states[place] == _IN and kept[place] * 20 >= whole * 19:
            main = place
    return main
