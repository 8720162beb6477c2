"""A real SPARQL endpoint on loopback: an Oxigraph store behind the SPARQL 1.1 Protocol, with faults on demand."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from urllib.parse import parse_qs, urlsplit

import pyoxigraph as ox

from tests.fetch.asking import Answer, Asked
from webstrata.fetch.handlers.negotiate import best_match

RESULTS = [
    "text/tab-separated-values",
    "text/csv",
    "application/sparql-results+xml",
    "application/sparql-results+json",
]
GRAPHS = ["application/rdf+xml", "text/turtle", "application/n-quads", "application/n-triples"]


class Endpoint:
    """Answers queries; `faults` are tried in order on each question and may answer in its place."""

    def __init__(self, store: ox.Store, *, most_rows: int | None = None, shuffled: bool = False) -> None:
        self.store = store
        self.faults: list[Callable[[str], Answer | None]] = []
        self.queries: list[str] = []
        self._most_rows = most_rows
        self._shuffled = random.Random(1) if shuffled else None

    def __call__(self, asked: Asked) -> Answer:
        if urlsplit(asked.target).path.rstrip("/") != "/sparql":
            return Answer(404)
        query, graphs, named = _question(asked)
        if query is None:
            return Answer(400, body=b"no query")
        self.queries.append(query)
        for fault in self.faults:
            if (answer := fault(query)) is not None:
                return answer
        return self.answer(query, asked.headers.get("accept", "*/*"), graphs, named)

    def answer(self, query: str, accept: str, graphs: Sequence[str] = (), named: Sequence[str] = ()) -> Answer:
        default = [ox.NamedNode(graph) for graph in graphs] or None
        others = [ox.NamedNode(graph) for graph in named] or None
        try:
            found = self.store.query(query, default_graph=default, named_graphs=others)
        except SyntaxError as problem:
            return Answer(400, body=str(problem).encode())
        if isinstance(found, ox.QueryTriples):
            kind = best_match(GRAPHS, accept)
            return Answer(
                headers={"Content-Type": kind}, body=found.serialize(format=ox.RdfFormat.from_media_type(kind))
            )
        kind = best_match(RESULTS, accept)
        form = ox.QueryResultsFormat.from_media_type(kind)
        body = found.serialize(format=form)
        if isinstance(found, ox.QuerySolutions) and (self._most_rows is not None or self._shuffled):
            body = self._meddled(body)
        return Answer(headers={"Content-Type": kind}, body=body)

    def _meddled(self, body: bytes) -> bytes:
        """JSON results with the endpoint's own limit, or in an order of its own."""
        import json

        document = json.loads(body)
        rows = document["results"]["bindings"]
        if self._shuffled is not None:
            self._shuffled.shuffle(rows)
        document["results"]["bindings"] = rows[: self._most_rows]
        return json.dumps(document).encode()


def _question(asked: Asked) -> tuple[str | None, list[str], list[str]]:
    """The query, its default graphs and its named graphs, as the protocol carries them."""
    fields = parse_qs(urlsplit(asked.target).query)
    kind = asked.headers.get("content-type", "")
    if asked.method == "POST" and kind == "application/x-www-form-urlencoded":
        fields |= parse_qs(asked.body.decode())
    queries = fields.get("query", [])
    if asked.method == "POST" and kind == "application/sparql-query":
        queries = [asked.body.decode()]
    graphs, named = fields.get("default-graph-uri", []), fields.get("named-graph-uri", [])
    return (queries[0] if len(queries) == 1 else None), graphs, named


def store_of(turtle: str) -> ox.Store:
    store = ox.Store()
    store.load(turtle.encode(), format=ox.RdfFormat.TRIG)
    return store
