"""The pages that a feed, a sitemap or an RDF document lists, and the change signals in it.

A signal repeats what the file states. How reliable a site's `lastmod` is, is learned in `predict`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from msgspec import Struct

from webstrata.observe.data.feed import parse_feed
from webstrata.observe.data.rdf.graph import SYNTAX_OF_TYPE, NotAGraphError, quads_of
from webstrata.observe.data.sitemap import parse_sitemap
from webstrata.observe.media import HTML
from webstrata.records import Signal
from webstrata.urls import join

MAX_LINKED = 10_000
_SEE_ALSO = (b" <http://www.w3.org/2000/01/rdf-schema#seeAlso> <", b" <http://www.w3.org/2002/07/owl#sameAs> <")


class ListedItems(Struct, frozen=True, kw_only=True):
    urls: tuple[str, ...] = ()
    """Pages in the order of the file, without duplicates."""
    sitemaps: tuple[str, ...] = ()
    """The sitemaps that a sitemap index lists."""
    signals: tuple[Signal, ...] = ()
    """One for each page; with a time if the file states one."""


def listed_items(body: bytes, media_type: str, charset: str | None, url: str, handler: str) -> ListedItems:
    """The pages that a body (content coding removed) lists, parsed according to the page's handler. Never raises."""
    if handler == "sitemap":
        return _sitemap(body, url)
    if handler == "feed":
        return _feed(body, charset, url)
    if handler == "rdf":
        return ListedItems(urls=see_also(body, media_type, charset, url))
    if handler == "http" and media_type not in HTML:  # the first visit of a list whose URL does not tell its kind
        feed = _feed(body, charset, url)
        return feed if feed.urls else _sitemap(body, url)
    return ListedItems()


def _sitemap(body: bytes, url: str) -> ListedItems:
    sitemap = parse_sitemap(body, url)
    times = {entry.url: entry.lastmod for entry in sitemap.entries}
    if sitemap.kind == "index":
        return ListedItems(sitemaps=tuple(times))
    return ListedItems(urls=tuple(times), signals=_signals(url, times.items(), "sitemap-lastmod"))


def _feed(body: bytes, charset: str | None, url: str) -> ListedItems:
    """If several entries name one page, the signal has the latest of their times."""
    times: dict[str, float | None] = {}
    for entry in parse_feed(body, charset, url).entries:
        if entry.url is not None:
            known = [at for at in (times.get(entry.url), entry.updated_at) if at is not None]
            times[entry.url] = max(known, default=None)
    return ListedItems(urls=tuple(times), signals=_signals(url, times.items(), "feed-entry"))


def _signals(
    source: str, times: Iterable[tuple[str, float | None]], kind: Literal["feed-entry", "sitemap-lastmod"]
) -> tuple[Signal, ...]:
    return tuple([Signal(source=source, url=url, at=at, kind=kind) for url, at in times])


def see_also(body: bytes, media_type: str, charset: str | None, url: str) -> tuple[str, ...]:
    """Documents that an RDF document names by rdfs:seeAlso or owl:sameAs. The caller checks which are in scope."""
    syntax = SYNTAX_OF_TYPE.get(media_type)
    if syntax is None:
        return ()
    try:
        lines = quads_of(body, charset, url, syntax=syntax)
    except NotAGraphError:
        return ()
    targets: dict[str, None] = {}
    for line in lines:
        for relation in _SEE_ALSO:
            _, separator, rest = line.partition(relation)
            target = join(url, rest.partition(b">")[0].decode("utf-8", "replace")) if separator else None
            if target is not None:
                targets[target] = None
        if len(targets) >= MAX_LINKED:
            break
    return tuple(targets)
