"""`chooser`: the handler of a page by its rules, else by its role, its URL or its last media type.

Costly handlers are never chosen automatically: a SPARQL endpoint is downloaded completely only if the page's rules name
the handler `sparql`, and a page is rendered only if they name `browser`. A query in the URL selects `sparql` only if
the user named the URL: a link, a feed, a sitemap or a capture cannot make the crawler send queries.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from urllib.parse import parse_qs, urlsplit

from webstrata.fetch.handlers.rdf import RDF_TYPES
from webstrata.fetch.handlers.sparql.query import form_of
from webstrata.ports import Handler
from webstrata.records import Page, PageRole, PageState

_RDF_ENDINGS = (".ttl", ".nt", ".nq", ".trig", ".rdf", ".owl", ".jsonld", ".n3")
_FEED_TYPES = {"application/rss+xml", "application/atom+xml", "application/feed+json"}
_FEED_ENDINGS = (".rss", ".atom")
_URL_MARKERS = (*_RDF_ENDINGS, *_FEED_ENDINGS, "query=")
"""Only URLs that contain one of these are parsed, which are few."""


def handler_name(page: Page) -> str:
    """The name of the page's handler."""
    name = page.page_rules.handler if page.page_rules is not None else "auto"
    if name != "auto":
        return name
    if page.role is PageRole.SITEMAP:
        return "sitemap"
    if page.role is PageRole.REQUISITE:
        return "http"
    last_type = page.fingerprint.media_type if page.fingerprint is not None else ""
    return _by_url(page.url, is_named=_is_named(page)) or _by_type(last_type) or "http"


def _is_named(page: Page) -> bool:
    """Whether the user named this URL: pages that were discovered are at least one link away from such a page."""
    return page.depth == 0 and page.state is not PageState.CAPTURED


def _by_url(url: str, *, is_named: bool) -> str | None:
    lowered = url.lower()
    if not any(marker in lowered for marker in _URL_MARKERS):
        return None
    parts = urlsplit(url)
    path = parts.path.lower()
    if path.endswith(_RDF_ENDINGS):
        return "rdf"
    if path.endswith(_FEED_ENDINGS):
        return "feed"
    if is_named and "query=" in parts.query and form_of(parse_qs(parts.query).get("query", [""])[0]) is not None:
        return "sparql"
    return None


def _by_type(media_type: str) -> str | None:
    if media_type in RDF_TYPES:
        return "rdf"
    return "feed" if media_type in _FEED_TYPES else None


def chooser(handlers: Mapping[str, Handler]) -> Callable[[Page], Handler]:
    """A function that returns the handler of a page. Unknown names, which `watch` refuses, get the plain handler."""
    plain = handlers["http"]

    def choose(page: Page) -> Handler:
        return handlers.get(handler_name(page), plain)

    return choose
