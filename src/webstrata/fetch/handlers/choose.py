"""Which handler a page gets: the user's word, else what its URL, its role or its last media type says.

`auto` never starts anything large: an endpoint is read as a whole only when the user says `sparql`, a page is
rendered only when the user says `browser`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from urllib.parse import parse_qs, urlsplit

from webstrata.fetch.handlers.rdf import RDF_TYPES
from webstrata.fetch.handlers.sparql.query import form_of
from webstrata.ports import Handler
from webstrata.records import Page, PageRole

_RDF_ENDINGS = (".ttl", ".nt", ".nq", ".trig", ".rdf", ".owl", ".jsonld", ".n3")
_FEED_TYPES = {"application/rss+xml", "application/atom+xml", "application/feed+json"}
_FEED_ENDINGS = (".rss", ".atom")
_TELLING = (*_RDF_ENDINGS, *_FEED_ENDINGS, "query=")
"""Few URLs hold any of these, wherever: only those are taken apart."""


def handler_name(page: Page) -> str:
    """The name of the handler that a page gets."""
    wished = page.page_rules.handler if page.page_rules is not None else "auto"
    if wished != "auto":
        return wished
    if page.role is PageRole.SITEMAP:
        return "sitemap"
    if page.role is PageRole.REQUISITE:
        return "http"
    return _by_url(page.url) or _by_type(page.fingerprint.media_type if page.fingerprint is not None else "") or "http"


def _by_url(url: str) -> str | None:
    lowered = url.lower()
    if not any(mark in lowered for mark in _TELLING):
        return None
    parts = urlsplit(url)
    path = parts.path.lower()
    if path.endswith(_RDF_ENDINGS):
        return "rdf"
    if path.endswith(_FEED_ENDINGS):
        return "feed"
    if "query=" in parts.query and form_of(parse_qs(parts.query).get("query", [""])[0]) is not None:
        return "sparql"
    return None


def _by_type(media_type: str) -> str | None:
    if media_type in RDF_TYPES:
        return "rdf"
    return "feed" if media_type in _FEED_TYPES else None


def chooser(handlers: Mapping[str, Handler]) -> Callable[[Page], Handler]:
    """Turns pages into handlers. An unknown name was refused when the page was watched; here `http` stands in."""
    plain = handlers["http"]

    def choose(page: Page) -> Handler:
        if page.page_rules is None and page.role is PageRole.REQUISITE:
            return plain
        return handlers.get(handler_name(page), plain)

    return choose
