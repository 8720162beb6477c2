"""RDF -> digest of the graph: order, prefixes, labels of blank nodes and the format do not count.

The parser is native code that knows no limits and that nothing can interrupt, so what could hurt it is refused before:
nesting, entities, masses of triple terms. What it writes is counted while it writes.
"""

from __future__ import annotations

from io import RawIOBase
from typing import IO, cast

import pyoxigraph
from pyoxigraph import RdfFormat

from webstrata.observe.data import xml
from webstrata.observe.data.digest import DataDigest, refused
from webstrata.observe.data.rdf.graph_digest import graph_digest
from webstrata.observe.data.rdf.rdfc import TooHardError

MAX_BYTES = 64 * 1024 * 1024
MAX_NQUADS_BYTES = 256 * 1024 * 1024
"""Bytes of N-Quads: prefixes and entities may make much of little."""
MAX_QUADS = 1_000_000
_MOST_TRIPLE_TERMS = 1_000
"""Opened in one file; nested by the ten thousand they overflow the parser's stack."""

FORMATS = {
    "turtle": RdfFormat.TURTLE,
    "ntriples": RdfFormat.N_TRIPLES,
    "nquads": RdfFormat.N_QUADS,
    "trig": RdfFormat.TRIG,
    "n3": RdfFormat.N3,
    "rdfxml": RdfFormat.RDF_XML,
    "jsonld": RdfFormat.JSON_LD,
}


class NotAGraphError(ValueError):
    """With the reason."""


def rdf_digest(body: bytes, charset: str | None, url: str, *, syntax: str) -> DataDigest:
    """One graph or dataset in a syntax of `FORMATS`. Never raises."""
    try:
        lines = quads_of(body, charset, url, syntax=syntax)
        if not lines:
            return refused("graph", "no triples")
        return DataDigest(kind="graph", digest=graph_digest(lines), size=len(lines))
    except (NotAGraphError, TooHardError) as error:
        return refused("graph", error)


def quads_of(body: bytes, charset: str | None, url: str, *, syntax: str) -> list[bytes]:
    """The quads of a body as lines of N-Quads without their ends, as written. Raises `NotAGraphError`."""
    if len(body) > MAX_BYTES:
        raise NotAGraphError(f"longer than {MAX_BYTES} bytes")
    if body.count(b"<<") > _MOST_TRIPLE_TERMS:
        raise NotAGraphError(f"more than {_MOST_TRIPLE_TERMS} triple terms")
    if syntax == "rdfxml":
        problem = xml.safety_problem(body)
        if problem is not None:
            raise NotAGraphError(problem)
    written = _Written()
    try:
        base: str | None = url.partition("#")[0] or None
        quads = pyoxigraph.parse(body, FORMATS[syntax], base_iri=base)
        pyoxigraph.serialize(quads, cast(IO[bytes], written), format=RdfFormat.N_QUADS)
    except (SyntaxError, ValueError, OSError) as error:  # broken, an URL that is no IRI, or too much written
        raise NotAGraphError(written.problem or f"not {syntax}: {error}") from None
    return written.lines()


class _Written(RawIOBase):
    """Takes what the serializer writes, up to a limit."""

    def __init__(self) -> None:
        self._chunks: list[bytes] = []
        self._size = 0
        self.problem: str | None = None

    def writable(self) -> bool:
        return True

    def write(self, chunk: bytes) -> int:  # type: ignore[override]
        self._size += len(chunk)
        if self._size > MAX_NQUADS_BYTES:
            self.problem = f"more than {MAX_NQUADS_BYTES} bytes of N-Quads"
            raise OSError(self.problem)
        self._chunks.append(bytes(chunk))
        return len(chunk)

    def lines(self) -> list[bytes]:
        lines = b"".join(self._chunks).split(b"\n")
        lines.pop()
        if len(lines) > MAX_QUADS:
            raise NotAGraphError(f"more than {MAX_QUADS} triples")
        return lines
