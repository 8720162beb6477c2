"""`WantedPages`: which pages of an archive are imported."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Literal

from msgspec import Struct

from webstrata.errors import BadUrl, UsageError
from webstrata.site_levels import depth_of
from webstrata.urls import LONGEST_URL, canonical, host_of

_LONGEST_KEY = 200


class WantedPages(Struct, frozen=True, kw_only=True):
    """The pages that patterns and a depth choose; without both, all pages. `wanted_pages` makes it from patterns."""

    exact: frozenset[str] = frozenset()
    """Canonical URLs."""
    prefixes: tuple[str, ...] = ()
    """Beginnings of canonical URLs, without the scheme: http and https are the same site."""
    domains: tuple[str, ...] = ()
    """Hosts that are wanted with their subdomains."""
    max_depth: int | None = None
    """Levels below the homepage of the page's site, or below the page that a prefix names."""
    watched: bool = False
    """Only pages that the home watches. The flow asks the store for them."""

    @property
    def key(self) -> str:
        """A text that tells two choices apart; a long one is a digest."""
        parts = [
            *sorted(self.exact),
            *(f"{prefix}*" for prefix in self.prefixes),
            *(f"*.{one}" for one in self.domains),
        ]
        parts += [f"depth {self.max_depth}"] if self.max_depth is not None else []
        parts += ["watched"] if self.watched else []
        text = " ".join(parts)
        if len(text) <= _LONGEST_KEY:
            return text
        return f"{len(parts)} patterns {hashlib.sha256(text.encode()).hexdigest()[:16]}"

    def left_out(self, url: str) -> Literal["outside", "too-deep"] | None:
        """Why the page with this canonical URL is left out; None if it is wanted."""
        bare = url.partition("://")[2]
        found = [prefix for prefix in self.prefixes if bare.startswith(prefix) or f"{bare}/" == prefix]
        if not found and not self._has(url):
            return "outside"
        if self.max_depth is None:
            return None
        starts = [f"http://{prefix}" for prefix in found if prefix.endswith("/") and prefix.count("/") > 1]
        depth = min((depth_of(url, start) for start in starts), default=depth_of(url))
        return "too-deep" if depth > self.max_depth else None

    def _has(self, url: str) -> bool:
        if not (self.exact or self.prefixes or self.domains) or url in self.exact:
            return True
        host = host_of(url)
        return any(host == domain or host.endswith(f".{domain}") for domain in self.domains)


def wanted_pages(patterns: Sequence[str] = (), *, max_depth: int | None = None, watched: bool = False) -> WantedPages:
    """The pages that these patterns choose, as users write them. Raises UsageError for a pattern of another form.

    `https://foo.edu/page` is one page, `https://foo.edu/dir/*` all pages below a folder, `foo.edu/*` all pages of a
    host, and `*.foo.edu` those of a host and its subdomains.
    """
    exact: set[str] = set()
    prefixes: list[str] = []
    domains: list[str] = []
    for pattern in patterns:
        text = pattern.strip()
        if text.startswith("*."):
            domains.append(host_of(_canonical(pattern, f"http://{text[2:].removesuffix('/*').rstrip('/')}/")))
        elif text.endswith("*"):
            start = text[:-1] if "://" in text else f"http://{text[:-1]}"
            prefixes.append(_canonical(pattern, start).partition("://")[2])
        else:
            exact.add(_canonical(pattern, text))
    return WantedPages(
        exact=frozenset(exact),
        prefixes=tuple(prefixes),
        domains=tuple(domains),
        max_depth=max_depth,
        watched=watched,
    )


def _canonical(pattern: str, text: str) -> str:
    try:
        if "*" in text or len(text) > LONGEST_URL:
            raise BadUrl(pattern)
        return canonical(text)
    except BadUrl:
        raise UsageError(
            f"{pattern[:200]!r} names no pages. Write a URL like https://foo.edu/page, or with a * at its end like "
            "https://foo.edu/dir/* or foo.edu/*, or *.foo.edu for a host with its subdomains."
        ) from None
