"""`PlainHandler`: one GET request, whose response body is the content. For web pages, feeds and sitemaps."""

from __future__ import annotations

from webstrata.fetch.handlers.visit_result import visit_result
from webstrata.ports import VisitClient
from webstrata.records import Page, VisitResult, Wait

ACCEPT = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"
ACCEPT_FEED = (
    "application/atom+xml,application/rss+xml,application/feed+json;q=0.9,application/rdf+xml;q=0.8,"
    "application/xml;q=0.7,text/xml;q=0.7,*/*;q=0.5"
)
ACCEPT_SITEMAP = "application/xml,text/xml;q=0.9,text/plain;q=0.8,*/*;q=0.5"


class PlainHandler:
    """Requests the page's URL with the Accept header of its rules, else of the handler."""

    def __init__(self, name: str = "http", accept: str = ACCEPT) -> None:
        self.name = name
        self._accept = accept

    async def visit(self, page: Page, client: VisitClient) -> VisitResult | Wait:
        accept = (page.page_rules.accept if page.page_rules is not None else "") or self._accept
        fetched = await client.get(page.url, accept=accept, validators=page.validators, large_body=True)
        return fetched if isinstance(fetched, Wait) else visit_result(page, client, fetched)
