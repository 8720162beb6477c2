"""SPARQL queries: their form, the queries that page through a dataset, and a checksum of rows.

The endpoint and the crawler compute the checksum independently; if it is equal, so are the rows. Each row is written as
a text, and the first 40 bits of the SHA-256 of the texts are added. Two different sets of rows have the same checksum
with a probability of 10^-12. Rows with blank nodes or triple terms have no text that is the same on both sides, and so
no checksum.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from typing import Literal
from urllib.parse import parse_qsl, quote, urlsplit, urlunsplit

from webstrata.fetch.handlers.sparql.labels import Row

Form = Literal["SELECT", "CONSTRUCT", "DESCRIBE", "ASK"]

_SKIP = re.compile(
    r"(?:\s+|\#[^\r\n]*|\ufeff"
    r"|(?:BASE|PREFIX\s+[^\s:<>]*:)\s*<[^<>\s]*>)*",
    re.IGNORECASE,
)
_FORM = re.compile(r"(SELECT|CONSTRUCT|DESCRIBE|ASK)\b", re.IGNORECASE)


def form_of(query: str) -> Form | None:
    """The form of a query; None if the text is not a query (an update, for example)."""
    start = _SKIP.match(query)
    match = _FORM.match(query, start.end() if start else 0)
    if match is None:
        return None
    form: Form = match[1].upper()  # type: ignore[assignment]
    return form


ALL_QUADS = "SELECT ?g ?s ?p ?o WHERE { { ?s ?p ?o } UNION { GRAPH ?g { ?s ?p ?o } } } ORDER BY ?g ?s ?p ?o"
"""All quads in a stable order; those of the default graph have no ?g.

The order of the result of a CONSTRUCT is not defined, so its pages could not be joined.
"""


def dataset_page_query(offset: int, limit: int) -> str:
    return f"{ALL_QUADS} LIMIT {limit} OFFSET {offset}"


# ── graph by graph ──────────────────────────────────────────────────────────────────────────────────────────

DEFAULT, ALL = "default", "all"
"""Words in place of the name of a graph: the default graph; every named graph that the endpoint lists."""
_NOT_IN_IRI = re.compile(r'[\x00-\x20<>"{}|^`\\]')

COUNT_GRAPHS = "SELECT (COUNT(DISTINCT ?g) AS ?n) WHERE { GRAPH ?g { ?s ?p ?o } }"
GRAPH_SIZES = "SELECT ?g (COUNT(*) AS ?n) WHERE { GRAPH ?g { ?s ?p ?o } } GROUP BY ?g ORDER BY ?g"


def is_graph_name(name: str) -> bool:
    """Whether a name can be used in a query: an absolute IRI, or one of the two words."""
    return name in (DEFAULT, ALL) or (":" in name and _NOT_IN_IRI.search(name) is None)


def graph_size_query(name: str) -> str:
    """The query for the number of triples (?n) of a graph."""
    return f"SELECT (COUNT(*) AS ?n) WHERE {{ {_pattern(name)} }}"


def graph_page_query(name: str, offset: int, limit: int, size: int) -> str:
    """The query for a page of a graph; with a stable order if the page is not the whole graph."""
    if not offset and limit >= size:
        return f"CONSTRUCT {{ ?s ?p ?o }} WHERE {{ {_pattern(name)} }}"
    return (
        f"CONSTRUCT {{ ?s ?p ?o }} WHERE {{ {{ SELECT ?s ?p ?o WHERE {{ {_pattern(name)} }} "
        f"ORDER BY ?s ?p ?o LIMIT {limit} OFFSET {offset} }} }}"
    )


def _pattern(name: str) -> str:
    return "?s ?p ?o" if name == DEFAULT else f"GRAPH <{name}> {{ ?s ?p ?o }}"


def split_query(url: str) -> tuple[str, str]:
    """(endpoint, query) of a URL; the query is empty if the URL has none."""
    parts = urlsplit(url)
    pairs = parse_qsl(parts.query, keep_blank_values=True)
    query = next((value for name, value in pairs if name == "query"), "")
    rest = "&".join(f"{quote(name, safe='')}={quote(value, safe='')}" for name, value in pairs if name != "query")
    return urlunsplit((parts.scheme, parts.netloc, parts.path, rest, "")), query


def query_url(endpoint: str, query: str) -> str:
    """The URL of a query by GET; a query is also watched under this URL."""
    joint = "&" if urlsplit(endpoint).query else "?"
    return f"{endpoint}{joint}query={quote(query, safe='')}"


_DIGITS = 10
"""Hexadecimal digits: sums over the largest dataset stay below 2^63, the integer limit of some endpoints."""
_STRING = "http://www.w3.org/2001/XMLSchema#string"
_OBJECT = (
    'IF(isLiteral(?o), CONCAT("\\"", STR(?o), "\\"", LCASE(LANG(?o)), "^", '
    f'IF(LANG(?o) = "" && DATATYPE(?o) != <{_STRING}>, STR(DATATYPE(?o)), "")), STR(?o))'
)
_TEXT = f'CONCAT(IF(BOUND(?g), STR(?g), ""), " ", STR(?s), " ", STR(?p), " ", {_OBJECT})'
_NUMBER = " + ".join(
    f'{16 ** (_DIGITS - position)} * STRLEN(STRBEFORE("0123456789abcdef", SUBSTR(?h, {position}, 1)))'
    for position in range(1, _DIGITS + 1)
)


def checksum_query(rows: int) -> str:
    """The query for the number (?n) and the checksum (?sum) of the first rows of the dataset."""
    return (
        f"SELECT (COUNT(*) AS ?n) (SUM(?c) AS ?sum) WHERE {{ {{ {ALL_QUADS} LIMIT {rows} }} "
        f"BIND(SHA256({_TEXT}) AS ?h) BIND({_NUMBER} AS ?c) }}"
    )


def has_checksum(row: Row) -> bool:
    """Whether the row is a statement without blank nodes and triple terms."""
    graph, *statement = row
    if any(term is None for term in statement):
        return False
    return all(term is None or term.kind in ("uri", "literal") for term in (graph, *statement))


def checksum(rows: Iterable[Row]) -> int:
    """The checksum of rows ?g ?s ?p ?o that have one."""
    return sum(int(hashlib.sha256(_text(row).encode("utf-8", "replace")).hexdigest()[:_DIGITS], 16) for row in rows)


def _text(row: Row) -> str:
    graph, subject, predicate, object_ = row
    text = object_.value if object_.kind == "uri" else f'"{object_.value}"{object_.language}^{object_.datatype}'
    return f"{'' if graph is None else graph.value} {subject.value} {predicate.value} {text}"
