"""Every shipped handler fulfils the handler contract, and the contract detects violations."""

from __future__ import annotations

import pytest

from webstrata.clock import RealClock
from webstrata.fetch.handlers.browser import BrowserHandler, find_chromium, missing_software
from webstrata.fetch.handlers.plain import ACCEPT_FEED, PlainHandler
from webstrata.fetch.handlers.rdf import RdfHandler
from webstrata.fetch.handlers.sparql.handler import SparqlHandler
from webstrata.fetch.handlers.sparql.query import query_url
from webstrata.fetch.handlers.sparql.whole_dataset import WholeDataset
from webstrata.flows.parsers.handler_parsers import HandlerParsers
from webstrata.flows.parsers.parser_pool import ParserPool
from webstrata.ports import Handler, VisitClient
from webstrata.records import Page, VisitResult, Wait
from webstrata.testing.handler import check_handler

PARSER = HandlerParsers(ParserPool(0))
SPARQL = SparqlHandler(PARSER, WholeDataset(PARSER))


def page(url: str) -> Page:
    return Page(id=1, url=url, host="example.org")


@pytest.mark.parametrize(
    "handler",
    [PlainHandler(), PlainHandler("feed", ACCEPT_FEED), RdfHandler(PARSER), SPARQL],
    ids=lambda it: it.name,
)
def test_shipped_handlers(handler: Handler) -> None:
    """Shipped handlers fulfil the contract."""
    check_handler(handler)


@pytest.mark.parametrize("form", ["SELECT * {}", "ASK {}", "CONSTRUCT WHERE {?s ?p ?o}", "DESCRIBE <x:>"])
@pytest.mark.parametrize("length", [0, 3000])
def test_queries(form: str, length: int) -> None:
    """All forms of queries fulfil the contract, by GET and by POST."""
    check_handler(SPARQL, page(query_url("http://example.org/sparql", form + "#" + "x" * length)))


@pytest.mark.skipif(bool(missing_software(find_chromium())), reason="no Chromium or no Playwright")
def test_browser() -> None:
    """The browser handler fulfils the contract."""
    check_handler(BrowserHandler(RealClock(), PARSER, agent="x"))


class Raises:
    name = "raises"

    async def visit(self, page: Page, client: VisitClient) -> VisitResult | Wait:
        fetched = await client.get(page.url, accept="*/*")
        if isinstance(fetched, Wait):
            return fetched
        fetched.exchanges[0].body.decode()
        return VisitResult(page=page, at=fetched.exchanges[0].at, exchanges=fetched.exchanges)


class Loses(Raises):
    name = "loses"

    async def visit(self, page: Page, client: VisitClient) -> VisitResult | Wait:
        fetched = await client.get(page.url, accept="*/*")
        if isinstance(fetched, Wait):
            return fetched
        return VisitResult(page=page, at=client.now(), exchanges=fetched.exchanges[1:], failure=fetched.failure)


class Impatient(Raises):
    name = "impatient"

    async def visit(self, page: Page, client: VisitClient) -> VisitResult | Wait:
        while isinstance(fetched := await client.get(page.url, accept="*/*"), Wait):
            pass
        return VisitResult(page=page, at=client.now(), exchanges=fetched.exchanges, failure=fetched.failure)


@pytest.mark.parametrize(
    ("bad", "rule"), [(Raises(), "raises nothing"), (Loses(), "every exchange"), (Impatient(), "ends")]
)
def test_broken_handlers(bad: Handler, rule: str) -> None:
    """The contract names the rule that a handler violates."""
    with pytest.raises(AssertionError, match=rule):
        check_handler(bad)
