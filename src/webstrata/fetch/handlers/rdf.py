"""The `rdf` handler: a page's content is the RDF about it, wherever its server keeps it.

1. ask for RDF; redirects (303 above all) lead to the document
2. an answer that is no RDF may name one that is: `Link: rel=alternate|describedby`, `<link>` in HTML
3. else JSON-LD and RDFa inside the HTML count, together
4. else there is no RDF: a failure if the user asked for RDF, the plain answer if nobody did

JSON-LD that names contexts elsewhere is put together with them to N-Quads, so that it compares as a graph. Without
them it is compared as JSON; but where it was a graph before, the visit is a failure, or the missing context would look
like a change of the page.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from typing import Protocol, TypeVar

from webstrata.coding import decode
from webstrata.fetch.handlers.contexts import ContextCache, NeededContexts
from webstrata.fetch.handlers.negotiate import bare_type, quality, read_links
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
_LARGEST = 20_000_000
_LARGEST_RATIO = 500.0

_JSON_LD = "application/ld+json"
_NQUADS = "application/n-quads"
_PATIENCE = 5
"""Failed visits after which a context is given up, and JSON-LD compared as JSON."""

T = TypeVar("T")


class PageLinkedData(Protocol):
    """What was found on a web page."""

    @property
    def alternates(self) -> Sequence[tuple[str, str]]: ...
    @property
    def embedded(self) -> bytes | None: ...
    @property
    def rdfa(self) -> bytes: ...


class LinkedReader(Protocol):
    """What reads pages and JSON-LD (`webstrata.observe.linked_data.LinkedData`)."""

    def embedded_data(self, body: bytes, content_type: str | None, url: str) -> PageLinkedData: ...
    def missing_context(self, body: bytes, url: str, contexts: Mapping[str, bytes]) -> str | None: ...
    def quads(self, body: bytes, url: str, contexts: Mapping[str, bytes]) -> bytes: ...


class RdfHandler:
    """Finds the RDF of a page. `working`: the clock's, held while a thread reads."""

    name = "rdf"

    def __init__(self, reader: LinkedReader, working: Callable[[], AbstractContextManager[None]] = nullcontext) -> None:
        self._reader = reader
        self._working = working
        self._contexts = ContextCache()

    async def visit(self, page: Page, polite: VisitClient) -> VisitResult | Wait:
        accept = (page.page_rules.accept if page.page_rules is not None else "") or ACCEPT
        got = await polite.get(page.url, accept=accept, validators=page.validators)
        if isinstance(got, Wait):
            return got
        answer = got.answer
        if got.failure is not None or answer is None or answer.status != 200 or is_rdf(answer):
            return await self._document(page, polite, got)
        body = _body(answer)
        found = await self._read(self._reader.embedded_data, body, answer.header("content-type"), answer.url)
        if url := best_alternate([*_from_header(answer), *found.alternates], accept, page.url):
            there = await polite.get(url, accept=accept)
            assert not isinstance(there, Wait), "a wait comes only before the first request"
            both = joined(got, there)
            if there.failure is not None or there.answer is None or there.answer.status != 200 or is_rdf(there.answer):
                return await self._document(page, polite, both)
            got = both
        main = got.exchanges.index(answer)
        if found.embedded is not None or found.rdfa:
            return await self._inside(page, polite, got, main, found)
        if page.page_rules is not None and page.page_rules.handler == self.name:
            detail = f"no RDF: {bare_type(answer.header('content-type')) or 'an answer without a media type'}"
            return visit_result(page, polite, failed(got, Failure(kind=FailureKind.UNEXPECTED, detail=detail)))
        return visit_result(page, polite, got, main=main)

    async def _document(self, page: Page, polite: VisitClient, got: FetchResult) -> VisitResult:
        """An answer that is the end of the search. JSON-LD may need contexts from elsewhere."""
        answer = got.answer
        if got.failure is not None or answer is None or answer.status != 200:
            return visit_result(page, polite, got)
        if bare_type(answer.header("content-type")) != _JSON_LD:
            return visit_result(page, polite, got)
        body, main = _body(answer), len(got.exchanges) - 1
        if not body or self._reader.missing_context(body, answer.url, {}) is None:
            return visit_result(page, polite, got)
        return await self._expanded(page, polite, got, main, body, b"", None)

    async def _inside(
        self, page: Page, polite: VisitClient, got: FetchResult, main: int, found: PageLinkedData
    ) -> VisitResult:
        """JSON-LD and RDFa of a web page."""
        if found.embedded is None:
            made = _made(page, got.exchanges[main], _NQUADS, found.rdfa)
            return visit_result(page, polite, got, content=made, main=main)
        plain = _made(page, got.exchanges[main], _JSON_LD, found.embedded)
        return await self._expanded(page, polite, got, main, found.embedded, found.rdfa, plain)

    async def _expanded(
        self,
        page: Page,
        polite: VisitClient,
        got: FetchResult,
        main: int,
        body: bytes,
        more: bytes,
        plain: Resource | None,
    ) -> VisitResult:
        """JSON-LD with its contexts, as N-Quads with `more` of them; else `plain`, or the answer as it came."""
        answer = got.exchanges[main]
        gathered: NeededContexts = await self._contexts.gather(partial(self._reader.missing_context, body, answer.url), polite)
        got = FetchResult(exchanges=got.exchanges + gathered.asked.exchanges, again_at=got.again_at)
        problem = gathered.problem
        if not problem:
            try:
                lines = await self._read(self._reader.quads, body, answer.url, gathered.contexts)
            except ValueError:
                lines = b""  # broken JSON-LD is compared as JSON, like any that is not understood
            if lines or more:
                return visit_result(page, polite, got, content=_made(page, answer, _NQUADS, lines + more), main=main)
        was_graph = page.fingerprint is not None and page.fingerprint.data_kind == "graph"
        if problem and was_graph and page.failures < _PATIENCE:
            failure = Failure(kind=FailureKind.PARTIAL, detail=problem[:300])
            return visit_result(page, polite, failed(got, failure), main=main)
        if was_graph and plain is None:
            plain = _made(page, answer, _JSON_LD, body)  # made by us, so that it is known to be another form
        return visit_result(page, polite, got, content=plain, main=main)

    async def _read(self, read: Callable[..., T], *of: object) -> T:
        """In a thread: a large page would hold up everybody."""
        with self._working():
            return await asyncio.to_thread(read, *of)


def _made(page: Page, answer: Exchange, content_type: str, body: bytes) -> Resource:
    return Resource(url=f"urn:data:{page.url}", at=answer.at, content_type=content_type, body=body)


def _body(answer: Exchange) -> bytes:
    """Without its content coding; nothing where it is not whole."""
    decoded = decode(answer.body, answer.header("content-encoding"), max_bytes=_LARGEST, max_ratio=_LARGEST_RATIO)
    return b"" if answer.truncated is not None or decoded.problem is not None else decoded.body


def is_rdf(answer: Exchange) -> bool:
    return bare_type(answer.header("content-type")) in RDF_TYPES


def best_alternate(found: Iterable[tuple[str, str]], accept: str, page_url: str) -> str | None:
    """The document whose type we like best, the first of equals; never the page itself."""
    rated = [(quality(kind, accept), url) for url, kind in found if kind in RDF_TYPES and url != page_url]
    best = max((rate for rate, _ in rated), default=0.0)
    return next((url for rate, url in rated if rate == best), None) if best > 0 else None


def _from_header(answer: Exchange) -> list[tuple[str, str]]:
    values = [value for name, value in answer.headers if name == "link"]
    return [(link.url, link.type) for link in read_links(values, answer.url) if link.rels & _RELATIONS]
