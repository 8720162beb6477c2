"""Link texts -> canonical absolute URLs, each spelling once; what kinds of links they are; a digest of the set."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

from webstrata.urls import LONGEST_URL, join

MOST_LINKS = 50_000
"""Different addresses read of one page; further ones are left out."""

# The memo: template links come again on every page of a site, so each is resolved once per site (rooted ones), folder
# (relative ones) or at all (absolute ones). Its size is bounded, whatever pages send.
_MEMO_ENTRIES = 32_768
_MEMO_LENGTH = 256

_DOCUMENTS = frozenset(
    """7z avi bib bz2 csv djvu doc docx dvi eps epub flac gif gz jpeg jpg json m4a m4v mkv mobi mov mp3 mp4 mpeg mpg odp
    ods odt ogg ogv pdf png ppt pptx ps rar rtf svg tar tex tgz tiff tsv txt wav webm webp wmv xls xlsx xml xz
    zip""".split()  # noqa: SIM905
)
"""Endings of addresses that lead to a file rather than to a page."""

# Parameters that say who sent a reader, not where to: another value leads to the same place.
_TRACKING = re.compile(
    r"[?&](?:utm_[a-z_]+|fbclid|gclid|dclid|gbraid|wbraid|msclkid|yclid|igshid|twclid|mc_[ce]id|_hsenc|_hsmi|mkt_tok)="
    r"[^&#]*",
    re.IGNORECASE,
)

# Addresses that stand in the resolved URL as they are written: no dot segments, nothing to encode. Most links are such.
_SEGMENT = "[A-Za-z0-9_~-][A-Za-z0-9_.~-]*+"
_PLAIN = re.compile(rf"/?+(?:{_SEGMENT}/)*+(?:{_SEGMENT})?+(?:\?[A-Za-z0-9_.~=&%+-]++)?+")

_NOWHERE = ("#", "mailto:", "javascript:", "data:", "tel:", "about:", "blob:")


class Resolver:
    """Resolves the addresses on one page."""

    def __init__(self, base: str) -> None:
        """`base` is a canonical URL."""
        path_start = base.find("/", base.find("://") + 3)
        path = base.partition("?")[0]
        self._base = base
        self._root = base[: path_start + 1]
        self._folder = path[: path.rfind("/") + 1]
        self._long = len(self._folder) > _MEMO_LENGTH
        self._plain_root, self._plain_folder = join(base, "/"), join(base, ".")
        self._known: dict[str, str | None] = {}

    def all(self, hrefs: Iterable[str | None]) -> tuple[str, ...]:
        """Where they lead, in the order of first appearance, without doubles and what cannot be visited."""
        known = self._known
        plain, root = _PLAIN.fullmatch, self._plain_root
        urls: dict[str, None] = {}
        for href in dict.fromkeys(hrefs):
            if not href:
                continue
            if root is not None and href[0] == "/" and len(href) <= _MEMO_LENGTH and plain(href):
                url: str | None = root + href[1:]  # as `resolve` would say, without the calls
            elif href in known:
                url = known[href]
            else:
                url = known[href] = self.resolve(href)
            if url is not None:
                urls[url] = None
                if len(urls) == MOST_LINKS:
                    break
        return tuple(urls)

    def resolve(self, href: str) -> str | None:
        """Canonical absolute URL of a link that is not empty; None where there is nothing to visit."""
        first = href[0]
        if self._long or len(href) > _MEMO_LENGTH:
            return None if href.startswith(_NOWHERE) else join(self._base, href)
        if first == "/":
            return _appended(self._plain_root, href[1:]) if _PLAIN.fullmatch(href) else _joined(self._root, href)
        if href.startswith(("http://", "https://")):
            return _joined("http://any/", href)
        if href.startswith(_NOWHERE):
            return None
        if href.startswith("http") or not (first.isalnum() or first in "._-%"):  # may need the whole base
            return join(self._base, href)
        return _appended(self._plain_folder, href) if _PLAIN.fullmatch(href) else _joined(self._folder, href)


def _appended(folder: str | None, rest: str) -> str | None:
    return folder + rest if folder is not None and len(folder) + len(rest) <= LONGEST_URL else None


@lru_cache(maxsize=_MEMO_ENTRIES)
def _joined(base: str, href: str) -> str | None:
    return join(base, href)


class LinkKinds(NamedTuple):
    """How many links of each kind; every link is of one."""

    internal: int
    external: int
    documents: int


def link_kinds(urls: Iterable[str], page: str) -> LinkKinds:
    """Canonical URLs by where they lead: to files of other media, to the page's own host (`www.` or not), beyond."""
    home = _host(page)
    scheme = page.find("://")
    root = page[: page.find("/", scheme + 3) + 1] if scheme > 0 else ""
    internal = external = documents = 0
    for url in urls:
        if root and url.startswith(root) and url.find(".", len(root)) < 0:  # most links; none of them has an ending
            internal += 1
            continue
        host, is_document = _remembered_place(url) if len(url) <= _MEMO_LENGTH else _place(url)
        if is_document:
            documents += 1
        elif host == home:
            internal += 1
        else:
            external += 1
    return LinkKinds(internal, external, documents)


def link_digest(urls: Iterable[str]) -> str:
    """SHA-256 of a set of canonical URLs, without the parameters that only say who sent the reader."""
    places = sorted({url if "?" not in url else without_tracking(url) for url in urls})
    return hashlib.sha256("\n".join(places).encode("utf-8", "replace")).hexdigest()


def without_tracking(url: str) -> str:
    """The URL without parameters that only say who sent the reader."""
    left = _TRACKING.sub("", url)
    if left == url or "?" in left:
        return left
    return left.replace("&", "?", 1)


def _host(url: str) -> str:
    return url.partition("://")[2].partition("/")[0].removeprefix("www.")


def _place(url: str) -> tuple[str, bool]:
    """The host of a URL, and whether it leads to a document."""
    return _host(url), url.partition("?")[0].rpartition(".")[2].lower() in _DOCUMENTS


_remembered_place = lru_cache(maxsize=_MEMO_ENTRIES)(_place)


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
