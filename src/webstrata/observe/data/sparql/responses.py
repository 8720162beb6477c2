"""Rows of quads (?g ?s ?p ?o) as N-Quads, and whether an RDF document is whole.

What the `sparql` handler must understand of answers, in one object that it can be handed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from webstrata.observe.data.rdf.graph import quads_of
from webstrata.observe.data.rdf.quads import iri, literal, split
from webstrata.observe.data.sparql.canonical import canonical_results
from webstrata.observe.data.sparql.results import Results, Row, Term, read_results

_SYNTAX = {
    "application/n-triples": "ntriples",
    "application/n-quads": "nquads",
    "text/turtle": "turtle",
    "application/x-turtle": "turtle",
    "application/trig": "trig",
    "application/rdf+xml": "rdfxml",
    "application/ld+json": "jsonld",
}
_PLAIN_LABEL = re.compile(r"[A-Za-z][A-Za-z0-9]*")


def quad_lines(rows: Iterable[Row]) -> set[bytes]:
    """Lines of N-Quads. Rows are graph (none: the default graph), subject, predicate, object."""
    lines: set[bytes] = set()
    for graph, *parts in rows:
        if any(part is None for part in parts):
            continue
        named = [*parts, graph] if graph is not None else parts
        lines.add(" ".join([_spelled(part) for part in named if part is not None]).encode("utf-8", "replace") + b" .\n")
    return lines


def _spelled(term: Term) -> str:
    if term.kind == "uri":
        return iri(term.value)
    if term.kind == "bnode":
        return f"_:{_label(term.value)}"
    if term.kind == "triple":
        return f"<<( {' '.join(_spelled(part) for part in term.inner)} )>>"
    return literal(term.value, term.language, term.datatype)


def _label(name: str) -> str:
    """Endpoints use characters in labels that N-Quads does not allow. No two names become one."""
    return f"n{name}" if _PLAIN_LABEL.fullmatch(name) else f"x{name.encode('utf-8', 'replace').hex()}"


class GraphLines(NamedTuple):
    """A graph of a dataset."""

    lines: set[bytes]
    blanks: bool
    """Blank nodes are among its terms."""


def graph_lines(body: bytes, media_type: str, url: str, name: str, prefix: str) -> GraphLines:
    """The triples of a whole RDF document as N-Quads of a named graph (empty: the default graph).

    Its blank nodes get names that begin with `prefix`: two documents that name theirs alike still have different ones.
    """
    ground, quads = split(_statements(body, media_type, url))
    names: dict[bytes, bytes] = {}
    for quad in quads:
        for node in quad.nodes:
            names.setdefault(node, b"_:%s%d" % (prefix.encode("ascii"), len(names)))
    lines = [*ground, *(quad.line([names[node] for node in quad.nodes]) for quad in quads)]
    end = f" {iri(name)} .\n".encode("utf-8", "replace") if name else b" .\n"
    return GraphLines({line.removesuffix(b" .") + end for line in lines}, bool(quads))


def count_triples(body: bytes, media_type: str, url: str) -> int:
    """Statements of a whole RDF document; ValueError where it is broken, cut off, too large or not read as RDF."""
    return len(_statements(body, media_type, url))


def _statements(body: bytes, media_type: str, url: str) -> list[bytes]:
    syntax = _SYNTAX.get(media_type)
    if syntax is None:
        raise ValueError(f"{media_type or 'an answer without a media type'} is no format of RDF")
    return quads_of(body, None, url, syntax=syntax)


class SparqlResponseParser:
    """Reads answers of SPARQL endpoints. Pure; every method raises ValueError for what is not whole."""

    def results(self, body: bytes, media_type: str) -> Results:
        return read_results(body, media_type)

    def canonical(self, results: Results) -> bytes:
        return canonical_results(results)

    def quads(self, rows: Iterable[Row]) -> set[bytes]:
        return quad_lines(rows)

    def triples(self, body: bytes, media_type: str, url: str) -> int:
        return count_triples(body, media_type, url)

    def graph(self, body: bytes, media_type: str, url: str, name: str, prefix: str) -> GraphLines:
        return graph_lines(body, media_type, url, name, prefix)
