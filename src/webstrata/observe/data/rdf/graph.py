"""Parses RDF, and computes the digest of a graph: independent of order, prefixes, blank node labels and syntax.

The parser is native code without limits and cannot be interrupted. Therefore input that could exhaust it is rejected
before parsing (nesting, entities, many triple terms), and its output is counted while it is written.
"""

from __future__ import annotations

from collections.abc import Mapping
from io import RawIOBase
from typing import IO, cast

import pyoxigraph
from pyoxigraph import RdfFormat

from webstrata.observe.data import xml
from webstrata.observe.data.digest import DataDigest, refused
from webstrata.observe.data.rdf.graph_digest import graph_digest
from webstrata.observe.data.rdf.jsonld_document import nquads
from webstrata.observe.data.rdf.rdfc import TooHardError

MAX_BYTES = 64 * 1024 * 1024
MAX_NQUADS_BYTES = 256 * 1024 * 1024
"""Bytes of N-Quads that the parser may write; prefixes and entities can expand a small body."""
MAX_QUADS = 1_000_000
_MAX_TRIPLE_TERMS = 1_000
"""Triple terms in one body; tens of thousands of nested ones overflow the parser's stack."""

FORMATS = {
    "turtle": RdfFormat.TURTLE,
    "ntriples": RdfFormat.N_TRIPLES,
    "nquads": RdfFormat.N_QUADS,
    "trig": RdfFormat.TRIG,
    "n3": RdfFormat.N3,
    "rdfxml": RdfFormat.RDF_XML,
    "jsonld": RdfFormat.N_QUADS,  # after its conversion by our own processor
}
SYNTAX_OF_TYPE = {
    "application/n-triples": "ntriples",
    "application/n-quads": "nquads",
    "text/turtle": "turtle",
    "application/x-turtle": "turtle",
    "application/trig": "trig",
    "application/rdf+xml": "rdfxml",
    "application/ld+json": "jsonld",
}
"""The syntax (a key of `FORMATS`) by media type."""


class NotAGraphError(ValueError):
    """The body is not an RDF graph that can be parsed; the message is the reason."""


def rdf_digest(
    body: bytes, charset: str | None, url: str, *, syntax: str, contexts: Mapping[str, bytes] | None = None
) -> DataDigest:
    """The digest of one graph or dataset in a syntax of `FORMATS`. Never raises."""
    try:
        lines = quads_of(body, charset, url, syntax=syntax, contexts=contexts)
        if not lines:
            return refused("graph", "no triples")
        return DataDigest(kind="graph", digest=graph_digest(lines), size=len(lines))
    except (NotAGraphError, TooHardError) as error:
        return refused("graph", error)


def quads_of(
    body: bytes, charset: str | None, url: str, *, syntax: str, contexts: Mapping[str, bytes] | None = None
) -> list[bytes]:
    """The quads of a body as N-Quads lines without line ends, with the parser's blank node labels.

    `contexts`: for JSON-LD, the bodies of remote contexts by their URLs. Raises `NotAGraphError`.
    """
    if len(body) > MAX_BYTES:
        raise NotAGraphError(f"longer than {MAX_BYTES} bytes")
    if body.count(b"<<") > _MAX_TRIPLE_TERMS:
        raise NotAGraphError(f"more than {_MAX_TRIPLE_TERMS} triple terms")
    if syntax == "rdfxml":
        problem = xml.safety_problem(body)
        if problem is not None:
            raise NotAGraphError(problem)
    if syntax == "jsonld":
        try:
            body = nquads(body, charset, url, contexts or {}, MAX_QUADS)
        except ValueError as error:
            raise NotAGraphError(str(error)) from error
    output = _LimitedOutput()
    try:
        base: str | None = url.partition("#")[0] or None
        quads = pyoxigraph.parse(body, FORMATS[syntax], base_iri=base)
        pyoxigraph.serialize(quads, cast(IO[bytes], output), format=RdfFormat.N_QUADS)
    except (SyntaxError, ValueError, OSError) as error:  # malformed, a URL that is not an IRI, or too much output
        raise NotAGraphError(output.problem or f"not {syntax}: {error}") from None
    return output.lines()


class _LimitedOutput(RawIOBase):
    """Collects the serializer's output up to a limit."""

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
