"""The kernel in Python, part 3: selects the lines of the main content that are its text, without additions to it."""

from __future__ import annotations

from itertools import accumulate

from webstrata.observe.kernel.box_words import ADDITION, REMARK
from webstrata.observe.kernel.python_main import IN, INSIDE_NOISE, NOISE, MainContent, inner_boxes
from webstrata.observe.kernel.python_walk import LayoutBox
from webstrata.observe.kernel.results import Span

_ASIDE = frozenset({"aside", "dialog", "footer", "form", "menu", "nav"})
_SECTIONS = frozenset({"article", "main"})
_LAYOUT = frozenset({"div", "section"})
_PARAGRAPH = 80
"""Bytes outside links from which on a line is a paragraph."""
_ENOUGH = 80
"""Bytes of text outside links: after so much text, comments may be longer than the rest of the page."""


def body_spans(boxes: list[LayoutBox], main: MainContent, own_sizes: list[int]) -> list[Span]:
    """The ranges of lines of the body part; none if the main content has only additions."""
    whole = boxes[main.box]
    states = _states(boxes, main, [0, *accumulate(own_sizes)])
    left = _left_lines(boxes, whole, states)
    weights = [size if is_left and size >= _PARAGRAPH else 0 for size, is_left in zip(own_sizes, left, strict=True)]
    left_text = sum([size for size, is_left in zip(own_sizes, left, strict=True) if is_left])
    weight = sum(weights)
    is_prose = weight > 0 and weight * 2 >= left_text
    text = boxes[_densest(boxes, main.box, states, weights)] if is_prose else whole
    lines = [line for line in range(whole.first_line, text.first_line) if weights[line]]
    lines += [line for line in range(text.first_line, text.end_line) if left[line]]
    return _spans(lines)


def _states(boxes: list[LayoutBox], main: MainContent, own_before: list[int]) -> bytearray:
    """For each box inside the main box: whether it is noise or an addition, or inside one."""
    states = bytearray(main.states)
    start = own_before[boxes[main.box].first_line]
    for index in inner_boxes(boxes, main.box):
        box = boxes[index]
        if states[box.parent] != IN:
            states[index] = INSIDE_NOISE
        elif states[index] == IN and _is_addition(box, main.own_text, own_before[box.first_line] - start):
            states[index] = NOISE
    return states


def _is_addition(box: LayoutBox, whole: int, before: int) -> bool:
    """Whether a box is an addition to a text of `whole` bytes; `before`: bytes of that text before the box."""
    own, tag, links = box.own_text, box.tag, box.end_link - box.first_link
    if tag == "figcaption":
        return True
    if box.words & REMARK and before >= _ENOUGH and tag not in _SECTIONS:
        return True
    if own * 3 <= whole and (tag in _ASIDE or box.words & REMARK or (box.words & ADDITION and tag != "article")):
        return True
    return tag in _LAYOUT and own * 5 <= whole and links >= 2 and box.link_text * 3 > box.text


def _left_lines(boxes: list[LayoutBox], whole: LayoutBox, states: bytearray) -> bytearray:
    """For each line of the page: whether it is in this box and neither in noise nor in an addition."""
    left = bytearray(boxes[0].end_line)
    left[whole.first_line : whole.end_line] = b"\1" * (whole.end_line - whole.first_line)
    for box, state in zip(boxes, states, strict=True):
        if state == NOISE:
            left[box.first_line : box.end_line] = bytes(box.end_line - box.first_line)
    return left


def _densest(boxes: list[LayoutBox], main: int, states: bytearray, weights: list[int]) -> int:
    """The innermost box with 7/10 of the text in paragraphs."""
    before = [0, *accumulate(weights)]
    found, whole = main, before[-1]
    for index in inner_boxes(boxes, main):
        box = boxes[index]
        weight = before[box.end_line] - before[box.first_line]
        if box.parent == found and states[index] == IN and weight * 10 >= whole * 7:
            found = index
    return found


def _spans(lines: list[int]) -> list[Span]:
    """Ascending lines as ranges."""
    spans: list[Span] = []
    for line in lines:
        if spans and spans[-1][1] == line:
            spans[-1] = (spans[-1][0], line + 1)
        else:
            spans.append((line, line + 1))
    return spans
