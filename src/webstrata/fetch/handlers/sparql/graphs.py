"""`GraphPass`: a dataset fetched graph by graph with CONSTRUCT and joined to N-Quads.

The labels of blank nodes are valid within one response, so graphs that fit into a page need no stable labels. A graph
is complete if as many triples arrived as the endpoint counts for it; at the end all graphs must still have the same
counts. Larger graphs are fetched in pages with a stable order. A page that is too short is requested again with fewer
rows, and overlapping pages are detected because together they have fewer triples than the count.
"""

from __future__ import annotations

from webstrata.fetch.handlers.sparql.endpoint_client import RETRIED, EndpointClient, GraphDocument, PageSizes, partial
from webstrata.fetch.handlers.sparql.handler import ResultRows
from webstrata.fetch.handlers.sparql.query import (
    ALL,
    COUNT_GRAPHS,
    DEFAULT,
    GRAPH_SIZES,
    graph_page_query,
    graph_size_query,
    is_graph_name,
)
from webstrata.records import Failure, FailureKind, Wait


class GraphPass:
    """One pass over graphs: named graphs, `default` for the default graph, `all` for all that the endpoint lists."""

    def __init__(self, endpoint: EndpointClient, page_sizes: PageSizes, graphs: tuple[str, ...]) -> None:
        self._endpoint = endpoint
        self._page_sizes = page_sizes
        self._graphs = tuple(dict.fromkeys(graphs))
        self._limit = page_sizes.rows
        self.count = 0
        self.lines: set[bytes] = set()
        self._bytes = 0

    async def run(self) -> Failure | Wait | None:
        """Fetch all triples; returns the problem, or None if the dataset is complete."""
        sizes = await self._sizes()
        if not isinstance(sizes, dict):
            return sizes
        if sum(sizes.values()) > self._page_sizes.max_rows:
            return partial(
                f"more than {self._page_sizes.max_rows} triples; name fewer graphs, or watch a query instead"
            )
        for number, (name, size) in enumerate(sizes.items()):
            problem = await self._graph(name, size, f"g{number}n")
            if problem is not None:
                return problem
        after = await self._sizes()
        if not isinstance(after, dict):
            return after
        return None if after == sizes else partial("the data changed during the visit")

    async def _graph(self, name: str, size: int, prefix: str) -> Failure | Wait | None:
        lines: set[bytes] = set()
        offset = 0
        while offset < size:
            page = await self._page(name, offset, size, prefix)
            if isinstance(page, Failure | Wait):
                return page
            if page.blanks and len(page.lines) < size:
                return partial(f"graph {name} has blank nodes and more than a page of triples; set --page-rows {size}")
            self._bytes += sum(map(len, page.lines))
            if self._bytes > self._page_sizes.max_bytes:
                return partial(
                    f"more than {self._page_sizes.max_bytes} bytes; name fewer graphs, or watch a query instead"
                )
            lines |= page.lines
            offset += len(page.lines)
        if len(lines) != size:
            return partial(f"graph {name}: {len(lines)} triples of {size}: it changed, or has no stable order")
        self.lines |= lines
        self.count += size
        return None

    async def _page(self, name: str, offset: int, size: int, prefix: str) -> GraphDocument | Failure | Wait:
        """A complete page of triples; after some failures another attempt with fewer triples is made."""
        for attempt in range(1, self._page_sizes.max_tries + 1):
            page = await self._request_page(name, offset, size, prefix)
            if not isinstance(page, Failure) or page.kind not in RETRIED or attempt == self._page_sizes.max_tries:
                break
            self._limit = self._page_sizes.smaller(min(self._limit, size))
        return page

    async def _request_page(self, name: str, offset: int, size: int, prefix: str) -> GraphDocument | Failure | Wait:
        body = await self._endpoint.body(graph_page_query(name, offset, self._limit, size), "CONSTRUCT")
        if isinstance(body, Failure):
            return Failure(kind=body.kind, detail=f"{body.detail} (graph {name}, from triple {offset} on)"[:300])
        if not isinstance(body, tuple):
            return body
        graph = "" if name == DEFAULT else name
        try:
            page = await self._endpoint.parser.graph(*body, graph, prefix)
        except ValueError as error:
            return partial(str(error))
        expected = min(self._limit, size - offset)
        if len(page.lines) != expected:
            return partial(f"graph {name}: {len(page.lines)} triples instead of {expected}")
        return page

    # ── graphs and their sizes ──────────────────────────────────────────────────────────────────────────────

    async def _sizes(self) -> dict[str, int] | Failure | Wait:
        """The graphs to fetch, each with its number of triples."""
        sizes: dict[str, int] = {}
        for name in self._graphs:
            if not is_graph_name(name):
                return Failure(kind=FailureKind.UNEXPECTED, detail=f"not the name of a graph: {name[:200]!r}")
            some_sizes = await self._all_sizes() if name == ALL else await self._size(name)
            if not isinstance(some_sizes, dict):
                return some_sizes
            sizes |= some_sizes
        return sizes

    async def _size(self, name: str) -> dict[str, int] | Failure | Wait:
        results = await self._endpoint.results(graph_size_query(name))
        if isinstance(results, Failure | Wait):
            return results
        number = _number(results, "n")
        return partial(f"no count of graph {name}") if number is None else {name: number}

    async def _all_sizes(self) -> dict[str, int] | Failure | Wait:
        """The sizes of all graphs; checked against their number, because the endpoint may limit the rows."""
        counted = await self._endpoint.results(COUNT_GRAPHS)
        if isinstance(counted, Failure | Wait):
            return counted
        number = _number(counted, "n")
        if number is None or number > self._page_sizes.max_graphs:
            return partial(f"{number or 'an unknown number of'} graphs; name the graphs to watch")
        results = await self._endpoint.results(GRAPH_SIZES, self._page_sizes.max_graphs)
        if isinstance(results, Failure | Wait):
            return results
        sizes = _by_name(results)
        if len(sizes) != number or not all(map(is_graph_name, sizes)):
            return partial(f"{len(sizes)} of {number} graphs are listed by name; name the graphs to watch")
        return sizes


def _by_name(results: ResultRows) -> dict[str, int]:
    """The sizes by name, without graphs that are blank nodes, which cannot be queried."""
    sizes = {}
    for row in results.rows:
        terms = dict(zip(results.vars, row, strict=True))
        name, size = terms.get("g"), _integer(terms.get("n"))
        if name is not None and getattr(name, "kind", "") == "uri" and size is not None:
            sizes[str(getattr(name, "value", ""))] = size
    return sizes


def _number(results: ResultRows, name: str) -> int | None:
    if len(results.rows) != 1 or name not in results.vars:
        return None
    return _integer(results.rows[0][results.vars.index(name)])


def _integer(term: object) -> int | None:
    text = str(getattr(term, "value", ""))
    return int(text) if text.isascii() and text.isdigit() and len(text) < 19 else None
