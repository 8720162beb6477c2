"""SPARQL queries as an asking client needs them: their form, and the queries that page through a whole dataset.

A sum over rows that an endpoint and we reckon apart: the same sum, the same rows.

Each row becomes a text, of that the SHA-256, of that the first 40 bits; these are added. Two sets of rows that differ
have the same sum once in 10^12. Rows with blank nodes or triple terms have no text that both sides would agree on, and
so no sum.
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
    """What a query asks for; None for what is no query (an update above all)."""
    start = _SKIP.match(query)
    found = _FORM.match(query, start.end() if start else 0)
    if found is None:
        return None
    form: Form = found[1].upper()  # type: ignore[assignment]
    return form


EVERY_QUAD = "SELECT ?g ?s ?p ?o WHERE { { ?s ?p ?o } UNION { GRAPH ?g { ?s ?p ?o } } } ORDER BY ?g ?s ?p ?o"
"""All quads in a stable order; those of the default graph have no ?g.

SELECT, because the order of a CONSTRUCT's answer is not defined and pages of it could not be joined.
"""


def page_of_everything(offset: int, limit: int) -> str:
    return f"{EVERY_QUAD} LIMIT {limit} OFFSET {offset}"


# ── graph by graph ──────────────────────────────────────────────────────────────────────────────────────────

DEFAULT, ALL = "default", "all"
"""What is said in place of a graph's name: the default graph; every named graph that the endpoint lists."""
_NOT_IN_IRI = re.compile(r'[\x00-\x20<>"{}|^`\\]')

HOW_MANY_GRAPHS = "SELECT (COUNT(DISTINCT ?g) AS ?n) WHERE { GRAPH ?g { ?s ?p ?o } }"
SIZES = "SELECT ?g (COUNT(*) AS ?n) WHERE { GRAPH ?g { ?s ?p ?o } } GROUP BY ?g ORDER BY ?g"


def is_graph_name(name: str) -> bool:
    """Whether a name can stand in a query as it is: an absolute IRI, or one of the two words."""
    return name in (DEFAULT, ALL) or (":" in name and _NOT_IN_IRI.search(name) is None)


def size_of(name: str) -> str:
    """How many triples (?n) a graph has."""
    return f"SELECT (COUNT(*) AS ?n) WHERE {{ {_pattern(name)} }}"


def page_of_graph(name: str, offset: int, limit: int, size: int) -> str:
    """Triples of a graph; in a stable order where they do not come all at once."""
    if not offset and limit >= size:
        return f"CONSTRUCT {{ ?s ?p ?o }} WHERE {{ {_pattern(name)} }}"
    return (
        f"CONSTRUCT {{ ?s ?p ?o }} WHERE {{ {{ SELECT ?s ?p ?o WHERE {{ {_pattern(name)} }} "
        f"ORDER BY ?s ?p ?o LIMIT {limit} OFFSET {offset} }} }}"
    )


def _pattern(name: str) -> str:
    return "?s ?p ?o" if name == DEFAULT else f"GRAPH <{name}> {{ ?s ?p ?o }}"


def split_query(url: str) -> tuple[str, str]:
    """(endpoint, query) of a URL that carries a query; the query is empty where there is none."""
    parts = urlsplit(url)
    pairs = parse_qsl(parts.query, keep_blank_values=True)
    query = next((value for name, value in pairs if name == "query"), "")
    rest = "&".join(f"{quote(name, safe='')}={quote(value, safe='')}" for name, value in pairs if name != "query")
    return urlunsplit((parts.scheme, parts.netloc, parts.path, rest, "")), query


def query_url(endpoint: str, query: str) -> str:
    """The query as the URL of a GET: also the name under which a query of an endpoint is watched."""
    joint = "&" if urlsplit(endpoint).query else "?"
    return f"{endpoint}{joint}query={quote(query, safe='')}"


_DIGITS = 10
"""Hexadecimal ones: sums over the largest dataset stay below 2^63, which is where some endpoints end."""
_STRING = "http://www.w3.org/2001/XMLSchema#string"
_OBJECT = (
    'IF(isLiteral(?o), CONCAT("\\"", STR(?o), "\\"", LCASE(LANG(?o)), "^", '
    f'IF(LANG(?o) = "" && DATATYPE(?o) != <{_STRING}>, STR(DATATYPE(?o)), "")), STR(?o))'
)
_TEXT = f'CONCAT(IF(BOUND(?g), STR(?g), ""), " ", STR(?s), " ", STR(?p), " ", {_OBJECT})'
_NUMBER = " + ".join(
    f'{16 ** (_DIGITS - place)} * STRLEN(STRBEFORE("0123456789abcdef", SUBSTR(?h, {place}, 1)))'
    for place in range(1, _DIGITS + 1)
)


def sum_of_first(rows: int) -> str:
    """The query for number (?n) and sum (?sum) of the first rows of everything."""
    return (
        f"SELECT (COUNT(*) AS ?n) (SUM(?c) AS ?sum) WHERE {{ {{ {EVERY_QUAD} LIMIT {rows} }} "
        f"BIND(SHA256({_TEXT}) AS ?h) BIND({_NUMBER} AS ?c) }}"
    )


def has_sum(row: Row) -> bool:
    return all(term is None or term.kind in ("uri", "literal") for term in row)


def row_sum(rows: Iterable[Row]) -> int:
    """Of rows ?g ?s ?p ?o that have one."""
    return sum(int(hashlib.sha256(_text(row).encode("utf-8", "replace")).hexdigest()[:_DIGITS], 16) for row in rows)


def _text(row: Row) -> str:
    graph, subject, predicate, found = row
    spelled = found.value if found.kind == "uri" else f'"{found.value}"{found.language}^{found.datatype}'
    return f"{'' if graph is None else graph.value} {subject.value} {predicate.value} {spelled}"
