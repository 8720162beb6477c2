"""SPARQL queries as an asking client needs them: their form, and the queries that page through a whole dataset."""

from __future__ import annotations

import re
from typing import Literal
from urllib.parse import parse_qsl, quote, urlsplit, urlunsplit

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


def page_of_everything(offset: int, limit: int) -> str:
    """One page of all quads in a stable order; default graph rows have no ?g.

    SELECT, because the order of a CONSTRUCT's answer is not defined and pages of it could not be put together.
    """
    return (
        "SELECT ?g ?s ?p ?o WHERE { { ?s ?p ?o } UNION { GRAPH ?g { ?s ?p ?o } } } "
        f"ORDER BY ?g ?s ?p ?o LIMIT {limit} OFFSET {offset}"
    )


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
