"""Tree -> the lines of its body, its links, and the boxes they stand in: one walk, shared by all that is read from it.

By these rules (docs/reference/fingerprint.md has them in full):

1. The tree is the one a browser with scripting on builds (WHATWG parsing), so the content of `noscript` is no markup.
2. What stands in the elements of `SILENT`, in comments and in attributes says nothing.
3. All other text of the body counts in document order, whether or not a style sheet hides it. A line ends where an
   element of `LINE_ENDS` starts or ends. Inside a line two texts are joined as they stand (`foo<b>bar</b>` is one
   word), unless between them both an element starts and an element ends (`<a>foo</a><a>bar</a>`): then a space is put.
4. White space is ASCII's (U+0009 to U+000D and U+0020) and U+00A0. It is collapsed to one space, and cut at the ends.
   Lines are in Unicode's composed form (NFC) and, here, in UTF-8. Empty lines do not count.
"""

from __future__ import annotations

import unicodedata
from typing import Final

from selectolax.lexbor import LexborNode

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

_INLINE, _SILENT, _LINE, _BOX, _LINK = range(5)
_KINDS: dict[str | None, int] = {
    **dict.fromkeys(LINE_ENDS, _LINE),
    **dict.fromkeys(BOXES, _BOX),
    **dict.fromkeys(SILENT, _SILENT),
    "a": _LINK,
}


class Box:
    """A box, by what came before its start and, below, what lies inside."""

    __slots__ = ("first_line", "first_link", "line_count", "link_count", "link_text", "parent", "tag", "text")

    def __init__(self, tag: str, parent: int, first_line: int, first_link: int, text: int, link_text: int) -> None:
        self.tag = tag
        self.parent = parent
        """Place of the box around it in the outline; -1 for the body."""
        self.first_line, self.first_link = first_line, first_link
        self.line_count = self.link_count = 0
        self.text = -text
        """Bytes of text, white space left out."""
        self.link_text = -link_text
        """The same, inside links."""

    def close(self, line: int, link: int, text: int, link_text: int) -> None:
        self.line_count, self.link_count = line - self.first_line, link - self.first_link
        self.text += text
        self.link_text += link_text

    @property
    def own_text(self) -> int:
        """Bytes of text outside links."""
        return self.text - self.link_text


class Outline:
    """The body of a page, ready to be divided."""

    __slots__ = ("boxes", "hrefs", "lines")

    def __init__(self) -> None:
        self.lines: list[bytes] = []
        self.hrefs: list[str] = []
        """What the links say, as written."""
        self.boxes: list[Box] = []
        """In document order, outer ones first: the body element is the first."""


def outline(body: LexborNode | None) -> Outline:
    """Walk a page's body element, if it has one."""
    return Outline() if body is None or body.tag != "body" else _Walk().through(body)


def clean(text: str) -> list[bytes]:
    """The words of a text, in UTF-8: what white space leaves of its composed form."""
    if not text.isascii():
        text = unicodedata.normalize("NFC", text).replace("\xa0", " ")
    return text.encode("utf-8", "replace").split()


class _Walk:
    """Where the walk is, and what it has found. No recursion: trees may be deep."""

    def __init__(self) -> None:
        self._found = Outline()
        self._line: list[str] = []
        self._text = self._link_text = 0
        self._open: list[int] = []

    def through(self, body: LexborNode) -> Outline:
        kinds: list[int] = []  # of the elements that are open
        link_depth = 0
        started = ended = False  # an element, since the last text
        line = self._line
        node = body
        while True:
            tag = node.tag
            if tag == "-text":
                text = node.text_content or ""
                line.append(" " + text if started and ended else text)
                started = ended = False
                if link_depth:
                    self._link_text += sum(map(len, clean(text)))
            elif tag is not None and tag[0] != "-":
                started = True
                kind = _KINDS.get(tag, _INLINE)
                if kind == _LINK:
                    kind = self._start_link(node)
                    link_depth += kind == _LINK
                elif kind >= _LINE:
                    self._start(kind, tag)
                child = node.first_child if kind != _SILENT else None
                if child is not None:
                    kinds.append(kind)
                    node = child
                    continue
                ended = True
                if kind >= _LINE:
                    self._end(kind)
                    link_depth -= kind == _LINK
            while kinds and (after := node.next) is None:
                node = node.parent  # type: ignore[assignment]
                kind = kinds.pop()
                ended = True
                if kind >= _LINE:
                    self._end(kind)
                    link_depth -= kind == _LINK
            if not kinds:
                return self._found
            node = after  # type: ignore[assignment]

    def _start_link(self, node: LexborNode) -> int:
        """An `a` without address is no link."""
        attributes = node.attributes
        if "href" not in attributes:
            return _INLINE
        self._found.hrefs.append(attributes["href"] or "")
        return _LINK

    def _start(self, kind: int, tag: str) -> None:
        self._end_line()
        if kind == _BOX:
            found, parent = self._found, self._open[-1] if self._open else -1
            self._open.append(len(found.boxes))
            found.boxes.append(Box(tag, parent, len(found.lines), len(found.hrefs), self._text, self._link_text))

    def _end(self, kind: int) -> None:
        if kind != _LINK:
            self._end_line()
        if kind == _BOX:
            found = self._found
            found.boxes[self._open.pop()].close(len(found.lines), len(found.hrefs), self._text, self._link_text)

    def _end_line(self) -> None:
        if self._line:
            words = clean("".join(self._line))
            self._line.clear()
            if words:
                line = b" ".join(words)
                self._text += len(line) - len(words) + 1
                self._found.lines.append(line)
