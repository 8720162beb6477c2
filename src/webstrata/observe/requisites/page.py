"""The requisites of a page: the files that a browser loads, or may load, to show it."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from webstrata.observe.html.links import LinkResolver, srcset_urls
from webstrata.observe.requisites.manifests import import_map_addresses
from webstrata.observe.requisites.scripts import script_addresses
from webstrata.observe.requisites.styles import style_addresses
from webstrata.observe.requisites.tags import StartTag, start_tags
from webstrata.urls import join

_HREFS = ("href", "xlink:href")
_ADDRESSES: dict[str, tuple[str, ...]] = {
    "audio": ("src",),
    "embed": ("src",),
    "feimage": _HREFS,
    "frame": ("src",),
    "iframe": ("src",),
    "image": _HREFS,
    "img": ("src",),
    "input": ("src",),
    "object": ("data",),
    "script": ("src", *_HREFS),
    "source": ("src",),
    "track": ("src",),
    "use": _HREFS,
    "video": ("src", "poster"),
}
_LAZY = ("data-src", "data-original", "data-lazy-src")
"""Attributes from which scripts set `src` when a reader scrolls to the element."""
_SETS = ("srcset", "data-srcset", "data-lazy-srcset")
_LINKS = frozenset(
    {
        "stylesheet",
        "icon",
        "apple-touch-icon",
        "apple-touch-icon-precomposed",
        "apple-touch-startup-image",
        "mask-icon",
        "manifest",
        "preload",
        "modulepreload",
    }
)
_SCRIPTS = frozenset(
    {"", "module", "text/javascript", "application/javascript", "text/ecmascript", "application/ecmascript"}
)
_FRAMES = frozenset({"iframe", "frame", "object", "embed"})
_MAX_SRCDOC_DEPTH = 2
"""Frames inside frames whose content is in an attribute."""


class PageRequisites(Struct, frozen=True, gc=False):
    """The canonical URLs of the files of a page, each once, in the order of first appearance."""

    files: tuple[str, ...] = ()
    frames: tuple[str, ...] = ()
    """Those among the files that are shown in a frame, so that they may be pages."""


def page_requisites(html: str, url: str) -> PageRequisites:
    """The requisites of a page with this canonical URL. No input raises an error."""
    tags = list(start_tags(html))
    base = next((tag.attributes["href"] for tag in tags if tag.name == "base" and "href" in tag.attributes), "")
    resolver = LinkResolver((join(url, base) if base else None) or url)
    files = resolver.all(address for tag in tags for address in _addresses(tag, 0))
    frames = resolver.all(address for tag in tags if tag.name in _FRAMES for address in _own_addresses(tag))
    return PageRequisites(files, tuple(set(files).intersection(frames)))


def _addresses(tag: StartTag, depth: int) -> Iterator[str]:
    """The addresses in a tag and in the content of its element, as written."""
    attributes = tag.attributes
    yield from _own_addresses(tag)
    if "background" in attributes:
        yield attributes["background"]
    if "style" in attributes:
        yield from style_addresses(attributes["style"])
    if tag.name == "style":
        yield from style_addresses(tag.content)
    elif tag.name == "script" and "src" not in attributes:
        yield from _script_addresses(attributes.get("type", "").strip().lower(), tag.content)
    elif "srcdoc" in attributes and tag.name == "iframe" and depth < _MAX_SRCDOC_DEPTH:
        for inner in start_tags(attributes["srcdoc"]):
            yield from _addresses(inner, depth + 1)


def _own_addresses(tag: StartTag) -> Iterator[str]:
    """The addresses in the attributes of a tag, as written."""
    attributes = tag.attributes
    if tag.name == "link":
        if not _LINKS.isdisjoint(attributes.get("rel", "").lower().split()):
            yield attributes.get("href", "")
            yield from srcset_urls(attributes.get("imagesrcset", ""))
        return
    names = _ADDRESSES.get(tag.name)
    if names is None:
        return
    for name in (*names, *_LAZY):
        yield attributes.get(name, "")
    for name in _SETS:
        yield from srcset_urls(attributes.get(name, ""))


def _script_addresses(kind: str, content: str) -> Iterator[str]:
    if kind == "importmap":
        yield from import_map_addresses(content)
    elif kind in _SCRIPTS:
        yield from script_addresses(content)
