"""Metadata of an HTML page: title, links, feeds, canonical URL, robots directives."""

from __future__ import annotations

from collections.abc import Callable, Collection

from msgspec import Struct
from selectolax.lexbor import LexborHTMLParser, LexborNode

from webstrata.observe.html.attributes import page_attributes
from webstrata.observe.html.links import LinkResolver, PageLinks
from webstrata.observe.html.outline import HtmlOutline, PageParts, clean
from webstrata.records import DEFAULT_ATTRIBUTES, PageAttribute
from webstrata.urls import join

_FEED_TYPES = frozenset({"application/rss+xml", "application/atom+xml", "application/rdf+xml", "application/feed+json"})


class PageMetadata(Struct, frozen=True, kw_only=True, gc=False):
    """Title, links and robots directives of a page. URLs are canonical and absolute."""

    title: tuple[bytes, ...] = ()
    """The words of the title."""
    links: PageLinks = PageLinks()
    main_links: PageLinks = PageLinks()
    """The links in the body part."""
    feeds: tuple[str, ...] = ()
    canonical: str | None = None
    nofollow: bool = False
    noindex: bool = False
    read_attributes: Callable[[], list[PageAttribute]] | None = None


def page_metadata(
    tree: LexborHTMLParser,
    url: str,
    body: HtmlOutline,
    parts: PageParts,
    attributes: Collection[str] = DEFAULT_ATTRIBUTES,
) -> PageMetadata:
    """Extract the metadata of a tree; `url` is the page's canonical URL, `attributes` are the kinds to read."""
    head = tree.head
    title, base, robots, canonical, feeds = _head_fields(head) if head is not None else _NO_HEAD
    resolver = LinkResolver((join(url, base) if base else None) or url)
    others = body.pointers if body.has_body else _frames(tree)
    address = resolver.resolve(canonical) if canonical else None
    return PageMetadata(
        title=title,
        links=resolver.links(body.hrefs + others, url),
        main_links=resolver.links(body.hrefs, url, parts.main_links),
        feeds=resolver.all(feeds),
        canonical=address,
        nofollow=not robots.isdisjoint(("nofollow", "none")),
        noindex=not robots.isdisjoint(("noindex", "none")),
        read_attributes=lambda: page_attributes(
            tree, resolver, title=b" ".join(title).decode(), canonical=address, kinds=attributes
        ),
    )


def _frames(tree: LexborHTMLParser) -> bytes:
    """The `src` values of frames as written, each followed by a 0."""
    sources = [node.attributes.get("src") for node in tree.tags("frame")]
    return "".join([f"{source}\0" for source in sources if source]).encode("utf-8", "replace")


_HeadFields = tuple[tuple[bytes, ...], str | None, set[str], str | None, list[str | None]]
_NO_HEAD: _HeadFields = ((), None, set(), None, [])


def title_words(tree: LexborHTMLParser) -> tuple[bytes, ...]:
    """The words of the first `title` element in the head."""
    head = tree.head
    first = next((node for node in head.iter() if node.tag == "title"), None) if head is not None else None
    return tuple(clean(first.text())) if first is not None else ()


def _head_fields(head: LexborNode) -> _HeadFields:
    """Title, base, robots directives, canonical URL and feeds from the children of the `head` element."""
    title: tuple[bytes, ...] | None = None
    base = canonical = None
    robots: set[str] = set()
    feeds: list[str | None] = []
    for node in head.iter():
        tag = node.tag
        if tag == "link":
            attributes = node.attributes
            rels = (attributes.get("rel") or "").lower().split()
            if "canonical" in rels:
                canonical = canonical or attributes.get("href")
            elif "alternate" in rels and (attributes.get("type") or "").strip().lower() in _FEED_TYPES:
                feeds.append(attributes.get("href"))
        elif tag == "meta":
            attributes = node.attributes
            if (attributes.get("name") or "").strip().lower() == "robots":
                robots.update(word.strip() for word in (attributes.get("content") or "").lower().split(","))
        elif tag == "title" and title is None:
            title = tuple(clean(node.text()))
        elif tag == "base" and base is None:
            base = node.attributes.get("href")
    return title or (), base, robots, canonical, feeds
