"""The `rdf` handler: the content of a page is the RDF about it.

1. RDF is requested; redirects (above all 303) lead to the document.
2. If the response is not RDF, it may name a document that is: `Link: rel=alternate|describedby`, or `<link>` in HTML.
3. Otherwise JSON-LD and RDFa embedded in the HTML are the content.
4. Otherwise there is no RDF: a failure if the user chose this handler, else the response itself is the content.

JSON-LD that refers to remote contexts is expanded with them to N-Quads, so that it is compared as a graph. Without the
contexts it is compared as JSON. If the page was a graph before, the visit fails instead, because a missing context
would look like a change of the page.

Nothing is decoded or parsed here: the parser does that in another process, within limits. What it cannot parse is
treated as if it had no linked data.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple, Protocol

from webstrata.coding import EncodedBody, encoded_body
from webstrata.errors import ParserError
from webstrata.fetch.handlers.contexts import BodyDecoder, ContextCache, JsonLdExpansion
from webstrata.fetch.handlers.negotiate import accept_quality, bare_type, parse_links
from webstrata.fetch.handlers.visit_result import failed, joined, local_failure, visit_result
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

_JSON_LD = "application/ld+json"
_NQUADS = "application/n-quads"
_MAX_JSON_BYTES = 20_000_000
_MAX_FAILURES = 5
"""Consecutive failed visits after which a missing context is accepted and JSON-LD is compared as JSON."""


class PageLinkedData(Protocol):
    """The linked data of a web page."""

    @property
    def alternates(self) -> Sequence[tuple[str, str]]: ...
    @property
    def embedded(self) -> bytes | None: ...
    @property
    def rdfa(self) -> bytes: ...


class LinkedDataParser(BodyDecoder, Protocol):
    """Parses pages and JSON-LD (`webstrata.flows.parsers.handler_parsers`). Its methods raise ValueError for what they
    cannot parse, and ParserError."""

    async def embedded_data(self, body: EncodedBody) -> PageLinkedData: ...
    async def expand(self, body: EncodedBody, contexts: Mapping[str, bytes]) -> JsonLdExpansion: ...


class RdfHandler:
    """Finds the RDF of a page."""

    name = "rdf"

    def __init__(self, parser: LinkedDataParser) -> None:
        self._parser = parser
        self._contexts = ContextCache(parser)

    async def visit(self, page: Page, client: VisitClient) -> VisitResult | Wait:
        try:
            return await self._visit(page, client)
        except ParserError as problem:
            return local_failure(page, client, problem)

    async def _visit(self, page: Page, client: VisitClient) -> VisitResult | Wait:
        accept = (page.page_rules.accept if page.page_rules is not None else "") or ACCEPT
        fetched = await client.get(page.url, accept=accept, validators=page.validators)
        if isinstance(fetched, Wait):
            return fetched
        response = fetched.answer
        if response is None or _is_final(fetched):
            return await self._document(page, client, fetched)
        linked = await self._linked_data(response)
        alternates = [*_header_alternates(response), *(linked.alternates if linked is not None else ())]
        if url := best_alternate(alternates, accept, page.url):
            alternate = await client.get(url, accept=accept)
            assert not isinstance(alternate, Wait), "a wait is returned only before the first request"
            fetched = joined(fetched, alternate)
            if _is_final(alternate):
                return await self._document(page, client, fetched)
        main = fetched.exchanges.index(response)
        if linked is not None and (linked.embedded is not None or linked.rdfa):
            return await self._embedded(page, client, fetched, main, linked)
        if page.page_rules is not None and page.page_rules.handler == self.name:
            detail = f"no RDF: {bare_type(response.header('content-type')) or 'a response without a media type'}"
            return visit_result(page, client, failed(fetched, Failure(kind=FailureKind.UNEXPECTED, detail=detail)))
        return visit_result(page, client, fetched, main=main)

    async def _document(self, page: Page, client: VisitClient, fetched: FetchResult) -> VisitResult:
        """The result for a document that ends the search; JSON-LD may need remote contexts."""
        response = fetched.answer
        if fetched.failure is None and response is not None and response.status == 200:
            is_json_ld = bare_type(response.header("content-type")) == _JSON_LD and response.truncated is None
            if is_json_ld and (await self._expand(encoded_body(response), {})).missing is not None:
                main = len(fetched.exchanges) - 1
                return await self._expanded(page, client, fetched, main, encoded_body(response), b"", None)
        return visit_result(page, client, fetched)

    async def _embedded(
        self, page: Page, client: VisitClient, fetched: FetchResult, main: int, linked: PageLinkedData
    ) -> VisitResult:
        """The result for JSON-LD and RDFa of a web page."""
        if linked.embedded is None:
            content = _resource(page, fetched.exchanges[main], _NQUADS, linked.rdfa)
            return visit_result(page, client, fetched, content=content, main=main)
        as_json = _resource(page, fetched.exchanges[main], _JSON_LD, linked.embedded)
        body = EncodedBody(url=fetched.exchanges[main].url, body=linked.embedded)
        return await self._expanded(page, client, fetched, main, body, linked.rdfa, as_json)

    async def _expanded(
        self,
        page: Page,
        client: VisitClient,
        fetched: FetchResult,
        main: int,
        body: EncodedBody,
        rdfa: bytes,
        as_json: Resource | None,
    ) -> VisitResult:
        """The result for JSON-LD: N-Quads including `rdfa` if it can be expanded, else `as_json` or the response."""
        response = fetched.exchanges[main]
        needed = await self._contexts.gather(lambda contexts: self._expand(body, contexts), client)
        fetched = FetchResult(exchanges=fetched.exchanges + needed.fetched.exchanges, again_at=fetched.again_at)
        if not needed.problem and (needed.quads or rdfa):  # invalid JSON-LD is compared as JSON
            content = _resource(page, response, _NQUADS, needed.quads + rdfa)
            return visit_result(page, client, fetched, content=content, main=main)
        was_graph = page.fingerprint is not None and page.fingerprint.data_kind == "graph"
        if needed.problem and was_graph and page.failures < _MAX_FAILURES:
            failure = Failure(kind=FailureKind.PARTIAL, detail=needed.problem[:300])
            return visit_result(page, client, failed(fetched, failure), main=main)
        if was_graph and as_json is None:
            as_json = await self._as_json(page, response, body)  # a resource of ours marks the change of form
        return visit_result(page, client, fetched, content=as_json, main=main)

    async def _linked_data(self, response: Exchange) -> PageLinkedData | None:
        """The linked data of a page; None if it is incomplete or cannot be parsed."""
        if response.truncated is not None:
            return None
        try:
            return await self._parser.embedded_data(encoded_body(response))
        except ValueError:
            return None

    async def _expand(self, body: EncodedBody, contexts: Mapping[str, bytes]) -> JsonLdExpansion:
        try:
            return await self._parser.expand(body, contexts)
        except ValueError as problem:
            return NotExpanded(missing=None, quads=b"", problem=str(problem))

    async def _as_json(self, page: Page, response: Exchange, body: EncodedBody) -> Resource | None:
        try:
            decoded = await self._parser.decode(body, _MAX_JSON_BYTES)
        except ValueError:
            return None
        return _resource(page, response, _JSON_LD, decoded.body)


class NotExpanded(NamedTuple):
    """The expansion of a document that cannot be parsed."""

    missing: str | None
    quads: bytes
    problem: str


def _is_final(fetched: FetchResult) -> bool:
    """Whether the search ends here: with RDF, or without a successful response."""
    response = fetched.answer
    if fetched.failure is not None or response is None or response.status != 200:
        return True
    return bare_type(response.header("content-type")) in RDF_TYPES


def _resource(page: Page, response: Exchange, content_type: str, body: bytes) -> Resource:
    return Resource(url=f"urn:data:{page.url}", at=response.at, content_type=content_type, body=body)


def best_alternate(alternates: Iterable[tuple[str, str]], accept: str, page_url: str) -> str | None:
    """The URL of the RDF document with the highest quality, the first of equals; never the page itself."""
    rated = [(accept_quality(kind, accept), url) for url, kind in alternates if kind in RDF_TYPES and url != page_url]
    best = max((quality for quality, _ in rated), default=0.0)
    return next((url for quality, url in rated if quality == best), None) if best > 0 else None


def _header_alternates(response: Exchange) -> list[tuple[str, str]]:
    headers = [value for name, value in response.headers if name == "link"]
    return [(link.url, link.type) for link in parse_links(headers, response.url) if link.rels & _RELATIONS]
