"""The kernel in Python, part 2: selects the lines and links that are the main content, from the boxes of a page."""

from __future__ import annotations

from typing import NamedTuple

from webstrata.observe.kernel.python_walk import LayoutBox
from webstrata.observe.kernel.results import Span, without_holes

_ASIDE = frozenset({"dialog", "menu", "nav"})
_MARGINS = frozenset({"aside", "footer", "header"})
_SECTIONS = frozenset({"article", "main", "section"})
"""A header, footer or aside inside one of these belongs to it, and not to the page."""
_LAYOUT = frozenset({"aside", "div", "form", "section"})
_LONG_LINK = 30
"""Bytes. Links in menus are shorter; those of entries in a list (events, articles) are this long on average."""

IN, NOISE, INSIDE_NOISE = range(3)


class MainContent(NamedTuple):
    """The main box and the noise in it."""

    box: int
    """Index of the main box."""
    states: bytearray
    """For each box inside the start: whether it is noise; boxes inside a noise box have a state of their own."""
    own_text: int
    """Bytes of text outside links, without the noise."""


def select_main(boxes: list[LayoutBox]) -> MainContent:
    """Select the main content of a page with at least one box."""
    start = _start(boxes)
    inner = inner_boxes(boxes, start)
    states = _states(boxes, start, inner)
    kept = _text_without_noise(boxes, start, inner, states)
    main = _main(boxes, start, inner, states, kept)
    return MainContent(main, states, kept[main])


def main_spans(boxes: list[LayoutBox], main: MainContent) -> tuple[list[Span], list[Span]]:
    """The lines and the links of the main box, without the noise inside it."""
    box = boxes[main.box]
    noise = [one for one, state in zip(boxes, main.states, strict=True) if state == NOISE]
    lines = without_holes((box.first_line, box.end_line), [(one.first_line, one.end_line) for one in noise])
    return lines, without_holes((box.first_link, box.end_link), [(one.first_link, one.end_link) for one in noise])


def inner_boxes(boxes: list[LayoutBox], start: int) -> range:
    """The boxes inside a box: those that follow it, up to the first whose parent comes before it."""
    end = start + 1
    while end < len(boxes) and boxes[end].parent >= start:
        end += 1
    return range(start + 1, end)


def _start(boxes: list[LayoutBox]) -> int:
    """The box to search: the only `main`, if it has at least a tenth of the text; else the whole body."""
    mains = [index for index, box in enumerate(boxes) if box.tag == "main"]
    return mains[0] if len(mains) == 1 and boxes[mains[0]].own_text * 10 >= boxes[0].own_text else 0


def _states(boxes: list[LayoutBox], start: int, inner: range) -> bytearray:
    states = bytearray(len(boxes))
    in_section = bytearray(len(boxes))
    whole = boxes[start].own_text
    is_index = whole * 4 < boxes[start].text  # a page of links: the links are its content
    in_section[start] = boxes[start].tag in _SECTIONS
    for index in inner:
        box = boxes[index]
        if states[box.parent] != IN:
            states[index] = INSIDE_NOISE
            continue
        tag, own, belongs = box.tag, box.own_text, in_section[box.parent]
        if tag in _ASIDE or (tag in _MARGINS and not belongs):
            states[index] = own * 2 <= whole
        elif tag in _LAYOUT and own * 5 <= whole and not is_index:
            states[index] = _is_menu(box, belongs=bool(belongs))
        in_section[index] = belongs or tag in _SECTIONS
    return states


def _is_menu(box: LayoutBox, *, belongs: bool) -> bool:
    """Whether a box consists of links. In a section, it must consist of them nearly completely, and they are short."""
    links = box.end_link - box.first_link
    if belongs:
        return links >= 2 and box.link_text * 4 > box.text * 3 and box.link_text < _LONG_LINK * links
    return links >= 2 and (box.link_text * 2 > box.text or links * 20 > box.text)


def _text_without_noise(boxes: list[LayoutBox], start: int, inner: range, states: bytearray) -> list[int]:
    """Bytes of text outside links in each box, without the noise inside it."""
    remaining = [box.own_text for box in boxes]
    noise = [0] * len(boxes)
    for index in reversed(inner):
        box = boxes[index]
        noise[box.parent] += box.own_text if states[index] == NOISE else noise[index]
        remaining[index] -= noise[index]
    remaining[start] -= noise[start]
    return remaining


def _main(boxes: list[LayoutBox], start: int, inner: range, states: bytearray, text: list[int]) -> int:
    """A `main` element; or the article with half of the text, or what surrounds it and its siblings; or a layout box.

    A layout box is the innermost one with 19/20 of the text.
    """
    if start or text[start] <= 0:
        return start
    articles = [index for index in inner if boxes[index].tag == "article" and states[index] == IN and text[index] > 0]
    for index in articles:
        if text[index] * 2 >= text[start]:
            around = boxes[index].parent
            has_sibling = any(other != index and boxes[other].parent == around for other in articles)
            return around if has_sibling else index
    main: int = start
    for index in inner:
        if boxes[index].parent == main and states[index] == IN and text[index] * 20 >= text[start] * 19:
            main = index
    return main
