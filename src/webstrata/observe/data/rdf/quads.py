"""Quads as N-Quads lines, split at their blank nodes; and RDF terms in N-Quads syntax.

Canonical forms need no parsed terms: lines without blank nodes remain the bytes that the parser wrote, and only lines
with blank nodes are split. A term is always written without line breaks.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct

_NOT_IN_IRI = re.compile(r'[\x00-\x20<>"{}|^`\\]')
_NOT_IN_STRING = re.compile(r'["\\\n\r\t\x00-\x1f\x7f]')
_SHORT_ESCAPES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"}


def iri(value: str) -> str:
    return f"<{_NOT_IN_IRI.sub(_unicode_escape, value)}>"


def literal(value: str, language: str = "", datatype: str = "") -> str:
    escaped = _NOT_IN_STRING.sub(lambda match: _SHORT_ESCAPES.get(match[0]) or _unicode_escape(match), value)
    text = f'"{escaped}"'
    if language:
        return f"{text}@{language}"
    return f"{text}^^{iri(datatype)}" if datatype else text


def _unicode_escape(match: re.Match[str]) -> str:
    return f"\\u{ord(match.group()):04X}"


_TERM = re.compile(rb'<<\(|\)>>|<[^>]*>|"(?:[^"\\]|\\.)*"|_:[^\s<>()]+', re.DOTALL)
_POSITIONS = (b"s", b"p", b"o", b"g")


class Quad(Struct, frozen=True, gc=False):
    """One quad that contains blank nodes."""

    pieces: tuple[bytes, ...]
    """The line, split at the blank nodes: one piece more than nodes."""
    nodes: tuple[bytes, ...]
    """The labels of the blank nodes, in order of appearance."""
    positions: tuple[bytes, ...]
    """The position of each: `s`, `o`, `g`, or `t` inside a triple term."""
    predicate: bytes

    def line(self, names: Sequence[bytes]) -> bytes:
        """The line with other labels, in the order of the nodes."""
        if len(names) == 1:
            return self.pieces[0] + names[0] + self.pieces[1]
        parts = [self.pieces[0]]
        for name, piece in zip(names, self.pieces[1:], strict=True):
            parts.append(name)
            parts.append(piece)
        return b"".join(parts)

    def named(self, names: Mapping[bytes, bytes]) -> bytes:
        """The line with other labels, given by node."""
        pieces, nodes = self.pieces, self.nodes
        if len(nodes) == 1:
            return pieces[0] + names[nodes[0]] + pieces[1]
        if len(nodes) == 2:
            return pieces[0] + names[nodes[0]] + pieces[1] + names[nodes[1]] + pieces[2]
        return self.line([names[node] for node in nodes])


def split(lines: Iterable[bytes]) -> tuple[list[bytes], list[Quad]]:
    """N-Quads lines without blank nodes unchanged, and the other lines as quads."""
    ground: list[bytes] = []
    quads: list[Quad] = []
    for line in lines:
        if b"_:" in line and (quad := _common(line) or _parsed(line)).nodes:
            quads.append(quad)
        elif line:
            ground.append(line)
    return ground, quads


def renumber_blanks(lines: Iterable[bytes], prefix: bytes) -> tuple[list[bytes], bool]:
    """The lines with blank nodes numbered in order of appearance, and whether they have any blank nodes.

    Parsers choose random labels; numbers are the same for the same document.
    """
    names: dict[bytes, bytes] = {}
    renamed: list[bytes] = []
    for line in lines:
        _, quads = split([line])
        for quad in quads:
            for node in quad.nodes:
                names.setdefault(node, b"_:%s%d" % (prefix, len(names)))
        renamed.append(quads[0].named(names) if quads else line)
    return renamed, bool(names)


def _common(line: bytes) -> Quad | None:
    """A fast version of `_parsed` for the two common forms; None for other lines."""
    blanks = line.count(b"_:")
    if blanks > 2:
        return None
    subject, predicate, rest = line.split(b" ", 2)
    if blanks == 1 and subject.startswith(b"_:"):
        return Quad((b"", line[len(subject) :]), (subject,), (b"s",), predicate)
    if not rest.startswith(b"_:"):
        return None
    node, _, end = rest.partition(b" ")
    if blanks == 1:
        return Quad((b"%s %s " % (subject, predicate), b" " + end), (node,), (b"o",), predicate)
    if subject.startswith(b"_:"):
        return Quad((b"", b" %s " % predicate, b" " + end), (subject, node), (b"s", b"o"), predicate)
    return None


def _parsed(line: bytes) -> Quad:
    pieces: list[bytes] = []
    nodes: list[bytes] = []
    positions: list[bytes] = []
    predicate = b""
    end = terms = depth = 0
    for match in _TERM.finditer(line):
        term = match[0]
        if term == b")>>":
            depth -= 1
        elif term == b"<<(":
            depth += 1
            terms += depth == 1
            continue
        if term.startswith(b"_:"):
            pieces.append(line[end : match.start()])
            nodes.append(term)
            positions.append(b"t" if depth else _POSITIONS[min(terms, 3)])
            end = match.end()
        elif terms == 1 and not depth and term.startswith(b"<"):
            predicate = term
        if not depth and term != b")>>" and not line.startswith(b"^^", match.start() - 2):
            terms += 1
    pieces.append(line[end:])
    return Quad(tuple(pieces), tuple(nodes), tuple(positions), predicate)
