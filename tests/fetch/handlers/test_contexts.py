"""JSON-LD with remote contexts is compared as a graph; contexts are fetched politely, limited and cached."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping

import pytest
from msgspec.structs import replace

from tests.fetch.local_site import Answer, Asked, page_at, serving, visit
from webstrata.clock import DAY_S
from webstrata.fetch.handlers.contexts import MAX_BYTES, MAX_CONTEXTS, ContextCache
from webstrata.fetch.handlers.rdf import RdfHandler
from webstrata.flows.parsers.handler_parsers import HandlerParsers
from webstrata.flows.parsers.parser_pool import ParserPool
from webstrata.observe.data.dispatch import data_digest
from webstrata.observe.data.rdf.jsonld import ExpandedJsonLd
from webstrata.records import Exchange, FailureKind, FetchResult, Fingerprint, Page, PostBody, Validators, VisitResult

LD = {"Content-Type": "application/ld+json"}
CONTEXT = json.dumps({"@context": {"name": "http://schema.org/name", "knows": {"@id": "x:knows", "@type": "@id"}}})
TRIPLE = b'<http://x.org/a> <http://schema.org/name> "A" .\n'


def thing(context: object = "/context", **more: object) -> bytes:
    return json.dumps({"@context": context, "@id": "http://x.org/a", "name": "A", **more}).encode()


def seen_with(answers: dict[str, Answer], page: Callable[[str], Page] | None = None) -> tuple[VisitResult, list[str]]:
    """A visit to /thing, and the targets of its requests."""
    with serving(lambda asked: answers.get(asked.target, Answer(404))) as site:
        made = page(f"{site.url}/thing") if page else page_at(f"{site.url}/thing", handler="rdf")
        found = visit(RdfHandler(HandlerParsers(ParserPool(0))), made)
        assert isinstance(found, VisitResult)
        return found, site.targets


def test_context_elsewhere() -> None:
    """A document with its context becomes N-Quads; both exchanges belong to the visit, the document is the main one."""
    context = Answer(headers=LD, body=CONTEXT.encode())
    seen, targets = seen_with({"/thing": Answer(headers=LD, body=thing()), "/context": context})
    assert (seen.failure, targets) == (None, ["/thing", "/context"])
    assert seen.content is not None
    assert (seen.content.content_type, seen.content.body) == ("application/n-quads", TRIPLE)
    assert seen.answer is not None
    assert seen.answer.url.endswith("/thing")
    assert len(seen.exchanges) == 2


def test_the_same_document_gives_the_same_bytes() -> None:
    """Blank nodes are labelled deterministically."""
    body = thing(knows=[{"name": "B"}, {"name": "C"}])
    answers = {"/thing": Answer(headers=LD, body=body), "/context": Answer(headers=LD, body=CONTEXT.encode())}
    contents = [seen_with(answers)[0].content for _ in range(2)]
    assert contents[0] is not None
    assert contents[1] is not None
    assert contents[0].body == contents[1].body
    assert contents[0].body.count(b"\n") == 5


def test_contexts_of_contexts() -> None:
    """Lists of contexts, contexts that import others, and contexts named by a Link header are fetched."""
    answers = {
        "/thing": Answer(headers=LD, body=thing(["/a", {"@import": "/page"}])),
        "/a": Answer(headers=LD, body=b'{"@context": ["/b", {}]}'),
        "/b": Answer(headers={"Content-Type": "application/json"}, body=b'{"@context": {"other": "x:o"}}'),
        "/page": Answer(
            headers={"Content-Type": "text/html", "Link": '</c>; rel="alternate"; type="application/ld+json"'}
        ),
        "/c": Answer(headers=LD, body=CONTEXT.encode()),
    }
    seen, targets = seen_with(answers)
    assert seen.content is not None
    assert seen.content.body == TRIPLE
    assert targets == ["/thing", "/a", "/b", "/page", "/c"]


def test_inside_a_page() -> None:
    """JSON-LD with a remote context and RDFa of one page are joined to one graph."""
    html = (
        b'<p about="http://x.org/a" property=foaf:nick>a</p><script type="application/ld+json">'
        + thing()
        + b"</script>"
    )
    answers = {
        "/thing": Answer(headers={"Content-Type": "text/html"}, body=html),
        "/context": Answer(headers=LD, body=CONTEXT.encode()),
    }
    seen, _ = seen_with(answers)
    assert seen.content is not None
    assert seen.content.body == TRIPLE + b'<http://x.org/a> <http://xmlns.com/foaf/0.1/nick> "a" .\n'


PROBLEMS = [
    ("missing", Answer(404), "status 404"),
    ("no JSON", Answer(headers={"Content-Type": "text/html"}, body=b"<p>"), "no JSON"),
    ("too long", Answer(headers=LD, body=b" " * (MAX_BYTES + 1)), "longer"),
    ("a loop", Answer(301, headers={"Location": "/context"}), "redirects"),
]


@pytest.mark.parametrize(("answer", "problem"), [row[1:] for row in PROBLEMS], ids=[row[0] for row in PROBLEMS])
def test_context_that_cannot_be_fetched(answer: Answer, problem: str) -> None:
    """The document is compared as JSON; if it was a graph before, the visit fails instead."""
    answers = {"/thing": Answer(headers=LD, body=thing()), "/context": answer}
    seen, _ = seen_with(answers)
    assert (seen.failure, seen.content) == (None, None)
    assert seen.answer is not None
    data = data_digest(seen.answer.body, "application/ld+json", None, seen.answer.url)
    assert data is not None
    assert data.kind == "json"

    def was_graph(url: str, failures: int = 0) -> Page:
        fingerprint = Fingerprint(raw="", size=0, data="x", data_kind="graph")
        return replace(page_at(url, handler="rdf"), fingerprint=fingerprint, failures=failures)

    seen, _ = seen_with(answers, was_graph)
    assert seen.failure is not None
    assert seen.failure.kind is FailureKind.PARTIAL
    assert problem in seen.failure.detail
    seen, _ = seen_with(answers, lambda url: was_graph(url, 5))
    assert seen.failure is None  # a context that is gone must not block the page for ever


def test_private_addresses_are_refused() -> None:
    """The address guard applies to contexts as well."""
    seen, targets = seen_with({"/thing": Answer(headers=LD, body=thing("http://10.0.0.1/context"))})
    assert seen.failure is None
    assert seen.content is None
    assert targets == ["/thing"]
    seen, _ = seen_with({"/thing": Answer(headers=LD, body=thing("file:///etc/passwd"))})
    assert (seen.failure, seen.content) == (None, None)


def test_contexts_without_end() -> None:
    """A chain of contexts that import one another ends at the limit."""

    def answering(asked: Asked) -> Answer:
        number = int(asked.target.rpartition("/")[2] or 0) if asked.target.startswith("/c/") else 0
        return Answer(headers=LD, body=thing() if asked.target == "/thing" else b'{"@context": "/c/%d"}' % (number + 1))

    with serving(answering) as site:
        found = visit(RdfHandler(HandlerParsers(ParserPool(0))), page_at(f"{site.url}/thing", handler="rdf"))
    assert isinstance(found, VisitResult)
    assert (found.failure, found.content) == (None, None)
    assert len(site.targets) == MAX_CONTEXTS + 1


class FixedClient:
    """A client with a fixed response and a settable time."""

    def __init__(self) -> None:
        self.at = 0.0
        self.status = 200
        self.asked = 0

    async def get(
        self, url: str, *, accept: str, validators: Validators | None = None, large_body: bool = False
    ) -> FetchResult:
        self.asked += 1
        headers = (("content-type", "application/ld+json"),)
        answer = Exchange(
            url=url, at=self.at, duration_s=0, request_head=b"", status=self.status, headers=headers, body=b"{}"
        )
        return FetchResult(exchanges=(answer,))

    async def post(self, url: str, posted: PostBody, *, accept: str) -> FetchResult:
        raise AssertionError("nothing is posted")

    def now(self) -> float:
        return self.at


def test_age() -> None:
    """A context is used for a day, or a month if it cannot be fetched again; a failure is cached for an hour."""
    contexts, client = ContextCache(HandlerParsers(ParserPool(0))), FixedClient()

    async def expand(known: Mapping[str, bytes]) -> ExpandedJsonLd:
        return ExpandedJsonLd(missing=None if known else "http://x.org/c")

    def after(days: float, status: int) -> str:
        client.at += days * DAY_S
        client.status = status
        client.asked = 0
        return asyncio.run(contexts.gather(expand, client)).problem

    steps = [(0, 200, 1, True), (0.9, 500, 0, True), (0.2, 500, 1, True), (28, 500, 1, True), (2, 500, 1, False)]
    steps += [(0.01, 200, 0, False), (0.1, 200, 1, True)]
    for days, status, asked, there in steps:
        problem = after(days, status)
        assert (client.asked, not problem) == (asked, there), (days, status, problem)
