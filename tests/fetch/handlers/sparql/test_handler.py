"""Queries and whole datasets of an endpoint; only complete responses become content."""

from __future__ import annotations

import json
from collections.abc import Callable

import pyoxigraph as ox
import pytest

from tests.fetch.endpoint import Endpoint, store_of
from tests.fetch.local_site import Answer, page_at, serving, visited
from webstrata.fetch.handlers.sparql.endpoint_client import PageSizes
from webstrata.fetch.handlers.sparql.handler import SparqlHandler
from webstrata.fetch.handlers.sparql.query import form_of, query_url, split_query
from webstrata.fetch.handlers.sparql.whole_dataset import WholeDataset
from webstrata.flows.parsers.handler_parsers import HandlerParsers
from webstrata.flows.parsers.parser_pool import ParserPool
from webstrata.records import FailureKind, VisitResult

DATA = """
@prefix : <http://example.org/> .
:a :p 1, 2 ; :knows _:x . _:x :name "X", "Ix"@en ; :knows _:y . _:y :name "a \\"quoted\\"\\nline" .
:g { :a :p 1 . _:z :name "Z" }
"""


def handler(**sizes: int) -> SparqlHandler:
    parser = HandlerParsers(ParserPool(0))
    return SparqlHandler(parser, WholeDataset(parser, PageSizes(**sizes)))


def asked(endpoint: Endpoint, query: str = "", **sizes: int) -> VisitResult:
    """One visit to an endpoint with a query, or for the whole dataset."""
    with serving(endpoint) as site:
        url = f"{site.url}/sparql"
        return visited(handler(**sizes), page_at(query_url(url, query) if query else url, handler="sparql"))


def graph(body: bytes | None) -> list[str]:
    assert body is not None
    dataset = ox.Dataset(ox.parse(body, format=ox.RdfFormat.N_QUADS))
    dataset.canonicalize(ox.CanonicalizationAlgorithm.RDFC_1_0)
    return sorted(str(quad) for quad in dataset)


# ── a given query ───────────────────────────────────────────────────────────────────────────────────────────


def test_select() -> None:
    """The content of a SELECT is its rows in canonical form; the response is kept as received."""
    seen = asked(Endpoint(store_of(DATA)), "SELECT ?o ?s WHERE { ?s <http://example.org/p> ?o }")
    assert seen.failure is None
    assert seen.content is not None
    assert seen.content.content_type == "application/sparql-results+json"
    rows = json.loads(seen.content.body)["results"]["bindings"]
    assert [row["o"]["value"] for row in rows] == ["1", "2"]
    assert seen.exchanges[-1].body != seen.content.body


def test_order_and_labels_are_ignored() -> None:
    """Two responses that differ only in the order of rows and the labels of blank nodes have the same content."""
    query = "SELECT ?s ?o WHERE { ?s <http://example.org/name> ?o }"
    contents = set()
    for shuffled in (False, True):
        seen = asked(Endpoint(store_of(DATA.replace("_:x", "_:other").replace("_:z", "_:x")), shuffled=shuffled), query)
        assert seen.content is not None
        contents.add(seen.content.body)
    seen = asked(Endpoint(store_of(DATA)), query)
    assert seen.content is not None
    assert contents == {seen.content.body}


def test_construct_and_ask() -> None:
    """The content of a CONSTRUCT is the body of the response, that of an ASK its boolean."""
    built = asked(Endpoint(store_of(DATA)), "CONSTRUCT WHERE { ?s <http://example.org/p> ?o }")
    assert (built.failure, built.content) == (None, None)
    assert built.answer is not None
    assert built.answer.header("content-type") == "application/n-triples"
    answer = asked(Endpoint(store_of(DATA)), "ASK { ?s ?p 2 }")
    assert answer.content is not None
    assert json.loads(answer.content.body)["boolean"] is True


def test_long_queries_are_posted() -> None:
    """A query too long for a URL is posted as a form, and the body of the request is kept."""
    query = "SELECT * WHERE { ?s ?p ?o } #" + "x" * 3000
    endpoint = Endpoint(store_of(DATA))
    seen = asked(endpoint, query)
    assert seen.failure is None
    assert endpoint.queries == [query]
    assert seen.exchanges[0].request_head.startswith(b"POST /sparql HTTP/1.1\r\n")
    assert seen.exchanges[0].request_body.startswith(b"query=SELECT")
    assert f"Content-Length: {len(seen.exchanges[0].request_body)}".encode() in seen.exchanges[0].request_head


def test_query_of_the_user() -> None:
    """A query in the page rules is sent to the URL of the page, with its parameters."""
    endpoint = Endpoint(store_of(DATA))
    with serving(endpoint) as site:
        page = page_at(f"{site.url}/sparql?default-graph-uri=http%3A%2F%2Fexample.org%2Fg", query="ASK {?s ?p 2}")
        seen = visited(handler(), page)
    assert seen.content is not None
    assert json.loads(seen.content.body)["boolean"] is False


JSON = {"Content-Type": "application/sparql-results+json"}
WHOLE = b'{"head":{"vars":["s"]},"results":{"bindings":[{"s":{"type":"uri","value":"x:"}}]}}'
BAD_ANSWERS = [
    ("web page", Answer(headers={"Content-Type": "text/html"}, body=b"<h1>Busy</h1>"), FailureKind.UNEXPECTED),
    ("truncated document", Answer(headers=JSON, body=WHOLE[:-20]), FailureKind.PARTIAL),
    (
        "stack trace",
        Answer(headers=JSON, body=WHOLE[:-2] + b"java.util.TimeoutException"),
        FailureKind.PARTIAL,
    ),
    ("truncated transfer", Answer(headers=JSON, body=WHOLE, length=len(WHOLE) + 9), FailureKind.PARTIAL),
    ("limit reached", Answer(headers=JSON | {"X-SPARQL-MaxRows": "1"}, body=WHOLE), FailureKind.PARTIAL),
    ("timed out", Answer(headers=JSON | {"X-SQL-State": "S1TAT"}, body=WHOLE), FailureKind.PARTIAL),
    ("another format", Answer(headers={"Content-Type": "text/plain"}, body=WHOLE), FailureKind.PARTIAL),
    ("empty", Answer(headers=JSON), FailureKind.PARTIAL),
    ("broken coding", Answer(headers=JSON | {"Content-Encoding": "gzip"}, body=b"\x1f\x8b\x08x"), FailureKind.PARTIAL),
]


@pytest.mark.parametrize(("answer", "kind"), [row[1:] for row in BAD_ANSWERS], ids=[row[0] for row in BAD_ANSWERS])
def test_unusable_responses(answer: Answer, kind: FailureKind) -> None:
    """A response that is incomplete or no result is a failure despite its status 200."""
    endpoint = Endpoint(store_of(DATA))
    endpoint.faults.append(lambda _: answer)
    seen = asked(endpoint, "SELECT ?s { ?s ?p ?o }")
    assert seen.failure is not None
    assert seen.failure.kind is kind
    assert seen.content is None
    assert len(seen.exchanges) == 1


def test_truncated_graph() -> None:
    """A truncated graph is a failure."""
    endpoint = Endpoint(store_of(DATA))
    body = b"<x:a> <x:b> <x:c> .\n<x:a> <x:b> <x:"
    endpoint.faults.append(lambda _: Answer(headers={"Content-Type": "application/n-triples"}, body=body))
    seen = asked(endpoint, "DESCRIBE <x:a>")
    assert seen.failure is not None
    assert seen.failure.kind is FailureKind.PARTIAL


def test_updates_are_never_sent() -> None:
    """A text that is not a query is refused before any request."""
    with serving(Endpoint(store_of(DATA))) as site:
        seen = visited(handler(), page_at(query_url(f"{site.url}/sparql", "CLEAR ALL"), handler="sparql"))
    assert seen.failure is not None
    assert seen.failure.kind is FailureKind.UNEXPECTED
    assert site.asked == []


# ── whole datasets ──────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("rows", [2, 3, 8, 100])
def test_whole_dataset(rows: int) -> None:
    """The whole dataset is fetched with any page size, including named graphs and blank nodes."""
    store = store_of(DATA)
    seen = asked(Endpoint(store), rows=rows)
    assert seen.failure is None
    assert seen.content is not None
    assert seen.content.content_type == "application/n-quads"
    assert graph(seen.content.body) == graph(store.dump(format=ox.RdfFormat.N_QUADS))


def test_row_limit_of_the_endpoint() -> None:
    """The whole dataset is fetched from an endpoint that returns fewer rows than requested."""
    store = store_of(DATA)
    seen = asked(Endpoint(store, max_rows=3), rows=5)
    assert seen.content is not None
    assert graph(seen.content.body) == graph(store.dump(format=ox.RdfFormat.N_QUADS))


def test_empty_dataset() -> None:
    """An empty dataset is empty content, not a failure."""
    seen = asked(Endpoint(ox.Store()))
    assert seen.failure is None
    assert seen.content is not None
    assert seen.content.body == b""


def failing(times: int, answer: Answer) -> Callable[[str], Answer | None]:
    """Fail on the second page, the given number of times."""
    left = times

    def fault(query: str) -> Answer | None:
        nonlocal left
        if query.endswith("OFFSET 0") or not left:
            return None
        left -= 1
        return answer

    return fault


@pytest.mark.parametrize("answer", [Answer(500), Answer(headers=JSON, body=WHOLE[:-9]), BAD_ANSWERS[0][1]])
def test_failed_page_is_requested_again(answer: Answer) -> None:
    """A page that fails is requested again with fewer rows; earlier pages are kept."""
    endpoint = Endpoint(store_of(DATA))
    endpoint.faults.append(failing(2, answer))
    seen = asked(endpoint, rows=4, min_rows=1)
    assert seen.failure is None
    assert seen.content is not None
    assert graph(seen.content.body) == graph(endpoint.store.dump(format=ox.RdfFormat.N_QUADS))
    limits = [query.split("LIMIT ")[1].split()[0] for query in endpoint.queries[:4]]
    assert limits == ["4", "4", "2", "2"]
    assert sum(query.endswith("LIMIT 4 OFFSET 0") for query in endpoint.queries) == 1


def test_page_that_keeps_failing() -> None:
    """After the last attempt the visit fails without content."""
    endpoint = Endpoint(store_of(DATA))
    endpoint.faults.append(failing(99, Answer(500)))
    seen = asked(endpoint, rows=4, max_tries=3)
    assert seen.failure is not None
    assert seen.failure.kind is FailureKind.SERVER
    assert seen.content is None
    assert len(seen.exchanges) == 4


def test_endpoint_without_an_order() -> None:
    """Pages that cannot be joined are a failure."""
    seen = asked(Endpoint(store_of(DATA), shuffled=True), rows=4)
    assert seen.failure is not None
    assert seen.failure.kind is FailureKind.PARTIAL


def test_data_that_changes() -> None:
    """If rows are inserted before the current offset, the visit fails."""
    endpoint = Endpoint(store_of("@prefix : <http://example.org/> . :a :p 1, 2, 3, 4, 5, 6, 7, 8, 9 ."))

    def change(query: str) -> None:
        if "OFFSET 0" not in query:
            endpoint.store.update("INSERT DATA { <http://a.example/> <x:p> 1 . <http://a.example/> <x:p> 2 }")

    endpoint.faults.append(change)
    seen = asked(endpoint, rows=4)
    assert seen.failure is not None
    assert seen.failure.kind is FailureKind.PARTIAL


def test_unstable_labels() -> None:
    """If every response uses new labels for blank nodes, pages are not joined."""
    endpoint = Endpoint(store_of(DATA))

    def relabelled(query: str) -> Answer:
        answer = endpoint.answer(query, "application/sparql-results+json")
        document = json.loads(answer.body)
        names: dict[str, str] = {}
        for row in document["results"]["bindings"]:
            for term in row.values():
                if term["type"] == "bnode":
                    term["value"] = names.setdefault(term["value"], f"b{len(names)}")
        return answer._replace(body=json.dumps(document).encode())

    endpoint.faults.append(relabelled)
    for rows in (2, 3, 4, 5):
        seen = asked(endpoint, rows=rows)
        assert seen.failure is not None, rows
        assert seen.failure.kind is FailureKind.PARTIAL
    assert asked(endpoint, rows=100).failure is None  # one page needs no joining


def test_too_many_rows() -> None:
    """A dataset above the limit is refused with advice."""
    seen = asked(Endpoint(store_of(DATA)), rows=3, max_rows=5)
    assert seen.failure is not None
    assert "watch a query" in seen.failure.detail


def test_endpoint_that_is_gone() -> None:
    """Status 404 for the first page means that the page is gone."""
    endpoint = Endpoint(store_of(DATA))
    endpoint.faults.append(lambda _: Answer(404))
    seen = asked(endpoint)
    assert seen.failure is None
    assert seen.answer is not None
    assert seen.answer.status == 404


# ── queries ─────────────────────────────────────────────────────────────────────────────────────────────────

FORMS = [
    ("SELECT * {}", "SELECT"),
    ("select(1 as ?x){}", "SELECT"),
    ("# SELECT\nPREFIX : <http://x#y>\nBASE <http://b/> ASK {}", "ASK"),
    ("PREFIX a:<x:>PREFIX b: <y:> construct where {?s ?p ?o}", "CONSTRUCT"),
    ("DESCRIBE <x:>", "DESCRIBE"),
    ("CLEAR ALL", None),
    ("INSERT DATA {}", None),
    ("PREFIX : <x:> DELETE WHERE {}", None),
    ("selection of books", None),
    ("", None),
]


@pytest.mark.parametrize(("query", "form"), FORMS)
def test_form_of(query: str, form: str | None) -> None:
    """The form of a query is its first keyword after prologue and comments."""
    assert form_of(query) == form


def test_split_query() -> None:
    """A query is recovered from its URL, and other parameters of the endpoint are kept."""
    for endpoint in ("http://e.org/sparql", "http://e.org/sparql?a=b%26c&d="):
        query = "SELECT * { ?s ?p 'ä&=+ #?' }"
        assert split_query(query_url(endpoint, query)) == (endpoint, query)
