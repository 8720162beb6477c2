"""Outline -> title, header, body and footer: the main content, found by how much of a box's text is links.

After WCD (section 4.1) and Pan et al.: link text density, amount of links, their density, and length of text decide.
All sums are of whole numbers, so that every implementation divides a page alike (docs/reference/fingerprint.md).
Rather a menu too much than a paragraph too little: what is left out of the body is not looked at by default.
"""

from __future__ import annotations

import hashlib

from webstrata.observe.outline import Box, Outline

_ASIDE = frozenset({"aside", "dialog", "form", "menu", "nav"})
_MARGINS = frozenset({"footer", "header"})
_SECTIONS = frozenset({"article", "main", "section"})
"""A header or footer inside one of these belongs to it, and not to the page."""
_LAYOUT = frozenset({"div", "section"})


class Parts:
    """The lines of a page's body element, each in one part, and what the links of the body part say."""

    __slots__ = ("body", "footer", "header", "main_hrefs")

    def __init__(self, outline: Outline) -> None:
        lines, is_body = outline.lines, bytearray(len(outline.lines))
        is_main = bytearray(len(outline.hrefs))
        for line, end, link, link_end, value in _spans(outline.boxes):
            is_body[line:end] = bytes([value]) * (end - line)
            is_main[link:link_end] = bytes([value]) * (link_end - link)
        first = is_body.find(1)
        if first < 0:  # nothing but menus: then these are the page
            first, is_body, is_main = 0, bytearray(b"\1" * len(is_body)), bytearray(b"\1" * len(is_main))
        self.header = lines[:first]
        self.body = [line for line, inside in zip(lines, is_body, strict=True) if inside]
        self.footer = [line for line, inside in zip(lines[first:], is_body[first:], strict=True) if not inside]
        self.main_hrefs = [href for href, inside in zip(outline.hrefs, is_main, strict=True) if inside]

    def digests(self, title: bytes) -> tuple[str, str, str, str]:
        """MD5 of the title and of each part, its lines joined by one space."""
        return _md5(title), _md5(b" ".join(self.header)), _md5(b" ".join(self.body)), _md5(b" ".join(self.footer))


def _md5(text: bytes) -> str:
    return hashlib.md5(text, usedforsecurity=False).hexdigest()


_IN, _NOISE, _INSIDE_NOISE = range(3)


def _spans(boxes: list[Box]) -> list[tuple[int, int, int, int, int]]:
    """The main box (1) and, behind it, the noise (0): ranges of lines and of links."""
    if not boxes:
        return []
    start = _start(boxes)
    inner = _inner(boxes, start)
    states = _states(boxes, start, inner)
    main = boxes[_main(boxes, start, inner, states, _kept(boxes, start, inner, states))]
    return [_span(main, 1), *(_span(box, 0) for box, state in zip(boxes, states, strict=True) if state == _NOISE)]


def _span(box: Box, value: int) -> tuple[int, int, int, int, int]:
    return box.first_line, box.end_line, box.first_link, box.end_link, value


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
