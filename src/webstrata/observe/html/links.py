"""Addresses as a page writes them -> canonical absolute URLs, each once; their kinds, their hashes, a digest of all.

The kernel does most of it (`observe/kernel`); addresses that need a URL parser are resolved here.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from functools import lru_cache

from msgspec import Struct

from webstrata.observe.kernel.choice import KERNEL
from webstrata.observe.kernel.results import MAX_LINKS
from webstrata.urls import join

# The memo: template links come again on every page of a site, so each is resolved once per site (rooted ones), folder
# (relative ones) or at all (absolute ones). Its size is bounded, whatever pages send.
_MEMO_ENTRIES = 32_768
_MEMO_LENGTH = 256

_NOWHERE = ("#", "mailto:", "javascript:", "data:", "tel:", "about:", "blob:")


class PageLinks(Struct, frozen=True, gc=False):
    """Where the links of a page, or of a part of it, lead."""

    packed: bytes = b""
    """The URLs in the order of first appearance, a 0 behind each."""
    digest: str = hashlib.sha256(b"").hexdigest()
    """SHA-256 of the set, without the parameters that only say who sent the reader."""
    hashes: bytes = b""
    """Sorted; rows of `LINK`. Only of all links of a page."""
    internal: int = 0
    """Links to the page's own host, with `www.` or without. Every link is of one of three kinds."""
    external: int = 0
    documents: int = 0
    """Links to files of other media, wherever they are."""

    @property
    def count(self) -> int:
        return self.internal + self.external + self.documents

    @property
    def urls(self) -> tuple[str, ...]:
        return tuple(self.packed[:-1].decode().split("\0")) if self.packed else ()


class LinkResolver:
    """Resolves the addresses on one page."""

    def __init__(self, base: str) -> None:
        """`base` is a canonical URL."""
        path_start = base.find("/", base.find("://") + 3)
        path = base.partition("?")[0]
        self._base = base
        self._root = base[: path_start + 1]
        self._folder = path[: path.rfind("/") + 1]
        self._long = len(self._folder) > _MEMO_LENGTH

    def links(self, hrefs: bytes, page: str, spans: bytes | None = None) -> PageLinks:
        """Of a page with this URL. `hrefs` are in UTF-8, a 0 behind each; `spans` (pairs of int32) tell which of them
        are meant, none: all of them."""
        root = (_joined(self._root, "/") or "").encode()
        folder = b"" if self._long else (_joined(self._folder, ".") or "").encode()
        table = KERNEL.collect_links(hrefs, spans, root=root, folder=folder, home=_host(page), resolve=self.resolve)
        return PageLinks(
            packed=table.urls,
            digest=hashlib.sha256(table.sorted_urls).hexdigest(),
            hashes=table.hashes,
            internal=table.internal,
            external=table.external,
            documents=table.documents,
        )

    def all(self, hrefs: Iterable[str | None]) -> tuple[str, ...]:
        """Where a few addresses lead, in the order of first appearance, without doubles and what cannot be visited."""
        urls = dict.fromkeys(self.resolve(href) for href in dict.fromkeys(hrefs) if href)
        return tuple(url for url in urls if url is not None)[:MAX_LINKS]

    def resolve(self, href: str) -> str | None:
        """Canonical absolute URL of a link that is not empty; None where there is nothing to visit."""
        first = href[0]
        if href.startswith(_NOWHERE):
            return None
        if self._long or len(href) > _MEMO_LENGTH:
            return join(self._base, href)
        if first == "/":
            return _joined(self._root, href)
        if href.startswith(("http://", "https://")):
            return _joined("http://any/", href)
        if href.startswith("http") or not (first.isalnum() or first in "._-%"):  # may need the whole base
            return join(self._base, href)
        return _joined(self._folder, href)


@lru_cache(maxsize=_MEMO_ENTRIES)
def _joined(base: str, href: str) -> str | None:
    return join(base, href)


def _host(url: str) -> str:
    """The host of a URL as links are counted by it: with its port, without `www.`."""
    return url.partition("://")[2].partition("/")[0].removeprefix("www.")


def srcset_urls(srcset: str) -> list[str]:
    """Addresses in a `srcset`, as the standard reads it: white space ends one, a comma at its end is no part."""
    urls: list[str] = []
    rest = srcset.lstrip(" \t\n\r\f,")
    while rest and len(urls) < _MOST_CANDIDATES:
        url, *more = rest.split(None, 1)
        rest = more[0] if more else ""
        bare = url.rstrip(",")
        urls.append(bare)
        if bare == url:
            rest = _after_descriptors(rest)
        rest = rest.lstrip(" \t\n\r\f,")
    return urls


_MOST_CANDIDATES = 100


def _after_descriptors(text: str) -> str:
    """What follows the comma that ends the descriptors; commas in parentheses do not count."""
    depth = 0
    for place, char in enumerate(text):
        if char == "(":
            depth += 1
        elif char == ")":
            depth = max(0, depth - 1)
        elif char == "," and not depth:
            return text[place + 1 :]
    return ""
