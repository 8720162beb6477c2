"""Link texts -> canonical absolute URLs, each spelling once."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from webstrata.urls import join

MOST_LINKS = 50_000
"""Different addresses read of one page; further ones are left out."""

_MEMO_LENGTH = 256  # bounds the memory of the memo, whatever pages send
_MEMO_ENTRIES = 32_768
_NOWHERE = ("#", "mailto:", "javascript:", "data:", "tel:", "about:", "blob:")


class Resolver:
    """Resolves the addresses on one page. The memo behind it makes a site's template links nearly free."""

    def __init__(self, base: str) -> None:
        """`base` is a canonical URL."""
        path_start = base.find("/", base.find("://") + 3)
        path = base.partition("?")[0]
        self._base = base
        self._root = base[: path_start + 1]
        self._folder = path[: path.rfind("/") + 1]
        self._memo = len(self._folder) <= _MEMO_LENGTH

    def all(self, hrefs: Iterable[str | None]) -> tuple[str, ...]:
        """Where they lead, in the order of first appearance, without doubles and what cannot be visited."""
        resolve = self.resolve
        found: dict[str, None] = {}
        for href in dict.fromkeys(hrefs):
            url = resolve(href) if href else None
            if url is not None:
                found[url] = None
                if len(found) >= MOST_LINKS:
                    break
        return tuple(found)

    def resolve(self, href: str) -> str | None:
        """Canonical absolute URL; None where there is nothing to visit."""
        if href.startswith(_NOWHERE):
            return None
        first = href[:1]
        if not self._memo or len(href) > _MEMO_LENGTH or not (first.isalnum() or first in "/.%_-"):
            return join(self._base, href)
        if first == "/":  # `/path` and `//host/path` depend on the root alone
            return _joined(self._root, href)
        if href.startswith("http"):
            # An absolute one depends on nothing; `https:path` depends on the whole base.
            absolute = href.startswith(("http://", "https://"))
            return _joined("http://any/", href) if absolute else join(self._base, href)
        return _joined(self._folder, href)


@lru_cache(maxsize=_MEMO_ENTRIES)
def _joined(base: str, href: str) -> str | None:
    return join(base, href)


def srcset_urls(srcset: str) -> list[str]:
    """Addresses in a `srcset`, by the standard's rules: white space ends one, a comma at its end belongs to the list."""
    urls: list[str] = []
    rest = srcset.lstrip(" \t\n\r\f,")
    while rest and len(urls) < _MOST_CANDIDATES:
        url, _, rest = _cut(rest)
        bare = url.rstrip(",")
        urls.append(bare)
        if bare == url:
            rest = _after_descriptors(rest)
        rest = rest.lstrip(" \t\n\r\f,")
    return urls


_MOST_CANDIDATES = 100


def _cut(text: str) -> tuple[str, str, str]:
    parts = text.split(None, 1)
    return parts[0], " ", parts[1] if len(parts) > 1 else ""


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
