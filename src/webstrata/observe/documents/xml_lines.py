"""`XmlLines`: the text of an XML part of an office file, in lines.

A paragraph is a line, and so is a row of a table, whose cells are separated by tabs.
"""

from __future__ import annotations

from typing import NamedTuple
from xml.parsers import expat

from webstrata.observe.data import xml
from webstrata.observe.documents.container import ContainerError

MAX_TEXT_LENGTH = 32 * 1024 * 1024
"""Characters of one part."""


class LineRules(NamedTuple):
    """The elements of a format, by their local names."""

    text: frozenset[str]
    """Their character data is text."""
    lines: frozenset[str]
    """A line ends with them."""
    rows: frozenset[str]
    """Rows of tables: the lines in them are cells of one line."""
    breaks: frozenset[str]
    """Empty elements that end a line."""
    spaces: frozenset[str]
    """Empty elements that stand for white space."""
    skipped: frozenset[str]
    """Elements whose content is not shown: properties, deleted text."""


class XmlLines:
    """Expat handlers that collect lines of text. Run `read` once, then use `lines`."""

    def __init__(self, rules: LineRules) -> None:
        self.lines: list[str] = []
        self._rules = rules
        self._parts: list[str] = []
        self._cells: list[str] = []
        self._length = 0
        self._depth = self._text_depth = self._row_depth = self._skip_depth = 0

    def read(self, part: bytes) -> list[str]:
        """The lines of a part that are not empty. Raises ContainerError if it is not well-formed or refused."""
        parser = expat.ParserCreate(namespace_separator=" ")
        parser.buffer_text = True
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._text
        problem = xml.parse_safely(part, parser)
        if problem is not None:
            raise ContainerError(problem)
        self._end_line()
        return self.lines

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        self._depth += 1
        if self._depth > xml.MAX_DEPTH:
            raise xml.XmlRefusedError(f"nested deeper than {xml.MAX_DEPTH}")
        if self._skip_depth:
            return
        name, rules = tag.rpartition(" ")[2], self._rules
        if name in rules.skipped:
            self._skip_depth = self._depth
        elif name in rules.breaks:
            self._end_line()
        elif name in rules.spaces:
            self._parts.append(" ")
        elif name in rules.rows:
            self._row_depth = self._row_depth or self._depth
        if name in rules.text:
            self._text_depth += 1

    def _end(self, tag: str) -> None:
        name, rules = tag.rpartition(" ")[2], self._rules
        if self._skip_depth:
            if self._depth == self._skip_depth:
                self._skip_depth = 0
            self._depth -= 1
            return
        if name in rules.text:
            self._text_depth -= 1
        if name in rules.lines:
            self._end_line()
        if self._depth == self._row_depth:
            self._end_row()
        self._depth -= 1

    def _text(self, text: str) -> None:
        if self._text_depth and not self._skip_depth:
            self._length += len(text)
            if self._length > MAX_TEXT_LENGTH:
                raise xml.XmlRefusedError(f"more than {MAX_TEXT_LENGTH} characters")
            self._parts.append(text)

    def _end_line(self) -> None:
        line = " ".join("".join(self._parts).split())
        self._parts = []
        if line:
            (self._cells if self._row_depth else self.lines).append(line)

    def _end_row(self) -> None:
        self._row_depth = 0
        if self._cells:
            self.lines.append("\t".join(self._cells))
            self._cells = []
