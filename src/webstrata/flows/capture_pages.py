"""Which pages belong to a capture: those in scope that links lead to, or those that a list or a sitemap names."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from webstrata import urls
from webstrata.errors import UsageError
from webstrata.flows.capture_download import CaptureDownloader, CaptureMode
from webstrata.flows.capture_events import CaptureOrder
from webstrata.flows.capture_sitemap import SitemapHints
from webstrata.records import PageRole

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
