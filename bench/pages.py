"""What the origin serves: real HTML pages of about 20 KB, each URL with a content of its own."""

from __future__ import annotations

from webstrata.lab.livingweb.recording import load_shipped

_SMALLEST, _LARGEST = 12_000, 28_000
_PER_SITE = 150
HOSTS = 32
"""Loopback addresses that the pages are spread over: 127.0.0.1 and on."""

STAMP = b"<!-- %012d -->"
"""Behind each page: no two URLs have the same bytes, so nobody gains by writing a content only once."""

ROBOTS = b"User-agent: *\nDisallow: /private/\nDisallow: /search\nDisallow: /*.cgi$\n\nUser-agent: other\nDisallow: /\n"


def real_pages() -> list[bytes]:
    """Several hundred contents from the shipped sites."""
    found: list[bytes] = []
    for recording in load_shipped():
        fitting = [
            body
            for body in recording.contents.values()
            if _SMALLEST <= len(body) <= _LARGEST and b"<html" in body[:2000].lower()
        ]
        found += fitting[:_PER_SITE]
    return found


def urls(number: int, port: int) -> list[str]:
    """The same list for every contender, host after host in turn."""
    return [f"http://127.0.0.{1 + n % HOSTS}:{port}/pages/{n:06d}.html" for n in range(number)]
