from __future__ import annotations

import pytest

from webstrata.detect.response_class import MAX_FAILURES
from webstrata.detect.response_class import error_page
from webstrata.records import FailureKind, Fingerprint

KNOWN = Fingerprint(raw="a", size=40_000, media_type="text/html", title="Annual report", text="x")


def mark(size: int = 2_000, title: str | None = None) -> Fingerprint:
    return Fingerprint(raw="b", size=size, media_type="text/html", title=title)


CASES = [
    # title, text, kind
    ("Just a moment...", "Enable JavaScript and cookies to continue", FailureKind.BLOCK_PAGE),
    ("Attention Required! | Cloudflare", "Sorry, you have been blocked", FailureKind.BLOCK_PAGE),
    ("example.org", "Checking your browser before accessing example.org", FailureKind.BLOCK_PAGE),
    ("", "Request unsuccessful. Incapsula incident ID: 12-345", FailureKind.BLOCK_PAGE),
    ("Access Denied", 'You don\'t have permission to access "/" Reference #18.2d3e', FailureKind.BLOCK_PAGE),
    ("Robot Check", "Type the characters you see", FailureKind.BLOCK_PAGE),
    ("403 Forbidden", "nginx", FailureKind.BLOCK_PAGE),
    ("404 Not Found", "nginx", FailureKind.SOFT_404),
    ("Page not found - Example", "Sorry. Try the search.", FailureKind.SOFT_404),
    ("Example", "The page you are looking for does not exist.", FailureKind.SOFT_404),
    ("Site under maintenance", "We will be back at noon", FailureKind.PLACEHOLDER),
    ("502 Bad Gateway", "nginx", FailureKind.PLACEHOLDER),
    ("Example", "Error establishing a database connection", FailureKind.PLACEHOLDER),
    ("Welcome to nginx!", "If you see this page", FailureKind.PLACEHOLDER),
    ("Sign in - Example", "E-mail Password", FailureKind.LOGIN_WALL),
    ("Example", "You must be logged in to view this page", FailureKind.LOGIN_WALL),
    ("Annual report 2026", "Profits rose. The board thanks everyone.", None),
    ("How we handle error pages", "A status of 404 means that a page is missing", None),
]


@pytest.mark.parametrize(("title", "text", "kind"), CASES)
def test_disguises_of_a_known_page(title: str, text: str, kind: FailureKind | None) -> None:
    """What stands in the place of a page is told by its words, and the reason quotes them."""
    found = error_page(200, {}, text, title, KNOWN, mark(title=title))
    assert (found.kind if found else None) == kind
    assert found is None or "says" in found.reason


HONEST = [
    # before, title, text, size, failures: each is one step away from a disguise
    (None, "404 Not Found", "nginx", 500, 0),
    (None, "Sign in", "E-mail Password", 500, 0),
    (mark(title="Sign in"), "Sign in", "E-mail Password. New: passkeys", 2_100, 0),
    (KNOWN, "Page not found", "words " * 200, 2_000, 0),
    (KNOWN, "404 Not Found", "nginx", 30_000, 0),
    (KNOWN, "404 Not Found", "nginx", 500, MAX_FAILURES),
    (KNOWN, "The history of captchas", "verify you are human, they said. " * 40, 3_000, 0),
]


@pytest.mark.parametrize(("before", "title", "text", "size", "failures"), HONEST)
def test_honest_pages(before: Fingerprint | None, title: str, text: str, size: int, failures: int) -> None:
    """First versions, long texts, pages as large as before and what has come to stay are taken for content."""
    assert error_page(200, {}, text, title, before, mark(size, title), failures=failures) is None


def test_challenges_count_at_first_sight() -> None:
    """What no page says of itself is a disguise even where nothing was known before."""
    assert error_page(200, {}, "", "Just a moment...", None, mark()) is not None
    assert error_page(200, {"cf-mitigated": "challenge"}, "", "x", None, mark()) is not None


def test_empty_bodies() -> None:
    """Nothing in place of something is a failure, until it has come to stay; a page that was empty may be."""
    empty = mark(0)
    found = error_page(200, {}, "", None, KNOWN, empty)
    assert found is not None
    assert found.kind is FailureKind.EMPTY
    assert error_page(200, {}, "", None, KNOWN, empty, failures=MAX_FAILURES) is None
    assert error_page(200, {}, "", None, None, empty) is None
    assert error_page(204, {}, "", None, KNOWN, empty) is None


def test_only_pages_are_read() -> None:
    """Data that quote such words, and the same bytes as before, are no disguise."""
    data = Fingerprint(raw="b", size=10, media_type="application/json")
    assert error_page(200, {}, "verify you are human", None, KNOWN, data) is None
    assert error_page(200, {}, "verify you are human", None, mark(), mark()) is None
