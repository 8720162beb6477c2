"""Which lines and links of a walk are the main content, once more in Python."""

from __future__ import annotations

from collections.abc import Iterable

from tests.observe.twin.outline import Box

_ASIDE = frozenset({"aside", "dialog", "form", "menu", "nav"})
_MARGINS = frozenset({"footer", "header"})
_SECTIONS = frozenset({"article", "main", "section"})
"""A header or footer inside one of these belongs to it, and not to the page."""
_LAYOUT = frozenset({"div", "section"})


_Span = tuple[int, int]


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


def main_spans(boxes: list[Box]) -> tuple[list[_Span], list[_Span]]:
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
