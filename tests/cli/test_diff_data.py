"""`webstrata diff` of data: triples, cells and values, for the eye, as JSON and as a page."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import pytest

from tests.cli.conftest import RESTLESS, Call, Town


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
        ("@@ triples: 1 added, 1 removed @@", "+<http://e.test/b>", "-<http://e.test/b>"),
    ),
    "csv": Case(
        "text/csv",
        "id,rate\na,4.2\nb,5.5\n",
        "id,rate\na,4.2\nb,5.6\nc,7\n",
        "table",
        ("1 rows added, 0 removed, 1 cells changed", "rate: 5.5 → 5.6", "+c | 7"),
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
def test_data(name: str, home: Path, town: Town, call: Call) -> None:
    """The changed triple, cell or value is shown in the way of its format; the page runs nothing of it."""
    case = CASES[name]
    call("--home", home, "watch", town.url())
    for body in (case.before, case.after):
        town.pages["/"] = (case.kind, body.encode())
        call("--home", home, "crawl", "--quiet", **town.settings, **RESTLESS)

    text = call("--home", home, "diff", town.url()).text
    told = call("--home", home, "diff", town.url(), "--json").json
    page = call("--home", home, "diff", town.url(), "--html").text

    assert all(line in text for line in case.lines), text
    assert told[case.field]
    assert [told[other] for other in ("triples", "table", "json") if other != case.field] == [None, None]
    assert page.startswith("<!doctype html>")
    assert "<script" not in page
    for shown in ("5.6",) if name == "csv" else ("http://e.test/b",) if name == "turtle" else ("$.a.b[1]",):
        assert shown in page


def test_links(home: Path, town: Town, call: Call) -> None:
    """Links that came and went are listed beside the lines."""
    call("--home", home, "watch", town.url())
    for target in ("/old", "/new"):
        town.pages["/"] = ("text/html", f"<title>t</title><main><p>A <a href={target}>link</a> there.".encode())
        call("--home", home, "crawl", "--quiet", **town.settings, **RESTLESS)

    text = call("--home", home, "diff", town.url()).text

    assert "@@ links: 1 added, 1 removed @@" in text
    assert f"+{town.url('/new')}" in text
    assert f"-{town.url('/old')}" in text


def test_the_last_change_is_shown(home: Path, town: Town, call: Call) -> None:
    """Neither a later version with the same data nor a notice in the page's place hides the last change."""
    call("--home", home, "watch", town.url())
    story = "<title>t</title><main>" + "<p>The same story as ever, told at length.</p>" * 20
    notice = "<title>Just a moment...</title><p>Enable JavaScript and cookies to continue"
    for body in (story + "<p>one", story + "<p>two", story + "<p class=x>two", notice):
        town.pages["/"] = ("text/html", body.encode())
        call("--home", home, "crawl", "--quiet", **town.settings, **RESTLESS)

    assert call("--home", home, "log", town.url(), "--json").json["visits"][0]["failure"]["kind"] == "block-page"
    text = call("--home", home, "diff", town.url()).text
    assert "-one" in text
    assert "+two" in text
    assert b"story" in call("--home", home, "cat", town.url()).out
