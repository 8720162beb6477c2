"""Fetching of robots.txt: redirects, content codings, incomplete responses."""

from __future__ import annotations

import gzip
from typing import Literal

import pytest

from webstrata.permit.robots import LIMIT
from webstrata.permit.robots_cache import MAX_REDIRECTS, RobotsResponse, robots_step, robots_url
from webstrata.records import Exchange, Failure, FailureKind

URL = "http://example.org/robots.txt"
FILE = b"User-agent: *\nDisallow: /x\n"


def exchange(
    status: int | None,
    body: bytes = b"",
    truncated: Literal["length", "time", "disconnect"] | None = None,
    failure: Failure | None = None,
    **headers: str,
) -> Exchange:
    return Exchange(
        url=URL,
        at=0.0,
        duration_s=0.1,
        request_head=b"",
        status=status,
        body=body,
        truncated=truncated,
        failure=failure,
        headers=tuple((name.replace("_", "-"), value) for name, value in headers.items()),
    )


REDIRECTS = [
    (301, "/r2", "http://example.org/r2"),
    (302, "https://www.example.org/robots.txt", "https://www.example.org/robots.txt"),
    (303, "//other.example/r", "http://other.example/r"),
    (307, "r?x#y", "http://example.org/r?x"),
    (308, "http://other.example:8080/", "http://other.example:8080/"),
]


@pytest.mark.parametrize(("status", "location", "target"), REDIRECTS)
def test_redirects_are_followed(status: int, location: str, target: str) -> None:
    """At least five consecutive redirects are followed, to any http or https URL."""
    assert robots_step(exchange(status, location=location), url=URL, hops=0) == target
    assert robots_step(exchange(status, location=location), url=URL, hops=MAX_REDIRECTS - 1) == target


LOST = [("/again", MAX_REDIRECTS), ("ftp://example.org/", 0), ("http://[bad", 0), ("", 0), (URL, 0)]


@pytest.mark.parametrize(("location", "hops"), LOST)
def test_unusable_redirects(location: str, hops: int) -> None:
    """One redirect too many, to an unusable URL or to itself ends with its 3xx status, which forbids nothing."""
    assert robots_step(exchange(301, location=location), url=URL, hops=hops) == RobotsResponse(status=301)


FILES = [
    (exchange(200, FILE), FILE),
    (exchange(200, gzip.compress(FILE), content_encoding="gzip"), FILE),
    (exchange(200, FILE, content_encoding="gzip"), FILE),
    (exchange(200, FILE * 30_000, truncated="length"), (FILE * 30_000)[: LIMIT + 1]),
    (exchange(206, gzip.compress(b"#" * 2 * LIMIT), content_encoding="gzip"), b"#" * (LIMIT + 1)),
]


@pytest.mark.parametrize(("found", "body"), FILES)
def test_files_are_decoded_and_bounded(found: Exchange, body: bytes) -> None:
    """Content codings are removed, a wrong header is tolerated, and the body is limited to what is parsed."""
    assert robots_step(found, url=URL, hops=0) == RobotsResponse(status=found.status or 0, body=body)


NOT_REACHED = [
    Failure(kind=FailureKind.DNS),
    exchange(None, failure=Failure(kind=FailureKind.TLS)),
    exchange(200, FILE, failure=Failure(kind=FailureKind.MALFORMED)),
    exchange(200, FILE, truncated="time"),
    exchange(200, FILE, truncated="disconnect"),
    exchange(200, gzip.compress(FILE * 1000)[:60], content_encoding="gzip"),
]


@pytest.mark.parametrize("found", NOT_REACHED)
def test_incomplete_files_are_unavailable(found: Exchange | Failure) -> None:
    """A failed or truncated response counts as unavailable, because the missing part may contain a rule."""
    assert robots_step(found, url=URL, hops=0) == RobotsResponse(status=0)


def test_other_statuses_keep_no_body() -> None:
    """The body of an error page is not used."""
    assert robots_step(exchange(404, b"<html>"), url=URL, hops=0) == RobotsResponse(status=404)
    assert robots_url("http://example.org") == URL
