"""The kernel in Python, part 2: selects the lines and links that are the main content, from the boxes of a page."""

from __future__ import annotations

from webstrata.observe.kernel.python_walk import LayoutBox
from webstrata.observe.kernel.results import Span, without_holes

_ASIDE = frozenset({"aside", "dialog", "form", "menu", "nav"})
_MARGINS = frozenset({"footer", "header"})
_SECTIONS = frozenset({"article", "main", "section"})
"""A header or footer inside one of these belongs to it, and not to the page."""
_LAYOUT = frozenset({"div", "section"})

_IN, _NOISE, _INSIDE_NOISE = range(3)


def main_spans(boxes: list[LayoutBox]) -> tuple[list[Span], list[Span]]:
    """The lines and the links of the main box, without the noise inside it."""
    if not boxes:
        return [], []
    start = _start(boxes)
    inner = _inner(boxes, start)
    states = _states(boxes, start, inner)
    main = boxes[_main(boxes, start, inner, states, _text_without_noise(boxes, start, inner, states))]
    noise = [boxes[index] for index in inner if states[index] == _NOISE]
    lines = without_holes((main.first_line, main.end_line), [(box.first_line, box.end_line) for box in noise])
    return lines, without_holes((main.first_link, main.end_link), [(box.first_link, box.end_link) for box in noise])


def _start(boxes: list[LayoutBox]) -> int:
    """The box to search: the only `main`, if it has at least a tenth of the text; else the whole body."""
    mains = [index for index, box in enumerate(boxes) if box.tag == "main"]
    return mains[0] if len(mains) == 1 and boxes[mains[0]].own_text * 10 >= boxes[0].own_text else 0


def _inner(boxes: list[LayoutBox], start: int) -> range:
    """The boxes inside a box: those that follow it, up to the first whose parent comes before it."""
    end = start + 1
    while end < len(boxes) and boxes[end].parent >= start:
        end += 1
    return range(start + 1, end)


def _states(boxes: list[LayoutBox], start: int, inner: range) -> bytearray:
    """For each box whether it is noise; boxes inside a noise box have a state of their own."""
    states = bytearray(len(boxes))
    in_section = bytearray(len(boxes))
    whole = boxes[start].own_text
    is_index = whole * 4 < boxes[start].text  # a page of links: the links are its content
    in_section[start] = boxes[start].tag in _SECTIONS
    for index in inner:
        box = boxes[index]
        if states[box.parent] != _IN:
            states[index] = _INSIDE_NOISE
            continue
        tag, own = box.tag, box.own_text
        if tag in _ASIDE or (tag in _MARGINS and not in_section[box.parent]):
            states[index] = own * 2 <= whole
        elif tag in _LAYOUT and own * 5 <= whole and not is_index:
            links = box.end_link - box.first_link
            states[index] = links >= 2 and (box.link_text * 2 > box.text or links * 20 > box.text)
        in_section[index] = in_section[box.parent] or tag in _SECTIONS
    return states


def _text_without_noise(boxes: list[LayoutBox], start: int, inner: range, states: bytearray) -> list[int]:
    """Bytes of text outside links in each box, without the noise inside it."""
    remaining = [box.own_text for box in boxes]
    noise = [0] * len(boxes)
    for index in reversed(inner):
        box = boxes[index]
        noise[box.parent] += box.own_text if states[index] == _NOISE else noise[index]
        remaining[index] -= noise[index]
    remaining[start] -= noise[start]
    return remaining


def _main(boxes: list[LayoutBox], start: int, inner: range, states: bytearray, text: list[int]) -> int:
    """The first article with half of the text, or else the start; in it the innermost box with 19/20 of its text."""
    main = start
    if text[start] <= 0:
        return start
    for index in inner:
        if boxes[index].tag == "article" and states[index] == _IN and text[index] * 2 >= text[start]:
            main = index
            break
    whole = text[main]
    for index in _inner(boxes, main):
        if boxes[index].parent == main and states[index] == _IN and text[index] * 20 >= whole * 19:
            main = index
    return main
