"""The plain handler: a page's content is the body of the answer to one GET. Web pages, feeds and sitemaps."""

from __future__ import annotations

from webstrata.ports import VisitClient
from webstrata.records import Page, VisitResult, Wait

ACCEPT = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"
ACCEPT_FEED = (
    "application/atom+xml,application/rss+xml,application/feed+json;q=0.9,application/rdf+xml;q=0.8,"
    "application/xml;q=0.7,text/xml;q=0.7,*/*;q=0.5"
)
ACCEPT_SITEMAP = "application/xml,text/xml;q=0.9,text/plain;q=0.8,*/*;q=0.5"


class PlainHandler:
    """Asks for the page's URL with the user's Accept header, or its own."""

    def __init__(self, name: str = "http", accept: str = ACCEPT) -> None:
        self.name = name
        self._accept = accept

    async def visit(self, page: Page, polite: VisitClient) -> VisitResult | Wait:
        accept = (page.page_rules.accept if page.page_rules is not None else "") or self._accept
        got = await polite.get(page.url, accept=accept, validators=page.validators)
        if isinstance(got, Wait):
            return got
        at = got.exchanges[0].at if got.exchanges else polite.now()
        return VisitResult(page=page, at=at, exchanges=got.exchanges, failure=got.failure, again_at=got.again_at)
