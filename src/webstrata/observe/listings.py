"""What a feed, a sitemap or an RDF document lists: pages to watch, and signals with their times.

A signal is what the file says, nothing more: how far a site's `lastmod` has proved right is for whoever weighs
signals to learn.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from msgspec import Struct

from webstrata.observe.data.feed import read_feed
from webstrata.observe.data.rdf.graph import NotAGraphError, quads_of
from webstrata.observe.data.sitemap import read_sitemap
from webstrata.records import Signal
from webstrata.urls import join

MAX_LINKED = 10_000
_SEE_ALSO = (b" <http://www.w3.org/2000/01/rdf-schema#seeAlso> <", b" <http://www.w3.org/2002/07/owl#sameAs> <")
_SYNTAX = {
    "text/turtle": "turtle",
    "application/n-triples": "ntriples",
    "application/n-quads": "nquads",
    "application/trig": "trig",
    "application/rdf+xml": "rdfxml",
    "application/ld+json": "jsonld",
}


class ListedItems(Struct, frozen=True, kw_only=True):
    urls: tuple[str, ...] = ()
    """Pages, in the order of the file, each once."""
    sitemaps: tuple[str, ...] = ()
    """Further sitemaps."""
    signals: tuple[Signal, ...] = ()
    """One for each page, with its time where the file says one."""


def listed_items(body: bytes, media_type: str, charset: str | None, url: str, handler: str) -> ListedItems:
    """What a body (content coding removed) lists, read as the page's handler says. Never raises."""
    if handler == "sitemap":
        return _sitemap(body, url)
    if handler == "feed":
        return _feed(body, charset, url)
    if handler == "rdf":
        return ListedItems(urls=see_also(body, media_type, charset, url))
    return ListedItems()


def _sitemap(body: bytes, url: str) -> ListedItems:
    read = read_sitemap(body, url)
    found = {entry.url: entry.lastmod for entry in reversed(read.entries)}
    names = tuple(reversed(found))
    if read.kind == "index":
        return ListedItems(sitemaps=names)
    return ListedItems(urls=names, signals=_signals(url, ((name, found[name]) for name in names), "sitemap-lastmod"))


def _feed(body: bytes, charset: str | None, url: str) -> ListedItems:
    """Of several entries about one page the latest time counts."""
    found: dict[str, float | None] = {}
    for entry in read_feed(body, charset, url).entries:
        if entry.url is not None:
            known = found.get(entry.url)
            times = [at for at in (known, entry.updated_at) if at is not None]
            found[entry.url] = max(times) if times else None
    return ListedItems(urls=tuple(found), signals=_signals(url, found.items(), "feed-entry"))


def _signals(
    source: str, times: Iterable[tuple[str, float | None]], kind: Literal["feed-entry", "sitemap-lastmod"]
) -> tuple[Signal, ...]:
    return tuple([Signal(source=source, url=url, at=at, kind=kind) for url, at in times])


def see_also(body: bytes, media_type: str, charset: str | None, url: str) -> tuple[str, ...]:
    """Documents that an RDF document names by rdfs:seeAlso or owl:sameAs; which are in scope is the caller's to say."""
    syntax = _SYNTAX.get(media_type)
    if syntax is None:
        return ()
    try:
        lines = quads_of(body, charset, url, syntax=syntax)
    except NotAGraphError:
        return ()
    found: dict[str, None] = {}
    for line in lines:
        for relation in _SEE_ALSO:
            _, met, rest = line.partition(relation)
            target = join(url, rest.partition(b">")[0].decode("utf-8", "replace")) if met else None
            if target is not None:
                found[target] = None
        if len(found) >= MAX_LINKED:
            break
    return tuple(found)
