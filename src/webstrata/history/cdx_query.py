"""What a CDX server is asked for: pages, a range of times, and the place where the last answer ended."""

from __future__ import annotations

import re
from typing import Literal
from urllib.parse import quote, unquote_plus, urlencode

from msgspec import Struct

from webstrata.clock import digits14
from webstrata.urls import canonical

Match = Literal["exact", "prefix", "domain"]

_ENCODED = re.compile(r"[\w.~%+*-]*", re.ASCII)
"""A resume key that is percent-encoded already, as the Wayback Machine sends it."""


class CdxQuery(Struct, frozen=True, kw_only=True):
    """The captures of a page, of the pages below a folder, or of a domain."""

    url: str
    """Canonical URL of the page or the folder; of a domain its host."""
    match: Match = "exact"
    since: float | None = None
    until: float | None = None

    @property
    def pattern(self) -> str:
        """The pages, as users write them."""
        if self.match == "domain":
            return f"*.{self.url}"
        return f"{self.url}*" if self.match == "prefix" else self.url

    @property
    def times(self) -> tuple[tuple[str, float | None], ...]:
        """The range of times, as servers name its ends."""
        return ("from", self.since), ("to", self.until)

    def request(self, server: str, resume_key: str = "", **more: str | int) -> str:
        """The URL of a request to a server.

        No fields are chosen: the dialects name them differently, and without the field `urlkey` the Wayback Machine
        makes resume keys that leave out years.
        """
        asked: dict[str, str | int] = {"url": self.url, "matchType": self.match, "output": "json"}
        asked |= {name: digits14(at) for name, at in self.times if at is not None}
        text = urlencode(asked | more) + (f"&resumeKey={_sendable(resume_key)}" if resume_key else "")
        return f"{server}{'&' if '?' in server else '?'}{text}"


def _sendable(key: str) -> str:
    """A resume key for a query: as the server sent it, or percent-encoded if it was not."""
    return key if _ENCODED.fullmatch(key) else quote(key, safe="")


def cdx_query(pattern: str, since: float | None = None, until: float | None = None) -> CdxQuery:
    """The query for a pattern: `https://foo.edu/page`, `https://foo.edu/dir/*`, `foo.edu/*` or `*.foo.edu`.

    Raises BadUrl for anything else.
    """
    text = pattern.strip()
    match: Match = "exact"
    if text.startswith("*."):
        match, text = "domain", text[2:].removesuffix("/*").rstrip("/")
    elif text.endswith("*"):
        match, text = "prefix", text[:-1]
    url = canonical(text if "://" in text else f"http://{text}")
    if match == "domain":
        url = url.partition("://")[2].rstrip("/")
    return CdxQuery(url=url, match=match, since=since, until=until)


def shown_key(key: str) -> str:
    """A resume key for people."""
    return unquote_plus(key)[:100]
