"""What a site's sitemaps say of how often its pages change: `changefreq`, and the time since `lastmod`.

Both are the site's word. A sitemap that gives nearly all its pages the same `lastmod`, or the time of its own making,
says when it was made and not when pages changed: such times are left out.

Which pages belong to a capture: those in scope that links lead to, or those that a list or a sitemap names.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from msgspec import Struct

from webstrata import urls
from webstrata.clock import DAY_S
from webstrata.coding import decode
from webstrata.errors import UsageError
from webstrata.flows.capture.download import CaptureDownloader, CaptureMode
from webstrata.flows.capture.events import CaptureOrder
from webstrata.observe.data.sitemap import MAX_BYTES
from webstrata.observe.data.sitemap import parse_sitemap
from webstrata.records import Exchange, PageRole

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
    body = decode(answer.body, coding, max_bytes=MAX_BYTES, max_ratio=_LARGEST_RATIO).body
    entries = parse_sitemap(body, answer.url).entries
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


MAX_SITEMAPS = 50
"""Of one capture: more are a trap, or a site for more than one capture."""


def in_capture(links: Iterable[str], order: CaptureOrder, now: float) -> tuple[list[str], int]:
    """Links that belong to the capture, each once, and how many in scope look as if they would never end."""
    scoped = [link for link in dict.fromkeys(links) if urls.in_scope(link, order.url, order.scope)]
    wanted = [link for link in scoped if not urls.looks_like_trap(link, now)]
    return wanted, len(scoped) - len(wanted)


class StartPages(Struct, frozen=True, kw_only=True):
    """Pages that a capture starts with, and what the site's sitemaps say of them."""

    pages: list[str]
    told: dict[str, SitemapHints] = {}


async def listed_pages(
    order: CaptureOrder, downloads: CaptureDownloader, *, now: float, patience_until: float
) -> StartPages:
    """All pages, where they are known beforehand; else the seed."""
    if order.use_sitemap:
        named = await _in_sitemaps(order, downloads, patience_until)
    elif order.listed is not None:
        named = StartPages(pages=list(order.listed))
    else:
        return StartPages(pages=[order.url])
    wanted, _ = in_capture(named.pages, order, now)
    if not wanted:
        where = "the site's sitemaps list" if order.use_sitemap else "the list names"
        raise UsageError(f"no page below {order.url} is among those that {where}. Widen --scope, or follow links.")
    return StartPages(pages=wanted[: order.max_pages], told=named.told)


async def _in_sitemaps(order: CaptureOrder, downloads: CaptureDownloader, patience_until: float) -> StartPages:
    """What the site's sitemaps list; those that an index lists are read too."""
    todo = downloads.sitemaps(order.url)
    done: set[str] = set()
    found: list[str] = []
    told: dict[str, SitemapHints] = {}
    while todo and len(done) < MAX_SITEMAPS and len(found) < order.max_pages:
        url = todo.pop(0)
        if url in done or not urls.in_scope(url, order.url, "domain"):
            continue
        done.add(url)
        got = await downloads.get(url, CaptureMode(), role=PageRole.SITEMAP, patience_until=patience_until)
        found += got.links
        todo += got.sitemaps
        told |= got.told
    return StartPages(pages=found, told=told)
