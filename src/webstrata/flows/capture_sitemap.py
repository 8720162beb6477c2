"""What a site's sitemaps say of how often its pages change: `changefreq`, and the time since `lastmod`.

Both are the site's word. A sitemap that gives nearly all its pages the same `lastmod`, or the time of its own making,
says when it was made and not when pages changed: such times are left out.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from html import unescape

from msgspec import Struct

from webstrata import urls
from webstrata.clock import DAY_S
from webstrata.coding import decode
from webstrata.records import Exchange

_EVERY_S = {
    "always": 3600.0,
    "hourly": 3600.0,
    "daily": DAY_S,
    "weekly": 7 * DAY_S,
    "monthly": 30 * DAY_S,
    "yearly": 365 * DAY_S,
    "never": 10 * 365 * DAY_S,
}
_LOC = re.compile(rb"<loc>([^<]{1,4000})</loc>")
_OFTEN = re.compile(rb"<changefreq>([^<]{1,100})</changefreq>")
_LARGEST_BODY = 52_428_800
_LARGEST_RATIO = 500.0
_FRESH_S = 60.0
_MOST_ALIKE = 0.5
"""If more pages than this share one time, it is not theirs."""
_FEW = 4


class Told(Struct, frozen=True, kw_only=True):
    """What a sitemap says of one page."""

    every_s: float | None = None
    """It changes once in so many seconds."""
    unchanged_s: float | None = None
    """It last changed so long ago."""

    @property
    def tells(self) -> bool:
        return self.every_s is not None or self.unchanged_s is not None


def told_by_sitemap(answer: Exchange, lastmods: Mapping[str, float | None], now: float) -> dict[str, Told]:
    """By page: what a sitemap says of it. `lastmods` are the times that were read in it."""
    coding = answer.header("content-encoding")
    body = decode(answer.body, coding, max_bytes=_LARGEST_BODY, max_ratio=_LARGEST_RATIO).body
    if body.startswith(b"\x1f\x8b"):
        body = decode(body, "gzip", max_bytes=_LARGEST_BODY, max_ratio=_LARGEST_RATIO).body
    often = dict(_frequencies(body, answer.url))
    times = _believable(lastmods, now)
    return {page: Told(every_s=often.get(page), unchanged_s=times.get(page)) for page in {*often, *times}}


def _frequencies(body: bytes, url: str) -> Iterable[tuple[str, float]]:
    """Read without a parser: what stands there in another form than nearly everywhere is not heard."""
    for entry in body.replace(b"<![CDATA[", b"").replace(b"]]>", b"").split(b"</url>"):
        loc, often = _LOC.search(entry), _OFTEN.search(entry)
        every_s = _EVERY_S.get(often[1].decode("latin-1").strip().lower()) if often is not None else None
        page = urls.join(url, unescape(loc[1].decode("utf-8", "replace")).strip()) if loc is not None else None
        if page is not None and every_s is not None:
            yield page, every_s


def _believable(lastmods: Mapping[str, float | None], now: float) -> dict[str, float]:
    """Seconds since each page's last change."""
    dated = {page: at for page, at in lastmods.items() if at is not None and at < now - _FRESH_S}
    shared = Counter(dated.values())
    if len(dated) >= _FEW and shared.most_common(1)[0][1] > _MOST_ALIKE * len(dated):
        return {}
    return {page: now - at for page, at in dated.items()}
