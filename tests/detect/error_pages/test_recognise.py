"""What is an error page, at a first visit and in place of a known page; what is content."""

from __future__ import annotations

from typing import Any

import pytest

from tests.detect.error_pages.made_evidence import KNOWN, URL, made_evidence
from webstrata.detect.error_pages.evidence import PageEvidence
from webstrata.detect.error_pages.recognise import MAX_FAILURES, error_page
from webstrata.records import FailureKind, Fingerprint

ON_FIRST_VISITS = [
    # title, main text, markup, kind, words of the reason
    ("404 Not Found", "404 Not Found\nnginx", "", FailureKind.SOFT_404, "does not exist"),
    ("Page not found | Lamps", "Oops! Page not found\nTry the search.", "", FailureKind.SOFT_404, "Page not found"),
    ("Amt", "Fehler 404\nDie Seite konnte nicht gefunden werden.", "", FailureKind.SOFT_404, "Fehler 404"),
    ("Страница не найдена", "Страница не найдена", "", FailureKind.SOFT_404, "не найдена"),
    ("502 Bad Gateway", "502 Bad Gateway\nnginx", "", FailureKind.PLACEHOLDER, "502 Bad Gateway"),
    ("Site en maintenance", "Site en maintenance\nMerci.", "", FailureKind.PLACEHOLDER, "maintenance"),
    ("Log in", "Log in\nName Password", "<input name=p type=password>", FailureKind.LOGIN_WALL, "sign-in form"),
    (None, "Fatal error: Uncaught Error: x in /a.php:1 thrown in /a.php on line 1", "", FailureKind.PLACEHOLDER, "PHP"),
    ("Just a moment...", "", "", FailureKind.BLOCK_PAGE, "Just a moment"),
    ("www", "", "<script src=https://ct.captcha-delivery.com/c.js>", FailureKind.BLOCK_PAGE, "DataDome block"),
    ("Access Denied", "Access Denied\nYou don't have permission to access /.", "", FailureKind.BLOCK_PAGE, "refusal"),
]


@pytest.mark.parametrize(("title", "main", "markup", "kind", "words"), ON_FIRST_VISITS)
def test_first_visits(title: str | None, main: str, markup: str, kind: FailureKind, words: str) -> None:
    """An error page is recognised without an earlier version, and the reason says in a few words what it is."""
    result = error_page(200, made_evidence(title, main, markup))
    assert result is not None
    assert result.kind is kind
    assert words in result.reason
    assert len(result.reason) < 120


IN_PLACE = [
    ("Attention Required! | Cloudflare", "Sorry, you have been blocked", FailureKind.BLOCK_PAGE),
    ("example.org", "Checking your browser before accessing example.org", FailureKind.BLOCK_PAGE),
    ("", "Request unsuccessful. Incapsula incident ID: 12-345", FailureKind.BLOCK_PAGE),
    ("Robot Check", "Type the characters you see", FailureKind.BLOCK_PAGE),
    ("403 Forbidden", "nginx", FailureKind.BLOCK_PAGE),
    ("Example", "The page you are looking for does not exist.", FailureKind.SOFT_404),
    ("Site under maintenance", "We will be back at noon", FailureKind.PLACEHOLDER),
    ("Example", "Error establishing a database connection", FailureKind.PLACEHOLDER),
    ("Welcome to nginx!", "If you see this page", FailureKind.PLACEHOLDER),
    ("Sign in - Example", "E-mail Password", FailureKind.LOGIN_WALL),
    ("Example", "You must be logged in to view this page", FailureKind.LOGIN_WALL),
    ("Annual report 2026", "Profits rose. The board thanks everyone.", None),
    ("How we handle error pages", "A status of 404 means that a page is missing", None),
]


@pytest.mark.parametrize(("title", "main", "kind"), IN_PLACE)
def test_error_pages_in_place_of_a_known_page(title: str, main: str, kind: FailureKind | None) -> None:
    """In place of a larger page with another title, one sign is enough."""
    result = error_page(200, made_evidence(title, main, before=KNOWN))
    assert (result.kind if result else None) == kind


NOT_FOUND = {"title": "404 Not Found", "main": "404 Not Found\nnginx"}
SIGN_IN = {"title": "Sign in", "main": "Sign in\nE-mail Password", "markup": '<input type="password">'}
WORDS = "Several readers wrote to us about this subject; their letters are summarised here. " * 12

CONTENT: list[dict[str, Any]] = [
    # each lacks one condition for an error page
    {"title": "404", "main": "404 was a leap year of the Julian calendar, and a year of comets."},
    {"title": "404 Not Found - HTTP reference", "main": f"404 Not Found\nThe status code says so. {WORDS}"},
    {**NOT_FOUND, "main": f"404 Not Found\n{WORDS * 4}"},
    {**NOT_FOUND, "failures": MAX_FAILURES},
    {**NOT_FOUND, "selects": True},
    {**NOT_FOUND, "media_type": "application/json"},
    {"title": "Sign in", "main": "E-mail", "before": Fingerprint(raw="x", size=90, title="Sign in")},
    {
        "title": "Results",
        "main": "Round 4\nBerger 1-0 Lindt, Okafor 1-0 Sato, Marsh 0-1 Ivanova\nLog in",
        "markup": '<input type="password">',
    },
    {"title": "Level", "main": "The level of the river is 2.31 m and falling.", "markup": '<input type="password">'},
    {"title": "Page not found", "main": "Page not found", "requested": "https://www.example.org/404.html"},
    {**SIGN_IN, "requested": "https://bank.example/login"},
    {**SIGN_IN, "requested": "https://bank.example/wp-login.php"},
    {**SIGN_IN, "requested": "https://wiki.example/index.php?title=Special:UserLogin"},
    {"title": "Soup", "main": f"Wash three leeks. {WORDS}"[:400], "markup": '<div class="h-captcha">', "links": 9},
    {"title": "Notes", "main": "Look for _cf_chl_opt in the page.", "markup": "<code>_cf_chl_opt</code>"},
    {"title": "Garden", "main": f"Warning: Undefined variable $a in /a.php on line 1\n{WORDS}"},
]


@pytest.mark.parametrize("page", CONTENT)
def test_pages_that_are_content(page: dict[str, Any]) -> None:
    """Pages about errors, pages with text of their own, sign-in pages that were asked for, and lasting error pages."""
    assert error_page(200, made_evidence(**page)) is None


REDIRECTS = [
    (URL, "https://www.example.org/login?next=/report", FailureKind.LOGIN_WALL, "redirected to a sign-in page"),
    (URL, "https://login.idp.example/oauth2?client_id=1&redirect_uri=x", FailureKind.LOGIN_WALL, "sign-in"),
    (URL, "https://consent.example.com/m?continue=x", FailureKind.BLOCK_PAGE, "consent page"),
    (URL, "https://www.example.org/404.html", FailureKind.SOFT_404, "missing pages"),
    (URL, "https://www.example.org/error?path=/report", FailureKind.PLACEHOLDER, "page for errors"),
    (URL, "https://www.example.org/en/report", None, ""),
    (URL, "https://www.example.org/articles/login-problems", None, ""),
    ("https://a.example/signin", "https://login.a.example/login?next=/", None, ""),
]


@pytest.mark.parametrize(("requested", "address", "kind", "words"), REDIRECTS)
def test_redirects(requested: str, address: str, kind: FailureKind | None, words: str) -> None:
    """A redirect to a sign-in, consent or error page counts; one from a sign-in address to another does not."""
    result = error_page(200, made_evidence("Example", "Continue", requested=requested, address=address))
    assert (result.kind if result else None) is kind
    assert result is None or words in result.reason


def test_certain_pages_stay_errors() -> None:
    """A challenge or an application error is never taken as the page, however long it lasts."""
    for page in (made_evidence("Just a moment...", failures=9), made_evidence("Starlette Debugger", failures=9)):
        assert error_page(200, page) is not None


def test_empty_bodies() -> None:
    """An empty body in place of content is a failure until it lasts; a page that was empty before may be empty."""
    result = error_page(200, made_evidence(size=0, before=KNOWN))
    assert result is not None
    assert result.kind is FailureKind.EMPTY
    assert error_page(200, made_evidence(size=0, before=KNOWN, failures=MAX_FAILURES)) is None
    assert error_page(200, made_evidence(size=0)) is None
    assert error_page(204, made_evidence(size=0, before=KNOWN)) is None


def test_unchanged_bytes() -> None:
    """Bytes that were accepted as content stay content."""
    same = Fingerprint(raw="b", size=2_000, media_type="text/html")
    assert error_page(200, made_evidence("Just a moment...", before=same)) is None


def test_texts_of_long_pages_are_not_read() -> None:
    """Of a long page with an ordinary title no text is computed: nearly all pages are such pages."""

    def fail() -> str:
        raise AssertionError("the text was read")

    evidence = PageEvidence(
        requested=URL,
        address=URL,
        headers={},
        body=b"<p>words",
        title="Annual report",
        read_text=fail,
        read_main=fail,
        now=KNOWN,
        is_short=False,
    )
    assert error_page(200, evidence) is None


def test_long_menus() -> None:
    """A notice among long menus is recognised if the title states it: only the main text counts."""
    assert (
        error_page(200, made_evidence("Page not found", "Page not found\nTry the search.", is_short=False)) is not None
    )
