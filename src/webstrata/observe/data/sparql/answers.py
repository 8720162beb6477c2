"""What the `sparql` handler must understand of answers, in one object that it can be handed."""

from __future__ import annotations

from collections.abc import Iterable

from webstrata.observe.data.sparql.canonical import canonical
from webstrata.observe.data.sparql.quads import GraphLines, count_triples, graph_lines, quad_lines
from webstrata.observe.data.sparql.results import Results, Row, read_results


class SparqlAnswers:
    """Reads answers of SPARQL endpoints. Pure; every method raises ValueError for what is not whole."""

    def results(self, body: bytes, media_type: str) -> Results:
        return read_results(body, media_type)

    def canonical(self, results: Results) -> bytes:
        return canonical(results)

    def quads(self, rows: Iterable[Row]) -> set[bytes]:
        return quad_lines(rows)

    def triples(self, body: bytes, media_type: str, url: str) -> int:
        return count_triples(body, media_type, url)

    def graph(self, body: bytes, media_type: str, url: str, name: str, prefix: str) -> GraphLines:
        return graph_lines(body, media_type, url, name, prefix)
