"""The pages that the origin server serves: real HTML of about 20 KB, with a different content for each URL."""

from __future__ import annotations

from webstrata.lab.livingweb.recording import load_shipped

_SMALLEST, _LARGEST = 12_000, 28_000
_PER_SITE = 150
HOSTS = 32
"""Number of loopback addresses that serve the pages, from 127.0.0.1."""

STAMP = b"<!-- %012d -->"
"""Appended to each page, so that all contents differ and deduplication gives no advantage."""

ROBOTS = b"User-agent: *\nDisallow: /private/\nDisallow: /search\nDisallow: /*.cgi$\n\nUser-agent: other\nDisallow: /\n"


def real_pages() -> list[bytes]:
    """Several hundred contents from the shipped sites."""
    pages: list[bytes] = []
    for recording in load_shipped():
        suitable = [
            body
            for body in recording.contents.values()
            if _SMALLEST <= len(body) <= _LARGEST and b"<html" in body[:2000].lower()
        ]
        pages += suitable[:_PER_SITE]
    return pages


def urls(number: int, port: int) -> list[str]:
    """The same URLs for every contender, evenly spread over the hosts."""
    return [f"http://127.0.0.{1 + n % HOSTS}:{port}/pages/{n:06d}.html" for n in range(number)]
