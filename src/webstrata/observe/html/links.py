"""Resolves the links of a page to canonical absolute URLs, and computes their counts, hashes and digest.

The kernel does most of this (`observe/kernel`); addresses that need a URL parser are resolved here.

URLs are crawled as they are. For digests and hashes a link is represented by a text that is the same for http and
https, with and without a trailing slash, session and tracking parameters (docs/reference/fingerprint.md, section 6).
E-mail addresses and telephone numbers are part of digests and hashes, and are never crawled.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from functools import lru_cache

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from webstrata.columns import LINK_PLACE
from webstrata.observe.kernel.choice import KERNEL
from webstrata.observe.kernel.results import MAX_LINKS
from webstrata.urls import join

# The same links occur on every page of a site. The cache resolves each once: per site if it starts with a slash, per
# folder if it is relative, once if it is absolute. The number and the length of its entries are limited.
_MAX_CACHED = 32_768
_MAX_CACHED_LENGTH = 256

_ROW = np.dtype([("value", "<u8"), ("shape", "<u4")])

_STAMP = re.compile(
    rb"(?<![0-9A-Za-z])(?:(?=[a-f]*[0-9])(?=[0-9]*[a-f])[0-9a-f]{7,64}|(?=[A-Za-z_-]*[0-9])[0-9A-Za-z_-]{24,})(?![0-9A-Za-z])"
    rb"|[?&](?:v|ver|version|t|ts|time|rev|cb|hash|_)=[0-9A-Za-z._-]+"
)
"""A token (of a commit, or of a file name that changes with its content), or a version in the query."""

_NOT_FETCHABLE = ("#", "mailto:", "javascript:", "data:", "tel:", "about:", "blob:")


class PageLinks(Struct, frozen=True, gc=False):
    """The URLs to which the links of a page, or of a part of it, lead."""

    packed: bytes = b""
    """The URLs in the order of first appearance, each followed by a 0."""
    digest: str = hashlib.sha256(b"").hexdigest()
    """SHA-256 of the set of texts by which the URLs and contacts are compared."""
    hashes: bytes = b""
    """Hashes of these texts: sorted rows of `LINK`. Empty for a part of a page."""
    internal: int = 0
    """Links to the page's own host, with or without `www.`. Every link is of one of the three kinds."""
    external: int = 0
    documents: int = 0
    """Links to files of other media types, on any host."""
    packed_contacts: bytes = b""
    """E-mail addresses and telephone numbers, in the order of first appearance, each followed by a 0."""

    @property
    def count(self) -> int:
        return self.internal + self.external + self.documents

    @property
    def urls(self) -> tuple[str, ...]:
        return tuple(self.packed[:-1].decode().split("\0")) if self.packed else ()

    @property
    def contacts(self) -> tuple[str, ...]:
        """E-mail addresses (`mailto:name@example.org`) and telephone numbers (`tel:4930123`)."""
        packed = self.packed_contacts[:-1].decode("utf-8", "replace")
        return tuple(packed.split("\0")) if packed else ()

    def values(self) -> dict[str, int]:
        """The hash of each URL and contact, as `rows` has it."""
        found = np.frombuffer(KERNEL.link_rows(self.packed + self.packed_contacts), _ROW)
        return dict(zip((*self.urls, *self.contacts), found["value"].tolist(), strict=True))

    def rows(self, main: PageLinks) -> NDArray[np.void]:
        """One row of `LINK_PLACE` for each different link of a page; `main` are those in its body part.

        URLs are in the order of first appearance, contacts follow. Rows have a hash of the link and a hash of its
        shape, so that detection can learn which links keep changing: a session id in one link is noise of that link
        and of no other. A link that is also outside the body part is one in the body part. The rows are computed at
        each call: call it only for a page whose bytes differ from those of the previous version.
        """
        packed = self.packed + self.packed_contacts
        found = np.frombuffer(KERNEL.link_rows(packed), _ROW)
        in_main = set((main.packed + main.packed_contacts).split(b"\0")[:-1])
        texts = packed.split(b"\0")[:-1]
        is_main = np.fromiter((text in in_main for text in texts), np.bool_, len(found))
        is_stamp = np.fromiter((_STAMP.search(text) is not None for text in texts), np.bool_, len(found))
        firsts = np.sort(np.unique(found["value"], return_index=True)[1])
        rows = np.zeros(len(firsts), LINK_PLACE)
        rows["value"], rows["shape"] = found["value"][firsts], found["shape"][firsts]
        rows["stamp"] = is_stamp[firsts]
        rows["main"] = np.isin(rows["value"], found["value"][is_main])  # in the body part in any spelling
        return rows


class LinkResolver:
    """Resolves the addresses on one page."""

    def __init__(self, base: str) -> None:
        """`base` is a canonical URL."""
        path_start = base.find("/", base.find("://") + 3)
        path = base.partition("?")[0]
        self._base = base
        self._root = base[: path_start + 1]
        self._folder = path[: path.rfind("/") + 1]
        self._long = len(self._folder) > _MAX_CACHED_LENGTH

    def links(self, hrefs: bytes, page: str, spans: bytes | None = None) -> PageLinks:
        """The links of the page with this URL. `hrefs` are in UTF-8, each followed by a 0.

        `spans` (pairs of int32) selects ranges of them; None selects all.
        """
        root = (_joined(self._root, "/") or "").encode()
        folder = b"" if self._long else (_joined(self._folder, ".") or "").encode()
        table = KERNEL.collect_links(hrefs, spans, root=root, folder=folder, home=home_of(page), resolve=self.resolve)
        return PageLinks(
            packed=table.urls,
            digest=hashlib.sha256(table.sorted_texts).hexdigest(),
            hashes=table.hashes,
            internal=table.internal,
            external=table.external,
            documents=table.documents,
            packed_contacts=table.contacts,
        )

    def all(self, hrefs: Iterable[str | None]) -> tuple[str, ...]:
        """The URLs of some addresses in the order of first appearance, without duplicates and other schemes."""
        urls = dict.fromkeys(self.resolve(href) for href in dict.fromkeys(hrefs) if href)
        return tuple(url for url in urls if url is not None)[:MAX_LINKS]

    def resolve(self, href: str) -> str | None:
        """The canonical absolute URL of an address that is not empty; None if it cannot be fetched."""
        first = href[0]
        if href.startswith(_NOT_FETCHABLE):
            return None
        if self._long or len(href) > _MAX_CACHED_LENGTH:
            return join(self._base, href)
        if first == "/":
            return _joined(self._root, href)
        if href.startswith(("http://", "https://")):
            return _joined("http://any/", href)
        if href.startswith("http") or not (first.isalnum() or first in "._-%"):  # may need the whole base
            return join(self._base, href)
        return _joined(self._folder, href)


@lru_cache(maxsize=_MAX_CACHED)
def _joined(base: str, href: str) -> str | None:
    return join(base, href)


def home_of(url: str) -> str:
    """The host of a URL with its port, without `www.`."""
    return url.partition("://")[2].partition("/")[0].removeprefix("www.")


_MAX_CANDIDATES = 100
_SRCSET_SPACE = " \t\n\r\f"
_SRCSET_ADDRESS = re.compile(f"[^{_SRCSET_SPACE}]+")


def srcset_urls(srcset: str) -> list[str]:
    """The addresses in a `srcset`."""
    return [url for url, _ in srcset_candidates(srcset)]


def srcset_candidates(srcset: str) -> list[tuple[str, str]]:
    """The addresses in a `srcset`, each with its descriptors (`2x`, `640w`).

    White space ends an address, and a comma at its end does not belong to it.
    """
    candidates: list[tuple[str, str]] = []
    rest = srcset.lstrip(_SRCSET_SPACE + ",")
    while len(candidates) < _MAX_CANDIDATES and (found := _SRCSET_ADDRESS.match(rest)) is not None:
        url, rest = found[0], rest[found.end() :]
        bare, end = url.rstrip(","), 0
        if bare == url:
            end = _descriptors_end(rest)
        candidates.append((bare, rest[:end].strip(_SRCSET_SPACE)))
        rest = rest[end:].lstrip(_SRCSET_SPACE + ",")
    return candidates


def _descriptors_end(text: str) -> int:
    """The position of the comma that ends the descriptors, or of the end; commas in parentheses do not count."""
    depth = 0
    for index, char in enumerate(text):
        if char == "(":
            depth += 1
        elif char == ")":
            depth = max(0, depth - 1)
        elif char == "," and not depth:
            return index
    return len(text)
