"""A SPARQL endpoint on loopback: an Oxigraph store with the SPARQL 1.1 Protocol and configurable faults."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from urllib.parse import parse_qs, urlsplit

import pyoxigraph as ox

from tests.fetch.local_site import Answer, Asked
from webstrata.fetch.handlers.negotiate import accept_quality

RESULTS = [
    "application/sparql-results+json",
    "application/sparql-results+xml",
    "text/csv",
    "text/tab-separated-values",
]
GRAPHS = ["application/n-triples", "application/n-quads", "text/turtle", "application/rdf+xml"]


class Endpoint:
    """Responds to queries. The `faults` are called in order for each query and may return another response."""

    def __init__(self, store: ox.Store, *, max_rows: int | None = None, shuffled: bool = False) -> None:
        self.store = store
        self.faults: list[Callable[[str], Answer | None]] = []
        self.queries: list[str] = []
        self._max_rows = max_rows
        self._shuffled = random.Random(1) if shuffled else None

    def __call__(self, asked: Asked) -> Answer:
        if urlsplit(asked.target).path.rstrip("/") != "/sparql":
            return Answer(404)
        query, graphs, named = _query(asked)
        if query is None:
            return Answer(400, body=b"no query")
        self.queries.append(query)
        for fault in self.faults:
            if (answer := fault(query)) is not None:
                return answer
        return self.answer(query, asked.headers.get("accept", "*/*"), graphs, named)

    def answer(self, query: str, accept: str, graphs: Sequence[str] = (), named: Sequence[str] = ()) -> Answer:
        default: list[ox.NamedNode | ox.BlankNode | ox.DefaultGraph] = [ox.NamedNode(graph) for graph in graphs]
        others: list[ox.NamedNode | ox.BlankNode] = [ox.NamedNode(graph) for graph in named]
        try:
            results = self.store.query(query, default_graph=default or None, named_graphs=others or None)
        except SyntaxError as problem:
            return Answer(400, body=str(problem).encode())
        if isinstance(results, ox.QueryTriples):
            kind = max(GRAPHS, key=lambda media_type: accept_quality(media_type, accept))
            body = results.serialize(format=ox.RdfFormat.from_media_type(kind))
            return Answer(headers={"Content-Type": kind}, body=body or b"")
        kind = max(RESULTS, key=lambda media_type: accept_quality(media_type, accept))
        form = ox.QueryResultsFormat.from_media_type(kind)
        body = results.serialize(format=form)
        assert body is not None
        if isinstance(results, ox.QuerySolutions) and (self._max_rows is not None or self._shuffled):
            body = self._altered(body)
        return Answer(headers={"Content-Type": kind}, body=body)

    def _altered(self, body: bytes) -> bytes:
        """JSON results with a row limit, or in random order."""
        import json

        document = json.loads(body)
        rows = document["results"]["bindings"]
        if self._shuffled is not None:
            self._shuffled.shuffle(rows)
        document["results"]["bindings"] = rows[: self._max_rows]
        return json.dumps(document).encode()


def _query(asked: Asked) -> tuple[str | None, list[str], list[str]]:
    """The query, its default graphs and its named graphs, by the SPARQL 1.1 Protocol."""
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
