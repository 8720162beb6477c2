"""Datasets are fetched graph by graph; each graph is checked against the count of the endpoint."""

from __future__ import annotations

import json

import pyoxigraph as ox
import pytest

from tests.fetch.endpoint import Endpoint, store_of
from tests.fetch.local_site import Answer, page_at, serving, visited
from webstrata.fetch.handlers.sparql.endpoint_client import PageSizes
from webstrata.fetch.handlers.sparql.handler import SparqlHandler
from webstrata.fetch.handlers.sparql.query import is_graph_name
from webstrata.fetch.handlers.sparql.whole_dataset import WholeDataset
from webstrata.flows.parsers.handler_parsers import HandlerParsers
from webstrata.flows.parsers.parser_pool import ParserPool
from webstrata.records import FailureKind, VisitResult

DATA = """
@prefix : <http://e.org/> .
:d :p 1, 2 .
:one { :a :p 1, 2, 3, 4, 5 . }
:two { _:x :name "X" ; :knows _:y . _:y :name "Y" . }
:three { _:x :name "Z" . :a :p "in \\"three\\""@en }
"""
ONE, TWO, THREE = (f"http://e.org/{name}" for name in ("one", "two", "three"))


def asked(endpoint: Endpoint, *graphs: str, page_rows: int = 0, **sizes: int) -> VisitResult:
    parser = HandlerParsers(ParserPool(0))
    handler = SparqlHandler(parser, WholeDataset(parser, PageSizes(**sizes)))
    with serving(endpoint) as site:
        page = page_at(f"{site.url}/sparql", handler="sparql", graphs=graphs, page_rows=page_rows)
        return visited(handler, page)


def same(seen: VisitResult, store: ox.Store, *graphs: str | None) -> bool:
    """Whether the content is these graphs of the store (None: the default graph), except for blank node labels."""
    assert seen.content is not None, seen.failure
    wanted = [None if name is None else ox.NamedNode(name) for name in graphs]
    quads = [quad for quad in store if (quad.graph_name if quad.graph_name != ox.DefaultGraph() else None) in wanted]
    found, there = ox.Dataset(ox.parse(seen.content.body, format=ox.RdfFormat.N_QUADS)), ox.Dataset(quads)
    for one in (found, there):
        one.canonicalize(ox.CanonicalizationAlgorithm.RDFC_1_0)
    return found == there


# Requested graphs and expected graphs.
REQUESTED = [
    (("all",), (ONE, TWO)),
    (("all", "default"), (ONE, TWO, None)),
    ((TWO,), (TWO,)),
    ((ONE, ONE, "default"), (ONE, None)),
    ((ONE, "http://e.org/not-there"), (ONE,)),
]


@pytest.mark.parametrize(("graphs", "expected"), REQUESTED)
@pytest.mark.parametrize("rows", [3, 100])
def test_graphs(graphs: tuple[str, ...], expected: tuple[str | None, ...], rows: int) -> None:
    """The requested graphs are fetched completely, and no others, in pages if they are large."""
    store = store_of(DATA.replace(DATA[DATA.index(":three") :], ""))
    seen = asked(Endpoint(store), *graphs, rows=rows)
    assert same(seen, store, *expected)


def test_blank_nodes_belong_to_their_graph() -> None:
    """Blank nodes of two graphs are distinct, even if the responses use the same labels."""
    endpoint = Endpoint(store_of(DATA))

    def relabelled(query: str) -> Answer | None:
        if "CONSTRUCT" not in query:
            return None
        lines = endpoint.answer(query, "application/n-triples").body.decode().splitlines()
        names: dict[str, str] = {}
        words = [
            [names.setdefault(w, f"_:b{len(names)}") if w.startswith("_:") else w for w in x.split()] for x in lines
        ]
        body = "\n".join(" ".join(one) for one in words) + "\n"
        return Answer(headers={"Content-Type": "application/n-triples"}, body=body.encode())

    endpoint.faults.append(relabelled)
    seen = asked(endpoint, TWO, THREE)
    assert seen.content is not None
    names = {word for line in seen.content.body.decode().splitlines() for word in line.split() if word.startswith("_:")}
    assert len(names) == 3


def test_blank_nodes_need_one_page() -> None:
    """A graph with blank nodes that does not fit into a page fails with the required page size."""
    store = store_of(DATA)
    seen = asked(Endpoint(store), TWO, rows=2, min_rows=1)
    assert seen.failure is not None
    assert seen.failure.detail.endswith("--page-rows 3")
    assert same(asked(Endpoint(store), TWO, rows=2, page_rows=3), store, TWO)


def test_rows_of_a_page() -> None:
    """The user sets the rows of a page, graph by graph and for the whole dataset."""
    endpoint = Endpoint(store_of(DATA))
    asked(endpoint, ONE, page_rows=2)
    assert sum("LIMIT 2" in query for query in endpoint.queries) == 3
    endpoint.queries.clear()
    asked(endpoint, page_rows=7)
    assert endpoint.queries[0].endswith("LIMIT 7 OFFSET 0")


def test_endpoint_that_truncates() -> None:
    """If an endpoint silently returns fewer triples than requested, smaller pages are requested."""
    store = store_of(DATA)
    endpoint = Endpoint(store)

    def cut(query: str) -> Answer | None:
        if "CONSTRUCT" not in query:
            return None
        answer = endpoint.answer(query, "application/n-triples")
        return answer._replace(body=b"".join(answer.body.splitlines(keepends=True)[:2]))

    endpoint.faults.append(cut)
    assert same(asked(endpoint, ONE, min_rows=1), store, ONE)
    seen = asked(endpoint, TWO, min_rows=1)
    assert seen.failure is not None
    assert seen.failure.kind is FailureKind.PARTIAL


def test_endpoint_that_lists_too_few() -> None:
    """A list of graphs that is shorter than their count is a failure, not a smaller dataset."""
    endpoint = Endpoint(store_of(DATA), max_rows=2)
    seen = asked(endpoint, "all")
    assert seen.failure is not None
    assert "2 of 3 graphs" in seen.failure.detail
    refused = asked(Endpoint(store_of(DATA)), "all", max_graphs=2)
    assert refused.failure is not None
    assert "name the graphs to watch" in refused.failure.detail


def test_too_large() -> None:
    """Graphs with more triples than the limit are refused before any is fetched."""
    endpoint = Endpoint(store_of(DATA))
    seen = asked(endpoint, ONE, max_rows=4)
    assert seen.failure is not None
    assert not any("CONSTRUCT" in query for query in endpoint.queries)


def test_data_that_changes() -> None:
    """If a graph changes after it was fetched, the visit fails."""
    endpoint = Endpoint(store_of(DATA))

    def change(query: str) -> None:
        if "CONSTRUCT" in query and TWO in query:
            endpoint.store.update(f"INSERT DATA {{ GRAPH <{ONE}> {{ <x:a> <x:b> <x:c> }} }}")

    endpoint.faults.append(change)
    seen = asked(endpoint, ONE, TWO)
    assert seen.failure is not None
    assert "changed" in seen.failure.detail


def test_no_stable_order() -> None:
    """Overlapping pages have fewer triples than the count, and are a failure."""
    endpoint = Endpoint(store_of(DATA))

    def first_page_again(query: str) -> Answer | None:
        if "OFFSET 2" not in query:
            return None
        return endpoint.answer(query.replace("OFFSET 2", "OFFSET 0"), "application/n-triples")

    endpoint.faults.append(first_page_again)
    seen = asked(endpoint, ONE, rows=2, min_rows=2)
    assert seen.failure is not None
    assert "4 triples of 5" in seen.failure.detail or "3 triples of 5" in seen.failure.detail


@pytest.mark.parametrize("answer", [Answer(500), Answer(404), Answer(headers={"Content-Type": "text/html"}, body=b"x")])
def test_counts_that_fail(answer: Answer) -> None:
    """Without counts the visit fails; the page is gone if the endpoint is."""
    endpoint = Endpoint(store_of(DATA))
    endpoint.faults.append(lambda _: answer)
    seen = asked(endpoint, ONE)
    assert seen.content is None
    assert (seen.failure is None) == (answer.status == 404)


def test_invalid_counts() -> None:
    """A count that is not a number is a failure."""
    body = json.dumps({"head": {"vars": ["n"]}, "results": {"bindings": [{"n": {"type": "literal", "value": "many"}}]}})
    endpoint = Endpoint(store_of(DATA))
    endpoint.faults.append(
        lambda _: Answer(headers={"Content-Type": "application/sparql-results+json"}, body=body.encode())
    )
    for graphs in ((ONE,), ("all",)):
        seen = asked(endpoint, *graphs)
        assert seen.failure is not None
        assert seen.failure.kind is FailureKind.PARTIAL


NAMES = [("http://e.org/g", True), ("urn:x:y", True), ("all", True), ("default", True), ("g", False), ("x:>", False)]
NAMES += [("x: y", False), ("x:\n", False), ("", False), ('x:"', False), ("x:{}", False)]


@pytest.mark.parametrize(("name", "fits"), NAMES)
def test_names(name: str, fits: bool) -> None:
    """A name that could end the IRI in a query early is not used in a query."""
    assert is_graph_name(name) is fits
    if not fits:
        endpoint = Endpoint(store_of(DATA))
        assert asked(endpoint, name or " ").failure is not None
        assert endpoint.queries == []
