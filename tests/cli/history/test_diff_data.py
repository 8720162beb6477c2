"""`webstrata diff` of data: triples, cells and values as text, JSON and HTML."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import pytest

from tests.cli.conftest import ALWAYS_DUE, Call, LocalServer


class Case(NamedTuple):
    kind: str
    before: str
    after: str
    field: str
    lines: tuple[str, ...]


CASES = {
    "turtle": Case(
        "text/turtle",
        "@prefix : <http://e.test/> . :a :p 1 . :b :p 2 .",
        "@prefix : <http://e.test/> . :b :p 3 . :a :p 1 .",
        "triples",
        ("@@ triples: 1 added, 1 removed @@", " <http://e.test/b>", '<http://e.test/p>: "2"'),
    ),
    "csv": Case(
        "text/csv",
        "id,rate\na,4.2\nb,5.5\n",
        "id,rate\na,4.2\nb,5.6\nc,7\n",
        "table",
        ("1 row added, 1 cell changed", "rate: 5.5 → 5.6", "+c | 7"),
    ),
    "json": Case(
        "application/json",
        '{"a": {"b": [1, 2]}, "<b>": 1}',
        '{"<b>": "<script>alert(1)</script>", "a": {"b": [1, 3]}}',
        "json",
        ("$.a.b[1]: 2 → 3",),
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_data(name: str, home: Path, server: LocalServer, call: Call) -> None:
    """The changed triple, cell or value is shown in the form of its format, and escaped in the HTML page."""
    case = CASES[name]
    call("--home", home, "watch", server.url())
    for body in (case.before, case.after):
        server.pages["/"] = (case.kind, body.encode())
        call("--home", home, "crawl", "--quiet", **server.settings, **ALWAYS_DUE)

    text = call("--home", home, "diff", server.url()).text
    result = call("--home", home, "diff", server.url(), "--json").json
    page = call("--home", home, "diff", server.url(), "--html").text

    assert all(line in text for line in case.lines), text
    assert result[case.field]
    assert [result[other] for other in ("triples", "table", "json") if other != case.field] == [None, None]
    assert page.startswith("<!doctype html>")
    assert "<script" not in page
    for shown in ("5.6",) if name == "csv" else ("http://e.test/b",) if name == "turtle" else ("$.a.b", "[1]"):
        assert shown in page


def test_links(home: Path, server: LocalServer, call: Call) -> None:
    """Added and removed links are listed after the lines."""
    call("--home", home, "watch", server.url())
    for target in ("/old", "/new"):
        server.pages["/"] = ("text/html", f"<title>t</title><main><p>A <a href={target}>link</a> there.".encode())
        call("--home", home, "crawl", "--quiet", **server.settings, **ALWAYS_DUE)

    text = call("--home", home, "diff", server.url()).text

    assert "@@ links: 1 added, 1 removed @@" in text
    assert f"+{server.url('/new')}" in text
    assert f"-{server.url('/old')}" in text


def test_the_last_change_is_shown(home: Path, server: LocalServer, call: Call) -> None:
    """The last change is shown even if a later version has the same data or is an error page."""
    call("--home", home, "watch", server.url())
    story = "<title>t</title><main>" + "<p>The same story as ever, result at length.</p>" * 20
    notice = "<title>Just a moment...</title><p>Enable JavaScript and cookies to continue"
    for body in (story + "<p>one", story + "<p>two", story + "<p class=x>two", notice):
        server.pages["/"] = ("text/html", body.encode())
        call("--home", home, "crawl", "--quiet", **server.settings, **ALWAYS_DUE)

    assert call("--home", home, "log", server.url(), "--json").json["visits"][0]["failure"]["kind"] == "block-page"
    text = call("--home", home, "diff", server.url()).text
    assert "-one" in text
    assert "+two" in text
    assert b"story" in call("--home", home, "cat", server.url()).out
