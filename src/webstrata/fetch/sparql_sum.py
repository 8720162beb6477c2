"""A sum over rows that an endpoint and we reckon apart: the same sum, the same rows.

Each row becomes a text, of that the SHA-256, of that the first 40 bits; these are added. Two sets of rows that differ
have the same sum once in 10^12. Rows with blank nodes or triple terms have no text that both sides would agree on, and
so no sum.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

from webstrata.fetch.sparql_labels import Row
from webstrata.fetch.sparql_query import EVERY_QUAD

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
