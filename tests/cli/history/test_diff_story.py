"""`webstrata diff --since`: all changes of a period in one view."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.cli.conftest import Call, Demo, LocalServer
from tests.cli.history.conftest import VisitVersions

HTML = "text/html; charset=utf-8"
STORY = "<p>The same story as ever, told at length for the sake of the main content of this page.</p>" * 8
PAGE = "<title>Rates</title><main>{story}<p class={mark}>The rate is {rate} per cent.</p></main>"


def _page(rate: str, mark: str = "x") -> str:
    return PAGE.format(story=STORY, rate=rate, mark=mark)


@pytest.fixture
def told(home: Path, visit_versions: VisitVersions) -> str:
    """The URL of a page with two changes, and visits without a change that counts before, between and after them."""
    return visit_versions(
        HTML, _page("1"), _page("1"), _page("2"), _page("2", "y"), _page("2"), _page("<i>3</i>"), _page("3")
    )


def test_text(home: Path, told: str, call: Call) -> None:
    """Changes are shown newest first, with kind, significance, reasons and difference; other visits are counted."""
    lines = call("--home", home, "diff", told, "--since", "30d").text.splitlines()

    assert lines[0] == told
    assert lines[1].endswith("UTC: 2 changes in 7 visits, newest first")
    assert re.fullmatch(r"1 visit without a change that counts", lines[3])
    headings = [line for line in lines if re.match(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d  ", line)]
    assert [heading.split("  ")[1] for heading in headings] == ["content", "content", "new"]
    assert all(re.search(r"  0\.\d\d$", heading) for heading in headings[:2])
    changed = [line for line in lines if line.startswith(("-The", "+The"))]
    assert changed == [
        "-The rate is 2 per cent.",
        "+The rate is 3 per cent.",
        "-The rate is 1 per cent.",
        "+The rate is 2 per cent.",
    ]
    assert "2 visits without a change that counts" in lines
    assert any("of the text)" in line for line in lines)


def test_json(home: Path, told: str, call: Call) -> None:
    """The JSON document lists the changes with their lines and the number of visits without a change."""
    document = call("--home", home, "diff", told, "--since", "30d", "--json", "--lines", "5").json

    assert (document["url"], document["visits"], document["quiet_first"]) == (told, 7, 0)
    assert [change["kind"] for change in document["changes"]] == ["content", "content", "new"]
    assert [change["quiet_visits_after"] for change in document["changes"]] == [1, 2, 1]
    first = document["changes"][0]
    assert first["from"] < first["at"]
    assert len(first["lines"]) == 6
    assert first["lines"][-1].endswith("more lines")
    assert document["changes"][2]["lines"] == []


def test_html(home: Path, told: str, tmp_path: Path, call: Call) -> None:
    """One self-contained page has a table of all changes, whose links lead to a section for each."""
    out = tmp_path / "story.html"
    result = call("--home", home, "diff", told, "--since", "30d", "--html", "-o", out)

    page = out.read_text()
    assert (result.code, result.text) == (0, "")
    assert re.findall(r'href="([^"]*)"', page) == ["#change-1", "#change-2", "#change-3"]
    assert re.findall(r'<section id="([^"]*)"', page) == ["change-1", "change-2", "change-3"]
    assert "The rate is <ins>3</ins> per cent." in page
    assert "2 visits without a change that counts" in page
    assert "<script" not in page
    assert "default-src 'none'" in page


def test_hostile(home: Path, visit_versions: VisitVersions, call: Call) -> None:
    """Markup in the text of a page is escaped in the story."""
    hostile = "&lt;script&gt;alert({})&lt;/script&gt;&lt;img src=x&gt;"
    url = visit_versions(HTML, _page(hostile.format(1)), _page(hostile.format(2)))

    page = call("--home", home, "diff", url, "--since", "1d", "--html").text

    assert "<script" not in page
    assert "<img" not in page
    assert page.count("&lt;script&gt;") == 2


def test_gone_and_back(home: Path, server: LocalServer, visit_versions: VisitVersions, call: Call) -> None:
    """A page that is gone has no difference; when it is back it is compared with its last version."""
    url = visit_versions(HTML, _page("1"))
    visit_versions("text/plain", "there", path="/other")
    body = server.pages.pop("/")
    visit_versions("text/plain", "there", path="/other")
    server.pages["/"] = (body[0], _page("2").encode())
    visit_versions("text/plain", "there", path="/other")

    changes = call("--home", home, "diff", url, "--since", "1d", "--json").json["changes"]

    assert [change["kind"] for change in changes] == ["back", "gone", "new"]
    assert "+The rate is 2 per cent." in changes[0]["lines"]
    assert changes[1]["lines"] == []


def test_periods(demo: Demo, call: Call) -> None:
    """The period is given by a time or a duration; the version before the period is compared, but not listed."""
    url = "http://llvm.test/"
    log = [
        visit
        for visit in call("--home", demo.home, "log", url, "--json", "--changes").json["visits"]
        if visit["changed"]
    ]
    newest = call("--home", demo.home, "diff", url, "--since", log[0]["at"], "--json").json["changes"]
    older = call("--home", demo.home, "diff", url, "--since", "2000", "--to", log[1]["at"], "--json").json["changes"]

    assert [change["at"] for change in newest] == [log[0]["at"]]
    assert newest[0]["lines"]
    assert [change["at"] for change in older if change["changed"]] == [visit["at"] for visit in log[1:]]
    assert "0 changes in 0 visits" in call("--home", demo.home, "diff", url, "--since", "1d").text


@pytest.mark.parametrize(
    "options", [("--since", "soon"), ("--since", "1d", "--raw"), ("--since", "1d", "--from", "2020"), ("--lines", "0")]
)
def test_usage(options: tuple[str, ...], demo: Demo, call: Call) -> None:
    """Periods that are not times, and options that contradict each other, are errors of usage."""
    result = call("--home", demo.home, "diff", "http://llvm.test/", *options)

    assert (result.code, result.text) == (2, "")
    assert result.err
