"""`webstrata diff` and `log` show from where to where a page moved."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import ALWAYS_DUE, Call, LocalServer
from tests.cli.history.conftest import VisitVersions

PAGE = "<title>Rates</title><main><h1>Rates</h1><p>The rate is {}.</p><p>It is <a href=all>one of many</a>.</p></main>"


@pytest.fixture
def moved(home: Path, server: LocalServer, call: Call, visit_versions: VisitVersions) -> str:
    """A page with two versions that then redirects to another path, with the same content."""
    page = visit_versions("text/html", PAGE.format(1), PAGE.format(2), path="/old/page")
    move(home, server, call, PAGE.format(2).replace("href=all", "href=/old/all"))
    return page


def move(home: Path, server: LocalServer, call: Call, body: str) -> None:
    server.moves["/old/page"] = "/new/home"
    server.pages["/new/home"] = ("text/html", body.encode())
    assert call("--home", home, "crawl", "--quiet", **server.settings, **ALWAYS_DUE).code == 0


def test_a_move_is_shown(home: Path, server: LocalServer, call: Call, moved: str) -> None:
    """A change that is only a move is the difference, in every format; the log says it in its reasons."""
    old, new = moved, server.url("/new/home")
    visit, *_ = call("--home", home, "log", moved, "--json").json["visits"]
    assert (visit["kind"], visit["changed"]) == ("moved", True)
    assert visit["reasons"] == [f"the page moved: its content came from {old}, now from {new}"]
    text = call("--home", home, "diff", moved).text
    assert text == f"@@ address: the page moved @@\n address: {old} → {new}\n"
    words = call("--home", home, "diff", moved, "--words").text
    assert "[-old-]" in words
    assert "{+new+}" in words
    shown = call("--home", home, "diff", moved, "--html").text
    assert "<h3>The page moved</h3>" in shown
    assert "No difference" not in shown
    document = call("--home", home, "diff", moved, "--json").json
    assert document["move"] == {"before": old, "after": new}
    assert document["diff"] == []


def test_a_move_in_a_story(home: Path, server: LocalServer, call: Call, moved: str) -> None:
    """With --since a move is one of the changes."""
    old, new = moved, server.url("/new/home")
    text = call("--home", home, "diff", moved, "--since", "1d").text
    assert f" address: {old} → {new}\n" in text
    assert f"the page moved: its content came from {old}, now from {new}" in text
    assert "<h3>The page moved</h3>" in call("--home", home, "diff", moved, "--since", "1d", "--html").text
    last, first, *_ = call("--home", home, "diff", moved, "--since", "1d", "--json").json["changes"]
    assert last["move"] == {"before": old, "after": new}
    assert first["move"] is None


def test_a_move_with_other_content(home: Path, server: LocalServer, call: Call, visit_versions: VisitVersions) -> None:
    """A page that moved and changed is a change of content; its difference and its reasons have both."""
    page = visit_versions("text/html", PAGE.format(1), path="/old/page")
    move(home, server, call, PAGE.format(2).replace("href=all", "href=/old/all"))
    visit, *_ = call("--home", home, "log", page, "--json").json["visits"]
    assert visit["kind"] == "content"
    assert visit["reasons"][-1].startswith("the page moved: ")
    lines = call("--home", home, "diff", page).text.splitlines()
    assert lines[1] == f" address: {page} → {server.url('/new/home')}"
    assert "+The rate is 2." in lines


def test_relative_links_of_a_page_that_moved(
    home: Path, server: LocalServer, call: Call, visit_versions: VisitVersions
) -> None:
    """The same bytes at another address link to other pages: the difference shows both the move and the links."""
    page = visit_versions("text/html", PAGE.format(1), path="/old/page")
    move(home, server, call, PAGE.format(1) + " ")
    visit, *_ = call("--home", home, "log", page, "--json").json["visits"]
    assert visit["kind"] == "links"
    lines = call("--home", home, "diff", page).text.splitlines()
    assert f"-{server.url('/old/all')}" in lines
    assert f"+{server.url('/new/all')}" in lines
    assert "@@ address: the page moved @@" in lines
