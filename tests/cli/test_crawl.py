"""`webstrata crawl`: which pages a pass visits."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.cli.conftest import ALWAYS_DUE, Call, LocalServer

VALUE = {"WEBSTRATA_SCHEDULE_POLICY": "value"}
TIMER = {"WEBSTRATA_SCHEDULE_POLICY": "dyn"}


@pytest.fixture
def pages(home: Path, server: LocalServer, call: Call) -> Path:
    """A home that watches /a, /b (tag news), /c (tag news) and /d, not visited yet."""
    for name in "abcd":
        server.pages[f"/{name}"] = ("text/html", f"<title>t</title><p>hello {name}".encode())
    call("--home", home, "watch", server.url("/a"), server.url("/d"))
    call("--home", home, "watch", server.url("/b"), server.url("/c"), "--tag", "news")
    return home


def visits(home: Path, call: Call) -> dict[str, int]:
    """The number of visits by the last letter of the URL."""
    return {page["url"][-1]: page["visits"] for page in call("--home", home, "list", "--json").json["pages"]}


@pytest.mark.parametrize("policy", [VALUE, TIMER], ids=["value", "timer"])
def test_named_pages_and_nothing_else(policy: dict[str, str], pages: Path, server: LocalServer, call: Call) -> None:
    """`crawl URL…` visits those pages although others are due, and again although they are no longer due."""
    for count in (1, 2):
        result = call("--home", pages, "crawl", server.url("/a"), server.url("/b"), **server.settings, **policy)
        assert result.code == 0
        assert result.err.splitlines()[-1].startswith("2 visits"), result.err
        assert visits(pages, call) == {"a": count, "b": count, "c": 0, "d": 0}


@pytest.mark.parametrize("policy", [VALUE, TIMER], ids=["value", "timer"])
@pytest.mark.parametrize(
    ("words", "visited"),
    [
        ((), "abcd"),
        (("--due",), "abcd"),
        (("--tag", "news"), "bc"),
        (("--tag", "news", "--due"), "bcad"),
        (("--from", "-"), "ad"),
        (("--from", "-", "--tag", "news"), "adbc"),
    ],
)
def test_selections_add_up(
    words: Sequence[str], visited: str, policy: dict[str, str], pages: Path, server: LocalServer, call: Call
) -> None:
    """--tag, --from and --due select pages, each page once."""
    listed = f"# mine\n{server.url('/a')}\t2\n\n{server.url('/d')}\n".encode()
    result = call("--home", pages, "crawl", *words, "--json", stdin=listed, **server.settings, **policy)
    assert result.json["visits"] == len(visited)
    assert Counter(visits(pages, call)) == Counter(visited)


def test_pages_found_on_a_named_page_wait(home: Path, server: LocalServer, call: Call) -> None:
    """New links of a watched site are visited by the next crawl of due pages, not by `crawl URL`."""
    server.pages["/"] = ("text/html", b"<title>t</title><p>start <a href='/x'>x</a> <a href='/y'>y</a>")
    for name in "xy":
        server.pages[f"/{name}"] = ("text/html", f"<title>t</title><p>hello {name}".encode())
    call("--home", home, "watch", "--site", server.url("/"))

    first = call("--home", home, "crawl", server.url("/"), "--json", **server.settings)
    assert first.json["visits"] == 1
    assert visits(home, call) == {"/": 1, "x": 0, "y": 0, "l": 0}

    assert call("--home", home, "crawl", "--json", **server.settings).json["visits"] == 3


def test_more_named_pages_than_the_budget_pays_for(pages: Path, server: LocalServer, call: Call) -> None:
    """The budget counts requested visits, but does not prevent them: the other pages wait for it."""
    budget = {"WEBSTRATA_BUDGET_TOTAL": "1/day", **server.settings}
    assert call("--home", pages, "crawl", "--tag", "news", "--json", **budget).json["visits"] == 2
    assert call("--home", pages, "crawl", "--json", **budget).json["visits"] == 0


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (("http://unknown.example/",), 2, "http://unknown.example/ is not watched. `webstrata list` shows what is"),
        (("--tag", "sports"), 1, "no page or site has the tag 'sports'"),
        (("--from", "-"), 1, "the list on stdin names no page"),
        (("--from", "/nowhere"), 2, "cannot read /nowhere"),
    ],
)
def test_mistakes(words: Sequence[str], code: int, message: str, pages: Path, server: LocalServer, call: Call) -> None:
    """A selection of pages that are not watched is an error that says what to do, and nothing is visited."""
    result = call("--home", pages, "crawl", server.url("/a"), *words, stdin=b"# nothing\n", **server.settings)
    assert result.code == code
    assert message in result.err
    assert set(visits(pages, call).values()) == {0}


def test_a_page_that_is_no_longer_watched(pages: Path, server: LocalServer, call: Call) -> None:
    """`crawl URL` of an unwatched page says how to resume its visits."""
    call("--home", pages, "unwatch", server.url("/a"))
    result = call("--home", pages, "crawl", server.url("/a"), **server.settings)
    assert result.code == 2
    assert f"`webstrata watch {server.url('/a')}` resumes its visits" in result.err


def test_all_pages_of_a_large_selection(home: Path, server: LocalServer, call: Call) -> None:
    """Named pages are visited once each, also if pages are due again immediately."""
    for number in range(30):
        server.pages[f"/{number}"] = ("text/html", f"<title>t</title><p>page {number}".encode())
    listed = "\n".join(server.url(f"/{number}") for number in range(30)).encode()
    call("--home", home, "watch", "--from", "-", stdin=listed)
    environ = {**server.settings, **ALWAYS_DUE}
    for _ in range(2):
        result = call("--home", home, "crawl", "--from", "-", "--json", stdin=listed, **environ)
        assert result.json["visits"] == 30
