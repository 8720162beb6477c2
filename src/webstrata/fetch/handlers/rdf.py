"""The `rdf` handler: the content of a page is the RDF about it.

1. RDF is requested; redirects (above all 303) lead to the document.
2. If the response is not RDF, it may name a document that is: `Link: rel=alternate|describedby`, or `<link>` in HTML.
3. Otherwise JSON-LD and RDFa embedded in the HTML are the content.
4. Otherwise there is no RDF: a failure if the user chose this handler, else the response itself is the content.

JSON-LD that refers to remote contexts is expanded with them to N-Quads, so that it is compared as a graph. Without the
contexts it is compared as JSON. If the page was a graph before, the visit fails instead, because a missing context
would look like a change of the page.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from typing import Protocol, TypeVar

from webstrata.coding import decode
from webstrata.fetch.handlers.contexts import ContextCache
from webstrata.fetch.handlers.negotiate import accept_quality, bare_type, parse_links
from webstrata.fetch.handlers.visit_result import failed, joined, visit_result
from webstrata.ports import VisitClient
from webstrata.records import Exchange, Failure, FailureKind, FetchResult, Page, Resource, VisitResult, Wait

RDF_TYPES = frozenset(
    [
        "text/turtle",
        "application/n-triples",
        "application/n-quads",
        "application/trig",
        "application/rdf+xml",
        "application/ld+json",
        "text/n3",
        "application/x-turtle",
        "text/x-nquads",
        "application/owl+xml",
    ]
)
ACCEPT = (
    "text/turtle,application/trig;q=0.95,application/n-quads;q=0.9,application/n-triples;q=0.9,"
    "application/rdf+xml;q=0.8,application/ld+json;q=0.7,text/html;q=0.2,application/xhtml+xml;q=0.2,*/*;q=0.1"
)
_RELATIONS = {"alternate", "describedby"}
_MAX_BYTES = 20_000_000
_MAX_RATIO = 500.0

_JSON_LD = "application/ld+json"
_NQUADS = "application/n-quads"
_MAX_FAILURES = 5
"""Consecutive failed visits after which a missing context is accepted and JSON-LD is compared as JSON."""

T = TypeVar("T")


class PageLinkedData(Protocol):
    """The linked data of a web page."""

    @property
    def alternates(self) -> Sequence[tuple[str, str]]: ...
    @property
    def embedded(self) -> bytes | None: ...
    @property
    def rdfa(self) -> bytes: ...


class LinkedDataParser(Protocol):
    """Parses pages and JSON-LD (`webstrata.observe.linked_data.LinkedData`)."""

    def embedded_data(self, body: bytes, content_type: str | None, url: str) -> PageLinkedData: ...
    def missing_context(self, body: bytes, url: str, contexts: Mapping[str, bytes]) -> str | None: ...
    def quads(self, body: bytes, url: str, contexts: Mapping[str, bytes]) -> bytes: ...


class RdfHandler:
    """Finds the RDF of a page. `working`: the clock's context manager for work in a thread."""

    name = "rdf"

    def __init__(
        self, parser: LinkedDataParser, working: Callable[[], AbstractContextManager[None]] = nullcontext
    ) -> None:
        self._parser = parser
        self._working = working
        self._contexts = ContextCache()

    async def visit(self, page: Page, client: VisitClient) -> VisitResult | Wait:
        accept = (page.page_rules.accept if page.page_rules is not None else "") or ACCEPT
        fetched = await client.get(page.url, accept=accept, validators=page.validators)
        if isinstance(fetched, Wait):
            return fetched
        response = fetched.answer
        if response is None or _is_final(fetched):
            return await self._document(page, client, fetched)
        linked = await self._in_thread(
            self._parser.embedded_data, _body(response), response.header("content-type"), response.url
        )
        if url := best_alternate([*_header_alternates(response), *linked.alternates], accept, page.url):
            alternate = await client.get(url, accept=accept)
            assert not isinstance(alternate, Wait), "a wait is returned only before the first request"
            fetched = joined(fetched, alternate)
            if _is_final(alternate):
                return await self._document(page, client, fetched)
        main = fetched.exchanges.index(response)
        if linked.embedded is not None or linked.rdfa:
            return await self._embedded(page, client, fetched, main, linked)
        if page.page_rules is not None and page.page_rules.handler == self.name:
            detail = f"no RDF: {bare_type(response.header('content-type')) or 'a response without a media type'}"
            return visit_result(page, client, failed(fetched, Failure(kind=FailureKind.UNEXPECTED, detail=detail)))
        return visit_result(page, client, fetched, main=main)

    async def _document(self, page: Page, client: VisitClient, fetched: FetchResult) -> VisitResult:
        """The result for a document that ends the search; JSON-LD may need remote contexts."""
        response = fetched.answer
        if fetched.failure is None and response is not None and response.status == 200:
            body = _body(response) if bare_type(response.header("content-type")) == _JSON_LD else b""
            if body and self._parser.missing_context(body, response.url, {}) is not None:
                return await self._expanded(page, client, fetched, len(fetched.exchanges) - 1, body, b"", None)
        return visit_result(page, client, fetched)

    async def _embedded(
        self, page: Page, client: VisitClient, fetched: FetchResult, main: int, linked: PageLinkedData
    ) -> VisitResult:
        """The result for JSON-LD and RDFa of a web page."""
        if linked.embedded is None:
            content = _resource(page, fetched.exchanges[main], _NQUADS, linked.rdfa)
            return visit_result(page, client, fetched, content=content, main=main)
        as_json = _resource(page, fetched.exchanges[main], _JSON_LD, linked.embedded)
        return await self._expanded(page, client, fetched, main, linked.embedded, linked.rdfa, as_json)

    async def _expanded(
        self,
        page: Page,
        client: VisitClient,
        fetched: FetchResult,
        main: int,
        body: bytes,
        rdfa: bytes,
        as_json: Resource | None,
    ) -> VisitResult:
        """The result for JSON-LD: N-Quads including `rdfa` if it can be expanded, else `as_json` or the response."""
        response = fetched.exchanges[main]
        needed = await self._contexts.gather(partial(self._parser.missing_context, body, response.url), client)
        fetched = FetchResult(exchanges=fetched.exchanges + needed.fetched.exchanges, again_at=fetched.again_at)
        if not needed.problem:
            try:
                lines = await self._in_thread(self._parser.quads, body, response.url, needed.contexts)
            except ValueError:
                lines = b""  # invalid JSON-LD is compared as JSON
            if lines or rdfa:
                content = _resource(page, response, _NQUADS, lines + rdfa)
                return visit_result(page, client, fetched, content=content, main=main)
        was_graph = page.fingerprint is not None and page.fingerprint.data_kind == "graph"
        if needed.problem and was_graph and page.failures < _MAX_FAILURES:
            failure = Failure(kind=FailureKind.PARTIAL, detail=needed.problem[:300])
            return visit_result(page, client, failed(fetched, failure), main=main)
        if was_graph and as_json is None:
            as_json = _resource(page, response, _JSON_LD, body)  # a resource of ours marks the change of form
        return visit_result(page, client, fetched, content=as_json, main=main)

    async def _in_thread(self, function: Callable[..., T], *arguments: object) -> T:
        """Run the function in a thread, because a large page would block the event loop."""
        with self._working():
            return await asyncio.to_thread(function, *arguments)


def _is_final(fetched: FetchResult) -> bool:
    """Whether the search ends here: with RDF, or without a successful response."""
    response = fetched.answer
    if fetched.failure is not None or response is None or response.status != 200:
        return True
    return bare_type(response.header("content-type")) in RDF_TYPES


def _resource(page: Page, response: Exchange, content_type: str, body: bytes) -> Resource:
    return Resource(url=f"urn:data:{page.url}", at=response.at, content_type=content_type, body=body)


def _body(response: Exchange) -> bytes:
    """The body without content coding; empty if it is incomplete."""
    decoded = decode(response.body, response.header("content-encoding"), max_bytes=_MAX_BYTES, max_ratio=_MAX_RATIO)
    return b"" if response.truncated is not None or decoded.problem is not None else decoded.body


def best_alternate(alternates: Iterable[tuple[str, str]], accept: str, page_url: str) -> str | None:
    """The URL of the RDF document with the highest quality, the first of equals; never the page itself."""
    rated = [(accept_quality(kind, accept), url) for url, kind in alternates if kind in RDF_TYPES and url != page_url]
    best = max((quality for quality, _ in rated), default=0.0)
    return next((url for quality, url in rated if quality == best), None) if best > 0 else None


def _header_alternates(response: Exchange) -> list[tuple[str, str]]:
    headers = [value for name, value in response.headers if name == "link"]
    return [(link.url, link.type) for link in parse_links(headers, response.url) if link.rels & _RELATIONS]
