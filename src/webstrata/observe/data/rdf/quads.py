"""RDF terms spelled as N-Quads. Whatever they hold, the line stays one line.

Quads as text with holes: a line of N-Quads, and the blank nodes that stand in it.

Everything that canonical forms need of RDF is in such a line, so nothing here knows terms: ground quads stay the bytes
that the parser wrote, and only lines with blank nodes are looked into.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct

_NOT_IN_IRI = re.compile(r'[\x00-\x20<>"{}|^`\\]')
_NOT_IN_STRING = re.compile(r'["\\\n\r\t\x00-\x1f\x7f]')
_SHORT = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"}


def iri(value: str) -> str:
    return f"<{_NOT_IN_IRI.sub(_numbered, value)}>"


def literal(value: str, language: str = "", datatype: str = "") -> str:
    text = f'"{_NOT_IN_STRING.sub(_escaped, value)}"'
    if language:
        return f"{text}@{language}"
    return f"{text}^^{iri(datatype)}" if datatype else text


def _numbered(found: re.Match[str]) -> str:
    return f"\\u{ord(found.group()):04X}"


def _escaped(found: re.Match[str]) -> str:
    return _SHORT.get(found.group()) or _numbered(found)


_TERM = re.compile(rb'<<\(|\)>>|<[^>]*>|"(?:[^"\\]|\\.)*"|_:[^\s<>()]+', re.DOTALL)
_POSITIONS = (b"s", b"p", b"o", b"g")


class Quad(Struct, frozen=True, gc=False):
    """One quad that names blank nodes."""

    pieces: tuple[bytes, ...]
    """The line, cut where the blank nodes stand: one piece more than nodes."""
    nodes: tuple[bytes, ...]
    """Their labels, in order of appearance."""
    positions: tuple[bytes, ...]
    """Where each stands: `s`, `o`, `g`, or `t` inside a triple term."""
    predicate: bytes

    def line(self, names: Sequence[bytes]) -> bytes:
        """The line with other names for its nodes."""
        if len(names) == 1:
            return self.pieces[0] + names[0] + self.pieces[1]
        made = [self.pieces[0]]
        for name, piece in zip(names, self.pieces[1:], strict=True):
            made.append(name)
            made.append(piece)
        return b"".join(made)

    def named(self, names: Mapping[bytes, bytes]) -> bytes:
        """The same, each node by its own."""
        pieces, nodes = self.pieces, self.nodes
        if len(nodes) == 1:
            return pieces[0] + names[nodes[0]] + pieces[1]
        if len(nodes) == 2:
            return pieces[0] + names[nodes[0]] + pieces[1] + names[nodes[1]] + pieces[2]
        return self.line([names[node] for node in nodes])


def split(lines: Iterable[bytes]) -> tuple[list[bytes], list[Quad]]:
    """Lines of N-Quads, each once: those without blank nodes as they are, and the others cut up."""
    ground: list[bytes] = []
    quads: list[Quad] = []
    for line in lines:
        if b"_:" in line and (quad := _plain(line) or _cut(line)).nodes:
            quads.append(quad)
        elif line:
            ground.append(line)
    return ground, quads


def numbered(lines: Iterable[bytes], prefix: bytes = b"b") -> list[bytes]:
    """Lines with their blank nodes named in order of appearance: parsers name them at random."""
    names: dict[bytes, bytes] = {}
    made: list[bytes] = []
    for line in lines:
        _, quads = split([line])
        for quad in quads:
            for node in quad.nodes:
                names.setdefault(node, b"_:%s%d" % (prefix, len(names)))
        made.append(quads[0].line([names[node] for node in quads[0].nodes]) if quads else line)
    return made


def _plain(line: bytes) -> Quad | None:
    """The same as `_cut`, for the two common forms that need no look inside terms."""
    marks = line.count(b"_:")
    if marks > 2:
        return None
    subject, predicate, rest = line.split(b" ", 2)
    if marks == 1 and subject.startswith(b"_:"):
        return Quad((b"", line[len(subject) :]), (subject,), (b"s",), predicate)
    if not rest.startswith(b"_:"):
        return None
    node, _, end = rest.partition(b" ")
    if marks == 1:
        return Quad((b"%s %s " % (subject, predicate), b" " + end), (node,), (b"o",), predicate)
    if subject.startswith(b"_:"):
        return Quad((b"", b" %s " % predicate, b" " + end), (subject, node), (b"s", b"o"), predicate)
    return None


def _cut(line: bytes) -> Quad:
    pieces: list[bytes] = []
    nodes: list[bytes] = []
    positions: list[bytes] = []
    predicate = b""
    place = terms = depth = 0
    for match in _TERM.finditer(line):
        term = match[0]
        if term == b")>>":
            depth -= 1
        elif term == b"<<(":
            depth += 1
            terms += depth == 1
            continue
        if term.startswith(b"_:"):
            pieces.append(line[place : match.start()])
            nodes.append(term)
            positions.append(b"t" if depth else _POSITIONS[min(terms, 3)])
            place = match.end()
        elif terms == 1 and not depth and term.startswith(b"<"):
            predicate = term
        if not depth and term != b")>>" and not line.startswith(b"^^", match.start() - 2):
            terms += 1
    pieces.append(line[place:])
    return Quad(tuple(pieces), tuple(nodes), tuple(positions), predicate)
