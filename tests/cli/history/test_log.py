"""`webstrata log`: kind, significance and reasons of each visit."""

from __future__ import annotations

from pathlib import Path

from tests.cli.conftest import ALWAYS_DUE, Call, Demo, LocalServer

PAGE = "<title>Rates</title><main><p>The rate is {}.</p><p>So it has been.</p></main>"
DEMO_PAGE = "http://llvm.test/"


def test_kinds(home: Path, server: LocalServer, call: Call) -> None:
    """The log has kind, significance and new links of each visit, in JSON and in the table."""
    call("--home", home, "watch", server.url())
    for rate in ("1", "<a href=/x>2</a>", "3"):
        server.pages["/"] = ("text/html", PAGE.format(rate).encode())
        call("--home", home, "crawl", "--quiet", **server.settings, **ALWAYS_DUE)

    visits = call("--home", home, "log", server.url(), "--json").json["visits"]

    assert [visit["kind"] for visit in visits] == ["content", "content", "new"]
    assert [visit["new_links"] for visit in visits] == [0, 1, 0]
    assert all(0 < visit["significance"] <= 1 for visit in visits[:2])
    assert "content 0." in call("--home", home, "log", server.url()).text


def test_reasons(home: Path, server: LocalServer, call: Call) -> None:
    """The log shows the reasons for the significance, and that a page returned to an earlier version."""
    call("--home", home, "watch", server.url())
    for word in ("one", "two", "one"):
        server.pages["/"] = ("text/html", f"<main><p>The words are {word}.</p></main>".encode())
        call("--home", home, "crawl", "--quiet", **server.settings, **ALWAYS_DUE)

    visits = call("--home", home, "log", server.url(), "--json").json["visits"]

    assert [visit["reverted"] for visit in visits] == [True, False, False]
    assert visits[0]["reasons"][-1] == "back to an earlier version"
    assert visits[2]["reasons"] == ["seen for the first time"]
    text = call("--home", home, "log", server.url()).text
    assert "(back)" in text
    assert "of the text)" in text
    assert "; back to an earlier version" in text


def test_selection(demo: Demo, call: Call) -> None:
    """All visits are shown, newest first; --changes, --limit, --from and --to select some of them."""
    visits = call("--home", demo.home, "log", DEMO_PAGE, "--json").json["visits"]
    changes = call("--home", demo.home, "log", DEMO_PAGE, "--changes", "--json").json["visits"]

    assert [visit["at"] for visit in visits] == sorted((visit["at"] for visit in visits), reverse=True)
    assert visits[-1]["outcome"] == "new"
    assert changes == [visit for visit in visits if visit["outcome"] not in ("same", "error")]
    assert call("--home", demo.home, "log", DEMO_PAGE, "--limit", "1", "--json").json["visits"] == visits[:1]
    first = visits[-1]["at"]
    assert call("--home", demo.home, "log", DEMO_PAGE, "--to", first, "--json").json["visits"] == visits[-1:]
    assert len(call("--home", demo.home, "log", DEMO_PAGE).text.splitlines()) == len(visits) + 1
    assert "No visits in this time range" in call("--home", demo.home, "log", DEMO_PAGE, "--to", "2000").err
