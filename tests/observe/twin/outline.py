"""The walk through a body once more, in Python and on the tree itself: what the compiled kernel must give."""

from __future__ import annotations

import unicodedata
from itertools import accumulate
from typing import Final, NamedTuple

import numpy as np
from selectolax.lexbor import LexborHTMLParser, LexborNode

SILENT: Final = ("script", "style", "noscript", "template", "iframe", "noembed", "noframes")
"""Elements whose content is not for readers."""

BOXES: Final = frozenset(
    {"article", "aside", "body", "center", "dialog", "div", "footer", "form", "header", "main", "menu", "nav",
     "section", "td"}
)  # fmt: skip
"""Elements that pages are laid out with: those among which the main content is looked for."""

LINE_ENDS: Final = BOXES | frozenset(
    {"address", "blockquote", "br", "caption", "dd", "details", "dir", "dl", "dt", "fieldset", "figcaption", "figure",
     "h1", "h2", "h3", "h4", "h5", "h6", "hgroup", "hr", "legend", "li", "ol", "optgroup", "option", "p", "pre",
     "search", "select", "summary", "table", "tbody", "textarea", "tfoot", "th", "thead", "title", "tr", "ul"}
)  # fmt: skip
"""Elements that end the line before them and their own."""

_INLINE, _SILENT, _POINTER, _LINK, _LINE, _BOX, _TEXT, _NOTHING = range(8)
_NO_NAME = 0
"""What Lexbor makes of `<?php …>`."""
_POINTERS = {"area": "href", "iframe": "src"}
"""Elements besides `a` that lead to other pages, and the attribute that says where."""


def _kinds() -> dict[int, int]:
    """By the numbers that Lexbor gives to the names it knows; all other elements are `_INLINE`."""
    names = {
        **dict.fromkeys(LINE_ENDS, _LINE),
        **dict.fromkeys(BOXES, _BOX),
        **dict.fromkeys(SILENT, _SILENT),
        **dict.fromkeys(_POINTERS, _POINTER),
        "a": _LINK,
    }
    parser = LexborHTMLParser("<!doctype html><body>text<!-- comment -->")
    kinds = {parser.create_node(name).tag_id: kind for name, kind in names.items()}
    for node in parser.css("body")[0].iter(include_text=True):
        kinds[node.tag_id] = _TEXT if node.is_text_node else _NOTHING
    return {**dict.fromkeys(range(256), _INLINE), **kinds, _NO_NAME: _NOTHING}


_KINDS = _kinds()


class Box(NamedTuple):
    """A box: which lines and links stand in it, and how much text that is."""

    tag: str
    parent: int
    """Place of the box around it in the outline; -1 for the body."""
    first_line: int
    end_line: int
    first_link: int
    end_link: int
    text: int
    """Bytes of text, white space left out."""
    link_text: int
    """The same, inside links."""
    own_text: int
    """The same, outside links."""


class Outline:
    """The body of a page, ready to be divided."""

    __slots__ = ("boxes", "hrefs", "line_ends", "pointers", "text")

    def __init__(self) -> None:
        self.text = b""
        """All lines, one space apart."""
        self.line_ends: list[int] = []
        """Where in the text each line ends."""
        self.hrefs: list[str] = []
        """What the links say, as written."""
        self.pointers: list[str] = []
        """The same for image maps and inline frames."""
        self.boxes: list[Box] = []
        """In document order, outer ones first: the body element is the first."""

    def lines(self, first: int = 0, end: int | None = None) -> list[bytes]:
        """Some lines, or all."""
        ends = self.line_ends[first:end]
        starts = [self._start(first), *(place + 1 for place in ends)]
        return [self.text[start:stop] for start, stop in zip(starts, ends, strict=False)]

    def joined(self, first: int, end: int) -> bytes:
        """Some lines, at least one, joined by a space."""
        return self.text[self._start(first) : self.line_ends[end - 1]]

    def _start(self, line: int) -> int:
        return self.line_ends[line - 1] + 1 if line else 0


def outline(body: LexborNode | None) -> Outline:
    """Walk a page's body element, if it has one."""
    if body is None or body.tag != "body":
        return Outline()
    walk = _Walk()
    walk.through(body)
    return walk.outline()


def clean(text: str) -> list[bytes]:
    """The words of a text, in UTF-8: what white space leaves of its composed form."""
    return composed(text).split()


def composed(text: str) -> bytes:
    """The text in NFC and UTF-8, with spaces for no-break spaces."""
    if not text.isascii():
        text = unicodedata.normalize("NFC", text).replace("\xa0", " ")
    return text.encode("utf-8", "replace")


_WHITE_SPACE = " \t\n\v\f\r\xa0"
_LINE_END = "\0"
"""No text of a tree has U+0000: the parser drops it, or puts U+FFFD."""


class _Walk:
    """What the walk found. It only collects: cleaning all texts at once is faster than one by one."""

    def __init__(self) -> None:
        self._texts: list[str] = []
        """Texts, and `_LINE_END` where a line ends."""
        self._found = Outline()
        self._link_texts: list[str] = []
        self._starts: list[tuple[str, int, int, int, int]] = []
        """Of each box: its tag, the place of the box around it; line ends, links and link texts before it."""
        self._ends: list[tuple[int, int, int]] = []
        """Line ends, links and link texts before its end."""

    def through(self, body: LexborNode) -> None:
        """No recursion: trees may be deep. One long loop: calls would take longer than all that they do."""
        texts, hrefs, link_texts = self._texts, self._found.hrefs, self._link_texts
        starts, ends, kinds = self._starts, self._ends, _KINDS
        open_nodes: list[LexborNode] = []
        open_kinds: list[int] = []
        open_boxes = [-1]
        line_ends = link_depth = 0
        passed = 0  # since the last text: 1 the start of an element, 2 the end of one, 3 both
        is_new_line = True
        node = body
        while True:
            try:
                kind = kinds[node.tag_id]
            except KeyError:  # a name of the page's own making
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
                        line_ends += 1
                        is_new_line = True
                    if kind == _BOX:
                        starts.append((node.tag or "", open_boxes[-1], line_ends, len(hrefs), len(link_texts)))
                        open_boxes.append(len(ends))
                        ends.append((0, 0, 0))
                elif kind >= _POINTER:
                    kind = self._point(node, kind)
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
                        line_ends += 1
                        is_new_line = True
                    if kind == _BOX:
                        ends[open_boxes.pop()] = (line_ends, len(hrefs), len(link_texts))
                elif kind == _LINK:
                    link_depth -= 1
                if not open_nodes:
                    return
            node = after

    def _point(self, node: LexborNode, kind: int) -> int:
        """Note where a link or pointer leads. An `a` without address is no link; other pointers' content is silent."""
        attributes = node.attributes
        if kind == _POINTER:
            self._found.pointers.append(attributes.get(_POINTERS[node.tag or ""]) or "")
            return _SILENT
        if "href" not in attributes:
            return _INLINE
        self._found.hrefs.append(attributes["href"] or "")
        return _LINK

    def outline(self) -> Outline:
        found = self._found
        found.text, found.line_ends, sizes = _collapsed(composed("".join(self._texts)))
        text = [0, *sizes]
        bare = composed("\0".join(self._link_texts)).translate(None, _WHITE_SPACE.encode("latin-1")[:-1])
        link_text = [0, *accumulate(map(len, bare.split(b"\0")))]
        for (tag, parent, line, link, piece), (end_line, end_link, end_piece) in zip(
            self._starts, self._ends, strict=True
        ):
            inside, linked = text[end_line] - text[line], link_text[end_piece] - link_text[piece]
            box = Box(tag, parent, line, end_line, link, end_link, inside, linked, inside - linked)
            found.boxes.append(box)
        return found


_SPACE = 0x20
_BLANKS_TO_SPACES = bytes.maketrans(b"\t\n\v\f\r", b"     ")


def _collapsed(marked: bytes) -> tuple[bytes, list[int], list[int]]:
    """The words of a text with line ends, one space apart; where each line ends; bytes of words up to there.

    Every line end closes a line with a word in it, so that lines and line ends have the same numbers.
    """
    array = np.frombuffer(marked.translate(_BLANKS_TO_SPACES), dtype=np.uint8)
    at_line_end = array == 0
    in_word = ~(at_line_end | (array == _SPACE))
    word_end = np.zeros(len(array), dtype=np.bool_)  # the first blank behind each word
    np.greater(in_word[:-1], in_word[1:], out=word_end[1:])
    line_ends = np.flatnonzero(at_line_end)
    sizes = np.cumsum(in_word, dtype=np.int32)[line_ends]
    words = np.cumsum(word_end, dtype=np.int32)[line_ends]
    kept = array[in_word | word_end].tobytes().replace(b"\0", b" ")
    return kept[:-1], (sizes + words - 1).tolist(), sizes.tolist()
