"""What a site's sitemaps say of how often its pages change: `changefreq`, and the time since `lastmod`.

Both are the site's word. A sitemap that gives nearly all its pages the same `lastmod`, or the time of its own making,
says when it was made and not when pages changed: such times are left out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from msgspec import Struct

from webstrata.clock import DAY_S
from webstrata.coding import decode
from webstrata.observe.sitemap import LARGEST_BODY, read_sitemap
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
_LARGEST_RATIO = 500.0
_FRESH_S = 60.0
_MOST_ALIKE = 0.5
"""If more pages than this share one time, it is not theirs."""
_FEW = 4


class SitemapHints(Struct, frozen=True, kw_only=True):
    """What a sitemap says of one page."""

    every_s: float | None = None
    """It changes once in so many seconds."""
    unchanged_s: float | None = None
    """It last changed so long ago."""

    @property
    def tells(self) -> bool:
        return self.every_s is not None or self.unchanged_s is not None


def sitemap_hints(answer: Exchange, now: float) -> dict[str, SitemapHints]:
    """By page: what a sitemap says of it."""
    coding = answer.header("content-encoding")
    body = decode(answer.body, coding, max_bytes=LARGEST_BODY, max_ratio=_LARGEST_RATIO).body
    entries = read_sitemap(body, answer.url).entries
    often = {entry.url: _EVERY_S[entry.changefreq] for entry in entries if entry.changefreq in _EVERY_S}
    times = _believable({entry.url: entry.lastmod for entry in entries}, now)
    return {page: SitemapHints(every_s=often.get(page), unchanged_s=times.get(page)) for page in {*often, *times}}


def _believable(lastmods: Mapping[str, float | None], now: float) -> dict[str, float]:
    """Seconds since each page's last change."""
    dated = {page: at for page, at in lastmods.items() if at is not None and at < now - _FRESH_S}
    shared = Counter(dated.values())
    if len(dated) >= _FEW and shared.most_common(1)[0][1] > _MOST_ALIKE * len(dated):
        return {}
    return {page: now - at for page, at in dated.items()}
