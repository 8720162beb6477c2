"""Which elements of a page point where: links, requisites, and what its head says of the page."""

from __future__ import annotations

from msgspec import Struct
from selectolax.lexbor import LexborHTMLParser

from webstrata.observe.links import Resolver, srcset_urls
from webstrata.urls import join

_FEED_TYPES = frozenset({"application/rss+xml", "application/atom+xml", "application/rdf+xml", "application/feed+json"})
_STYLE_RELS = frozenset({"stylesheet", "icon", "apple-touch-icon", "mask-icon", "manifest"})
_OTHERS = (
    "base[href],meta[name],link[href],area[href],iframe[src],frame[src],"
    "img,source[srcset],script[src],input[src],video[poster],body[background]"
)
_LONGEST_TITLE = 1000


class Pointers(Struct, frozen=True, kw_only=True, gc=False):
    """What a page points at."""

    title: str | None = None
    links: tuple[str, ...] = ()
    requisites: tuple[str, ...] = ()
    feeds: tuple[str, ...] = ()
    canonical: str | None = None
    nofollow: bool = False
    noindex: bool = False


class _Found:
    """Addresses as written, sorted by what they are for."""

    def __init__(self) -> None:
        self.base: str | None = None
        self.links: list[str | None] = []
        self.requisites: list[str | None] = []
        self.feeds: list[str | None] = []
        self.canonical: str | None = None
        self.robots = ""

    def add(self, tag: str, attributes: dict[str, str | None]) -> None:
        if tag == "img" or tag == "source":
            self._image(tag, attributes)
        elif tag == "link":
            self._link(attributes)
        elif tag == "meta":
            if (attributes.get("name") or "").strip().lower() == "robots":
                self.robots += "," + (attributes.get("content") or "").lower()
        elif tag == "base":
            self.base = self.base if self.base is not None else attributes.get("href")
        elif tag == "area":
            self.links.append(attributes.get("href"))
        elif tag == "iframe" or tag == "frame":
            self.links.append(attributes.get("src"))
        else:
            self.requisites += map(attributes.get, ("src", "poster", "background"))

    def _image(self, tag: str, attributes: dict[str, str | None]) -> None:
        if tag == "img":
            self.requisites.append(attributes.get("src"))
        srcset = attributes.get("srcset")
        if srcset:
            self.requisites += srcset_urls(srcset)

    def _link(self, attributes: dict[str, str | None]) -> None:
        rels = (attributes.get("rel") or "").lower().split()
        href = attributes.get("href")
        if not _STYLE_RELS.isdisjoint(rels):
            self.requisites.append(href)
        elif "canonical" in rels:
            self.canonical = self.canonical or href
        elif "alternate" in rels and (attributes.get("type") or "").strip().lower() in _FEED_TYPES:
            self.feeds.append(href)


def pointers(tree: LexborHTMLParser, url: str) -> Pointers:
    """Read a tree whose scripts have not been taken out yet. `url` is the page's canonical URL."""
    found = _Found()
    found.links += [node.attributes.get("href") for node in tree.tags("a")]
    for node in tree.css(_OTHERS):
        found.add(node.tag or "", node.attributes)
    base = (join(url, found.base) if found.base else None) or url
    resolver = Resolver(base)
    robots = {word.strip() for word in found.robots.split(",")}
    return Pointers(
        title=_title(tree),
        links=resolver.all(found.links),
        requisites=resolver.all(found.requisites),
        feeds=resolver.all(found.feeds),
        canonical=resolver.resolve(found.canonical) if found.canonical else None,
        nofollow="nofollow" in robots or "none" in robots,
        noindex="noindex" in robots or "none" in robots,
    )


def _title(tree: LexborHTMLParser) -> str | None:
    head = tree.head
    node = head.css_first("title") if head is not None else None
    title = " ".join(node.text().split()) if node is not None else ""
    return title[:_LONGEST_TITLE] or None
