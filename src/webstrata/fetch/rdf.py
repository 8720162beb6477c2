"""The `rdf` handler: a page's content is the RDF about it, wherever its server keeps it.

1. ask for RDF; redirects (303 above all) lead to the document
2. an answer that is no RDF may name one that is: `Link: rel=alternate|describedby`, `<link>` in HTML
3. else JSON-LD inside the HTML counts
4. else there is no RDF: a failure if the user asked for RDF, the plain answer if nobody did
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from webstrata.coding import decode
from webstrata.fetch.link_header import read_links
from webstrata.fetch.negotiate import bare_type, quality
from webstrata.fetch.visited import failed, joined, visited
from webstrata.ports import Polite
from webstrata.records import Exchange, Failure, FailureKind, Page, Resource, Visited, Wait

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

Find = Callable[[bytes, str | None, str], tuple[Sequence[tuple[str, str]], bytes | None]]
"""Body, Content-Type, URL -> links to other documents (URL, media type), and JSON-LD inside the body."""


class RdfHandler:
    """Finds the RDF of a page. `find` reads HTML (`webstrata.observe.linked.linked`)."""

    name = "rdf"

    def __init__(self, find: Find) -> None:
        self._find = find

    async def visit(self, page: Page, polite: Polite) -> Visited | Wait:
        accept = (page.looking.accept if page.looking is not None else "") or ACCEPT
        got = await polite.get(page.url, accept=accept, validators=page.validators)
        if isinstance(got, Wait):
            return got
        answer = got.answer
        if got.failure is not None or answer is None or answer.status != 200 or is_rdf(answer):
            return visited(page, polite, got)
        alternates, embedded = self._read(answer)
        if url := best_alternate([*_from_header(answer), *alternates], accept, page.url):
            there = await polite.get(url, accept=accept)
            assert not isinstance(there, Wait), "a wait comes only before the first request"
            both = joined(got, there)
            if there.failure is not None or there.answer is None or there.answer.status != 200 or is_rdf(there.answer):
                return visited(page, polite, both)
            got = both
        if embedded is not None:
            content = Resource(
                url=f"urn:data:{page.url}", at=answer.at, content_type="application/ld+json", body=embedded
            )
            return visited(page, polite, got, content=content, main=got.exchanges.index(answer))
        if page.looking is not None and page.looking.handler == self.name:
            detail = f"no RDF: {bare_type(answer.header('content-type')) or 'an answer without a media type'}"
            return visited(page, polite, failed(got, Failure(kind=FailureKind.UNEXPECTED, detail=detail)))
        return visited(page, polite, got, main=got.exchanges.index(answer))

    def _read(self, answer: Exchange) -> tuple[Sequence[tuple[str, str]], bytes | None]:
        decoded = decode(answer.body, answer.header("content-encoding"), max_bytes=_LARGEST, max_ratio=_LARGEST_RATIO)
        if answer.truncated is not None or decoded.problem is not None:
            return (), None
        return self._find(decoded.body, answer.header("content-type"), answer.url)


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
