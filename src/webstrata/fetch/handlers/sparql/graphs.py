"""A dataset read graph by graph, each by CONSTRUCT, and put together to N-Quads.

A graph's blank nodes are named within one answer, so that graphs which fit into a page need no labels that last. What
proves an answer whole is the endpoint's own count of the graph: as many triples must have come, and at the end all
graphs must still have as many as in the beginning. Larger graphs come in pages of a stable order; then a page that is
too short is asked for again, smaller, and pages that overlap are seen, because together they fall short of the count.
"""

from __future__ import annotations

import asyncio

from webstrata.fetch.handlers.sparql.endpoint_client import AGAIN, EndpointClient, GraphDocument, PageSizes, partial
from webstrata.fetch.handlers.sparql.handler import ResultRows
from webstrata.fetch.handlers.sparql.query import (
    ALL,
    DEFAULT,
    HOW_MANY_GRAPHS,
    SIZES,
    is_graph_name,
    page_of_graph,
    size_of,
)
from webstrata.records import Failure, FailureKind, Wait


class GraphPass:
    """One pass over graphs: those named, `default` for the default graph, `all` for all that the endpoint lists."""

    def __init__(self, asking: EndpointClient, paging: PageSizes, graphs: tuple[str, ...]) -> None:
        self._asking = asking
        self._paging = paging
        self._graphs = tuple(dict.fromkeys(graphs))
        self._limit = paging.rows
        self.count = 0
        self.lines: set[bytes] = set()

    async def run(self) -> Failure | Wait | None:
        """None: all triples are there."""
        sizes = await self._sizes()
        if not isinstance(sizes, dict):
            return sizes
        if sum(sizes.values()) > self._paging.most:
            return partial(f"more than {self._paging.most} triples; name fewer graphs, or watch a query instead")
        for number, (name, size) in enumerate(sizes.items()):
            problem = await self._graph(name, size, f"g{number}n")
            if problem is not None:
                return problem
        after = await self._sizes()
        if not isinstance(after, dict):
            return after
        return None if after == sizes else partial("the data changed while they were read")

    async def _graph(self, name: str, size: int, prefix: str) -> Failure | Wait | None:
        found: set[bytes] = set()
        offset = 0
        while offset < size:
            page = await self._page(name, offset, size, prefix)
            if isinstance(page, Failure | Wait):
                return page
            if page.blanks and len(page.lines) < size:
                return partial(f"graph {name} has blank nodes and more than a page of triples; set --page-rows {size}")
            found |= page.lines
            offset += len(page.lines)
        if len(found) != size:
            return partial(f"graph {name}: {len(found)} triples of {size}: it changed, or comes in no stable order")
        self.lines |= found
        self.count += size
        return None

    async def _page(self, name: str, offset: int, size: int, prefix: str) -> GraphDocument | Failure | Wait:
        """As many triples as were asked for, or the reason; asked for again, and for fewer, where that may help."""
        for attempt in range(1, self._paging.tries + 1):
            found = await self._ask(name, offset, size, prefix)
            if not isinstance(found, Failure) or found.kind not in AGAIN or attempt == self._paging.tries:
                break
            self._limit = self._paging.smaller(min(self._limit, size))
        return found

    async def _ask(self, name: str, offset: int, size: int, prefix: str) -> GraphDocument | Failure | Wait:
        answer = await self._asking.body(page_of_graph(name, offset, self._limit, size), "CONSTRUCT")
        if isinstance(answer, Failure):
            return Failure(kind=answer.kind, detail=f"{answer.detail} (graph {name}, from triple {offset} on)"[:300])
        if not isinstance(answer, tuple):
            return answer
        graph = "" if name == DEFAULT else name
        read = self._asking.answers.graph
        try:
            found = await asyncio.to_thread(read, *answer, self._asking.endpoint, graph, prefix)
        except ValueError as why:
            return partial(str(why))
        wanted = min(self._limit, size - offset)
        if len(found.lines) != wanted:
            return partial(f"graph {name}: {len(found.lines)} triples where {wanted} were due")
        return found

    # ── which graphs, and how large ─────────────────────────────────────────────────────────────────────────

    async def _sizes(self) -> dict[str, int] | Failure | Wait:
        """The graphs to be read, each with its number of triples."""
        sizes: dict[str, int] = {}
        for name in self._graphs:
            if not is_graph_name(name):
                return Failure(kind=FailureKind.UNEXPECTED, detail=f"not the name of a graph: {name[:200]!r}")
            found = await self._listed() if name == ALL else await self._size(name)
            if not isinstance(found, dict):
                return found
            sizes |= found
        return sizes

    async def _size(self, name: str) -> dict[str, int] | Failure | Wait:
        found = await self._asking.results(size_of(name))
        if isinstance(found, Failure | Wait):
            return found
        number = _number(found, "n")
        return partial(f"no count of graph {name}") if number is None else {name: number}

    async def _listed(self) -> dict[str, int] | Failure | Wait:
        """Every graph; the endpoint's own limit of rows must not cost one."""
        counted = await self._asking.results(HOW_MANY_GRAPHS)
        if isinstance(counted, Failure | Wait):
            return counted
        number = _number(counted, "n")
        if number is None or number > self._paging.graphs:
            return partial(f"{number or 'an unknown number of'} graphs; name those that you want")
        found = await self._asking.results(SIZES)
        if isinstance(found, Failure | Wait):
            return found
        sizes = _by_name(found)
        if len(sizes) != number or not all(map(is_graph_name, sizes)):
            return partial(f"{len(sizes)} of {number} graphs are listed by names; name those that you want")
        return sizes


def _by_name(found: ResultRows) -> dict[str, int]:
    """Graphs without an address (blank nodes) cannot be asked for, and are left out."""
    sizes = {}
    for row in found.rows:
        of = dict(zip(found.vars, row, strict=True))
        name, size = of.get("g"), _whole(of.get("n"))
        if name is not None and getattr(name, "kind", "") == "uri" and size is not None:
            sizes[str(getattr(name, "value", ""))] = size
    return sizes


def _number(found: ResultRows, name: str) -> int | None:
    if len(found.rows) != 1 or name not in found.vars:
        return None
    return _whole(found.rows[0][found.vars.index(name)])


def _whole(term: object) -> int | None:
    text = str(getattr(term, "value", ""))
    return int(text) if text.isascii() and text.isdigit() and len(text) < 19 else None
