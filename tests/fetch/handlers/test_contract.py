"""Every shipped handler keeps the contract of handlers; one that does not is told so."""

from __future__ import annotations

import pytest

from webstrata.clock import RealClock
from webstrata.fetch.handlers.browser import BrowserHandler, find_program, what_is_missing
from webstrata.fetch.handlers.plain import ACCEPT_FEED, PlainHandler
from webstrata.fetch.handlers.rdf import RdfHandler
from webstrata.fetch.handlers.sparql.handler import SparqlHandler
from webstrata.fetch.handlers.sparql.query import query_url
from webstrata.fetch.handlers.sparql.whole_dataset import WholeDataset
from webstrata.observe.data.sparql.responses import SparqlResponseParser
from webstrata.observe.linked_data import LinkedData
from webstrata.ports import Handler, VisitClient
from webstrata.records import Page, VisitResult, Wait
from webstrata.testing.handler import check_handler

ANSWERS = SparqlResponseParser()
SPARQL = SparqlHandler(ANSWERS, WholeDataset(ANSWERS))


def page(url: str) -> Page:
    return Page(id=1, url=url, host="example.org")


@pytest.mark.parametrize(
    "handler",
    [PlainHandler(), PlainHandler("feed", ACCEPT_FEED), RdfHandler(LinkedData()), SPARQL],
    ids=lambda it: it.name,
)
def test_shipped_handlers(handler: Handler) -> None:
    """What they are answered, they neither raise nor lose."""
    check_handler(handler)


@pytest.mark.parametrize("form", ["SELECT * {}", "ASK {}", "CONSTRUCT WHERE {?s ?p ?o}", "DESCRIBE <x:>"])
@pytest.mark.parametrize("length", [0, 3000])
def test_queries(form: str, length: int) -> None:
    """So do all forms of queries, asked by GET and by POST."""
    check_handler(SPARQL, page(query_url("http://example.org/sparql", form + "#" + "x" * length)))


@pytest.mark.skipif(bool(what_is_missing(find_program())), reason="no Chromium or no Playwright")
def test_browser() -> None:
    """So does the browser, which renders nothing that is no whole HTML page."""
    check_handler(BrowserHandler(RealClock(), agent="x"))


class Raises:
    name = "raises"

    async def visit(self, page: Page, polite: VisitClient) -> VisitResult | Wait:
        got = await polite.get(page.url, accept="*/*")
        if isinstance(got, Wait):
            return got
        got.exchanges[0].body.decode()
        return VisitResult(page=page, at=got.exchanges[0].at, exchanges=got.exchanges)


class Loses(Raises):
    name = "loses"

    async def visit(self, page: Page, polite: VisitClient) -> VisitResult | Wait:
        got = await polite.get(page.url, accept="*/*")
        if isinstance(got, Wait):
            return got
        return VisitResult(page=page, at=polite.now(), exchanges=got.exchanges[1:], failure=got.failure)


class Impatient(Raises):
    name = "impatient"

    async def visit(self, page: Page, polite: VisitClient) -> VisitResult | Wait:
        while isinstance(got := await polite.get(page.url, accept="*/*"), Wait):
            pass
        return VisitResult(page=page, at=polite.now(), exchanges=got.exchanges, failure=got.failure)


@pytest.mark.parametrize(
    ("bad", "promise"), [(Raises(), "raises nothing"), (Loses(), "every exchange"), (Impatient(), "ends")]
)
def test_broken_handlers(bad: Handler, promise: str) -> None:
    """The contract says which promise a handler breaks."""
    with pytest.raises(AssertionError, match=promise):
        check_handler(bad)
