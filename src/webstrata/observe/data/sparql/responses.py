"""Parses the responses of SPARQL endpoints for the `sparql` handler: rows and RDF documents as N-Quads lines.

The functions raise ValueError for a document that is malformed, truncated, too large or of another format.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from webstrata.observe.data.rdf.graph import SYNTAX_OF_TYPE, quads_of
from webstrata.observe.data.rdf.quads import iri, literal, renumber_blanks
from webstrata.observe.data.sparql.results import Row, Term

_PLAIN_LABEL = re.compile(r"[A-Za-z][A-Za-z0-9]*")


class GraphLines(NamedTuple):
    """One graph of a dataset, as N-Quads lines."""

    lines: set[bytes]
    blanks: bool
    """Whether the graph contains blank nodes."""


def quad_lines(rows: Iterable[Row]) -> set[bytes]:
    """N-Quads lines of rows (graph, subject, predicate, object); the default graph has no graph term."""
    lines: set[bytes] = set()
    for graph, *parts in rows:
        if any(part is None for part in parts):
            continue
        terms = [*parts, graph] if graph is not None else parts
        line = " ".join([_nquads_term(term) for term in terms if term is not None])
        lines.add(line.encode("utf-8", "replace") + b" .\n")
    return lines


def count_triples(body: bytes, media_type: str, url: str) -> int:
    """The number of triples in an RDF document."""
    return len(_statements(body, media_type, url))


def graph_lines(body: bytes, media_type: str, url: str, name: str, prefix: str) -> GraphLines:
    """The triples of an RDF document as N-Quads lines of a named graph (empty name: the default graph).

    The labels of its blank nodes get a prefix, so that blank nodes of different documents have different labels.
    """
    lines, has_blanks = renumber_blanks(_statements(body, media_type, url), prefix.encode("ascii"))
    end = f" {iri(name)} .\n".encode("utf-8", "replace") if name else b" .\n"
    return GraphLines({line.removesuffix(b" .") + end for line in lines}, has_blanks)


def _nquads_term(term: Term) -> str:
    if term.kind == "uri":
        return iri(term.value)
    if term.kind == "bnode":
        return f"_:{_label(term.value)}"
    if term.kind == "triple":
        return f"<<( {' '.join(_nquads_term(part) for part in term.inner)} )>>"
    return literal(term.value, term.language, term.datatype)


def _label(name: str) -> str:
    """A label allowed in N-Quads; endpoints use other characters, too. Different names give different labels."""
    return f"n{name}" if _PLAIN_LABEL.fullmatch(name) else f"x{name.encode('utf-8', 'replace').hex()}"


def _statements(body: bytes, media_type: str, url: str) -> list[bytes]:
    syntax = SYNTAX_OF_TYPE.get(media_type)
    if syntax is None:
        raise ValueError(f"{media_type or 'a response without a media type'} is no format of RDF")
    return quads_of(body, None, url, syntax=syntax)
