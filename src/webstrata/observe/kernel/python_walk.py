"""The kernel in Python, part 1: walks a page's body element and returns its lines, links and boxes."""

from __future__ import annotations

from itertools import accumulate
from typing import Final, NamedTuple

import numpy as np
from selectolax.lexbor import LexborHTMLParser, LexborNode

from webstrata.observe.kernel.box_words import NAMING, words_in
from webstrata.observe.kernel.reserialise import INVISIBLE
from webstrata.observe.kernel.results import composed

BOXES: Final = frozenset(
    {"article", "aside", "body", "center", "dialog", "div", "figcaption", "footer", "form", "header", "main", "menu",
     "nav", "section", "td"}
)  # fmt: skip
"""Elements used for layout; one of them is selected as the main content."""

LINE_ENDS: Final = BOXES | frozenset(
    {"address", "blockquote", "br", "caption", "dd", "details", "dir", "dl", "dt", "fieldset", "figure", "h1",
     "h2", "h3", "h4", "h5", "h6", "hgroup", "hr", "legend", "li", "ol", "optgroup", "option", "p", "pre",
     "search", "select", "summary", "table", "tbody", "textarea", "tfoot", "th", "thead", "title", "tr", "ul"}
)  # fmt: skip
"""Elements whose start and end each end a line."""

_INLINE, _SILENT, _POINTER, _LINK, _LINE, _BOX, _TEXT, _NOTHING = range(8)
_NO_NAME = 0
"""The number of the element that Lexbor makes of `<?php …>`."""
_POINTERS = {"area": "href", "iframe": "src"}
"""Elements other than `a` that lead to other pages, and the attribute with the address."""


def _kinds() -> dict[int, int]:
    """The kind of each element by the number that Lexbor gives to its name; unlisted elements are `_INLINE`."""
    names = {
        **dict.fromkeys(LINE_ENDS, _LINE),
        **dict.fromkeys(BOXES, _BOX),
        **dict.fromkeys(INVISIBLE, _SILENT),
        **dict.fromkeys(_POINTERS, _POINTER),
        "a": _LINK,
    }
    parser = LexborHTMLParser("<!doctype html><body>text<!-- comment -->")
    kinds = {parser.create_node(name).tag_id: kind for name, kind in names.items()}
    for node in parser.css("body")[0].iter(include_text=True):
        kinds[node.tag_id] = _TEXT if node.is_text_node else _NOTHING
    return {**dict.fromkeys(range(256), _INLINE), **kinds, _NO_NAME: _NOTHING}


_KINDS = _kinds()


class LayoutBox(NamedTuple):
    """A box: the range of lines and of links inside it, and how much text it contains."""

    tag: str
    parent: int
    """Index of the enclosing box; -1 for the body."""
    first_line: int
    end_line: int
    first_link: int
    end_link: int
    text: int
    """Bytes of text without white space."""
    link_text: int
    """Bytes of text inside links."""
    own_text: int
    """Bytes of text outside links."""
    words: int
    """Lists of words (`box_words`) with which its names begin."""


class WalkedBody(NamedTuple):
    """The result of the walk."""

    text: bytes
    line_ends: list[int]
    own_sizes: list[int]
    """Of each line: the bytes of its words outside links."""
    hrefs: list[str]
    pointers: list[str]
    boxes: list[LayoutBox]
    """In document order, outer boxes first; the body element is the first."""


def walk_body(body: LexborNode) -> WalkedBody:
    """Walk a body element."""
    walk = _Walk()
    walk.through(body)
    return walk.result()


_WHITE_SPACE = " \t\n\v\f\r\xa0"
_LINE_END = "\0"
"""No text of a tree contains U+0000: the parser drops it or replaces it with U+FFFD."""


class _Walk:
    """Collects texts while walking. They are cleaned together afterwards, which is faster than one by one."""

    def __init__(self) -> None:
        self._texts: list[str] = []
        """Texts, with `_LINE_END` where a line ends."""
        self._hrefs: list[str] = []
        self._pointers: list[str] = []
        self._link_texts: list[str] = []
        self._link_texts_before: list[int] = []
        """Link texts before each line end."""
        self._starts: list[tuple[str, int, int, int, int, int]] = []
        """Of each box: its tag, the index of the enclosing box; line ends, links and link texts before its start; and
        the lists of words in its names."""
        self._ends: list[tuple[int, int, int]] = []
        """Of each box: line ends, links and link texts before its end."""

    def through(self, body: LexborNode) -> None:
        """Visit every node. No recursion, because trees may be deep; one loop, because calls would take longer."""
        texts, hrefs, link_texts, texts_before = self._texts, self._hrefs, self._link_texts, self._link_texts_before
        starts, ends, kinds = self._starts, self._ends, _KINDS
        open_nodes: list[LexborNode] = []
        open_kinds: list[int] = []
        open_boxes = [-1]
        line_ends = link_depth = 0
        passed = 0  # since the last text: 1 the start of an element, 2 the end of an element, 3 both
        is_new_line = True
        node = body
        while True:
            try:
                kind = kinds[node.tag_id]
            except KeyError:  # an element name that HTML does not define
                kind = _INLINE
            at_end = False
            if kind == _TEXT:
                text = node.text_content or ""
                if text.isspace() and not text.strip(_WHITE_SPACE):
                    if not is_new_line:
                        texts.append(" ")
                else:
                    texts.append(" " + text if passed == 3 else text)
                    is_new_line = False
                    if link_depth:
                        link_texts.append(text)
                passed = 0
            elif kind != _NOTHING:
                passed |= 1
                if kind >= _LINE:
                    if not is_new_line:
                        texts.append(_LINE_END)
                        texts_before.append(len(link_texts))
                        line_ends += 1
                        is_new_line = True
                    if kind == _BOX:
                        before = line_ends, len(hrefs), len(link_texts)
                        starts.append((node.tag or "", open_boxes[-1], *before, _words(node)))
                        open_boxes.append(len(ends))
                        ends.append((0, 0, 0))
                elif kind >= _POINTER:
                    kind = self._record_address(node, kind)
                    link_depth += kind == _LINK
                child = node.first_child if kind != _SILENT else None
                if child is not None:
                    open_nodes.append(node)
                    open_kinds.append(kind)
                    node = child
                    continue
                at_end = True
            while at_end or (after := node.next) is None:
                if not at_end:
                    node, kind = open_nodes.pop(), open_kinds.pop()
                at_end = False
                passed |= 2
                if kind >= _LINE:
                    if not is_new_line:
                        texts.append(_LINE_END)
                        texts_before.append(len(link_texts))
                        line_ends += 1
                        is_new_line = True
                    if kind == _BOX:
                        ends[open_boxes.pop()] = (line_ends, len(hrefs), len(link_texts))
                elif kind == _LINK:
                    link_depth -= 1
                if not open_nodes:
                    return
            node = after

    def _record_address(self, node: LexborNode, kind: int) -> int:
        """Record where a link or pointer leads, and return the kind that the element has then.

        An `a` without `href` is no link. The content of other pointers is silent.
        """
        attributes = node.attributes
        if kind == _POINTER:
            self._pointers.append(attributes.get(_POINTERS[node.tag or ""]) or "")
            return _SILENT
        if "href" not in attributes:
            return _INLINE
        self._hrefs.append(attributes["href"] or "")
        return _LINK

    def result(self) -> WalkedBody:
        text, line_ends, sizes = _collapsed(composed("".join(self._texts)))
        text_before = [0, *sizes]
        bare = composed("\0".join(self._link_texts)).translate(None, _WHITE_SPACE.encode("latin-1")[:-1])
        link_text_before = [0, *accumulate(map(len, bare.split(b"\0")))]
        linked_before = [0, *(link_text_before[number] for number in self._link_texts_before)]
        own_before = [size - linked for size, linked in zip(text_before, linked_before, strict=True)]
        own_sizes = [own_before[line + 1] - own_before[line] for line in range(len(line_ends))]
        boxes: list[LayoutBox] = []
        for (tag, parent, line, link, piece, words), (end_line, end_link, end_piece) in zip(
            self._starts, self._ends, strict=True
        ):
            inside = text_before[end_line] - text_before[line]
            linked = link_text_before[end_piece] - link_text_before[piece]
            boxes.append(LayoutBox(tag, parent, line, end_line, link, end_link, inside, linked, inside - linked, words))
        return WalkedBody(text, line_ends, own_sizes, self._hrefs, self._pointers, boxes)


def _words(node: LexborNode) -> int:
    attributes = node.attributes
    return words_in([attributes.get(name) or "" for name in NAMING]) if attributes else 0


_SPACE = 0x20
_BLANKS_TO_SPACES = bytes.maketrans(b"\t\n\v\f\r", b"     ")


def _collapsed(marked: bytes) -> tuple[bytes, list[int], list[int]]:
    """The words of a text with line ends, separated by one space; where each line ends; bytes of words before there.

    Every line end closes a line with a word in it, so that lines and line ends have the same indexes.
    """
    array = np.frombuffer(marked.translate(_BLANKS_TO_SPACES), dtype=np.uint8)
    at_line_end = array == 0
    in_word = ~(at_line_end | (array == _SPACE))
    word_end = np.zeros(len(array), dtype=np.bool_)  # the first blank after each word
    np.greater(in_word[:-1], in_word[1:], out=word_end[1:])
    line_ends = np.flatnonzero(at_line_end)
    sizes = np.cumsum(in_word, dtype=np.int32)[line_ends]
    words = np.cumsum(word_end, dtype=np.int32)[line_ends]
    collapsed = array[in_word | word_end].tobytes().replace(b"\0", b" ")
    return collapsed[:-1], (sizes + words - 1).tolist(), sizes.tolist()
