from __future__ import annotations

import pytest

from webstrata.detect.response_class import MAX_FAILURES, StatusClass, error_page, status_class
from webstrata.records import FailureKind, Fingerprint

KNOWN = Fingerprint(raw="a", size=40_000, media_type="text/html", title="Annual report", text="x")


def fingerprint(size: int = 2_000, title: str | None = None) -> Fingerprint:
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
def test_error_pages_in_place_of_a_known_page(title: str, text: str, kind: FailureKind | None) -> None:
    """An error page in place of a known page is recognised by its phrases, and the reason quotes them."""
    result = error_page(200, {}, text, title, KNOWN, fingerprint(title=title))
    assert (result.kind if result else None) == kind
    assert result is None or "contains" in result.reason


CONTENT = [
    # before, title, text, size, failures: each lacks one condition for an error page
    (None, "404 Not Found", "nginx", 500, 0),
    (None, "Sign in", "E-mail Password", 500, 0),
    (fingerprint(title="Sign in"), "Sign in", "E-mail Password. New: passkeys", 2_100, 0),
    (KNOWN, "Page not found", "words " * 200, 2_000, 0),
    (KNOWN, "404 Not Found", "nginx", 30_000, 0),
    (KNOWN, "404 Not Found", "nginx", 500, MAX_FAILURES),
    (KNOWN, "The history of captchas", "verify you are human, they said. " * 40, 3_000, 0),
]


@pytest.mark.parametrize(("before", "title", "text", "size", "failures"), CONTENT)
def test_pages_that_are_content(before: Fingerprint | None, title: str, text: str, size: int, failures: int) -> None:
    """First versions, long texts, pages as large as before and lasting error pages are taken as content."""
    assert error_page(200, {}, text, title, before, fingerprint(size, title), failures=failures) is None


def test_challenges_are_recognised_at_the_first_visit() -> None:
    """A challenge is recognised without an earlier version."""
    assert error_page(200, {}, "", "Just a moment...", None, fingerprint()) is not None
    assert error_page(200, {"cf-mitigated": "challenge"}, "", "x", None, fingerprint()) is not None


def test_empty_bodies() -> None:
    """An empty body in place of content is a failure until it lasts; a page that was empty before may be empty."""
    empty = fingerprint(0)
    result = error_page(200, {}, "", None, KNOWN, empty)
    assert result is not None
    assert result.kind is FailureKind.EMPTY
    assert error_page(200, {}, "", None, KNOWN, empty, failures=MAX_FAILURES) is None
    assert error_page(200, {}, "", None, None, empty) is None
    assert error_page(204, {}, "", None, KNOWN, empty) is None


def test_only_text_pages_are_searched() -> None:
    """Data that contain such phrases, and unchanged bytes, are not error pages."""
    data = Fingerprint(raw="b", size=10, media_type="application/json")
    assert error_page(200, {}, "verify you are human", None, KNOWN, data) is None
    assert error_page(200, {}, "verify you are human", None, fingerprint(), fingerprint()) is None


@pytest.mark.parametrize(
    ("statuses", "expected"),
    [
        ((200, 203, 204, 205), StatusClass.CONTENT),
        ((304,), StatusClass.NOT_MODIFIED),
        ((301, 302, 303, 307, 308), StatusClass.REDIRECT),
        ((404, 410), StatusClass.GONE),
        ((429, 503), StatusClass.BACKOFF),
        ((400, 401, 403, 405, 406, 408, 418, 451, 499), StatusClass.DENIED),
        ((500, 501, 502, 504, 520, 599), StatusClass.SERVER_ERROR),
        ((0, -1, 100, 101, 199, 201, 202, 206, 299, 300, 305, 306, 399, 600, 999, 10**9), StatusClass.OTHER),
    ],
)
def test_statuses(statuses: tuple[int, ...], expected: StatusClass) -> None:
    """Every status code has exactly one class."""
    assert {status_class(status) for status in statuses} == {expected}
