"""Sitemaps -> digest of url -> lastmod: order, priorities and layout do not count."""

from __future__ import annotations

from webstrata.observe.data.digest import DataDigest, digest_of, refused
from webstrata.observe.data.sitemap_file import read_sitemap


def read(body: bytes, charset: str | None, url: str) -> DataDigest:
    """One sitemap or sitemap index. A file that is not read to its end is compared by its bytes. Never raises."""
    found = read_sitemap(body, url)
    if found.problem is not None:
        return refused("sitemap", found.problem)
    if not found.entries:
        return refused("sitemap", "no entries")
    lines = sorted(f"{entry.url} {entry.lastmod}".encode() for entry in found.entries)
    return DataDigest(kind="sitemap", digest=digest_of(found.kind, lines), size=len(lines))
