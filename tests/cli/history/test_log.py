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


def test_all_pages(home: Path, server: LocalServer, call: Call) -> None:
    """Without a URL the latest visits of all pages are listed, the URL last; --tag, --host and others select some."""
    call("--home", home, "watch", server.url("/a"), "--tag", "news")
    call("--home", home, "watch", server.url("/b"), "http://127.0.0.1:1/")
    for word in ("one", "two"):
        server.pages["/a"] = ("text/html", f"<main><p>The words are {word}.</p></main>".encode())
        server.pages["/b"] = ("text/html", b"<p>always")
        call("--home", home, "crawl", "--quiet", **server.settings, **ALWAYS_DUE)

    def listed(*words: object) -> list[str]:
        document = call("--home", home, "log", "--json", *words).json
        assert [visit["at"] for visit in document["visits"]] == sorted(
            (visit["at"] for visit in document["visits"]), reverse=True
        )
        return sorted(f"{visit['outcome']} {visit['page'].rsplit('/', 1)[-1]}".strip() for visit in document["visits"])

    assert {"changed a", "new a", "new b", "same b", "error"} == set(listed())
    assert listed("--tag", "news") == ["changed a", "new a"]
    assert listed("--changes") == ["changed a", "new a", "new b"]
    assert set(listed("--errors")) == {"error"}
    assert listed("--host", "other.example") == []
    assert len(listed("--limit", "2")) == 2
    assert listed("--to", "2000") == []
    table = call("--home", home, "log")
    heading, *lines = table.text.splitlines()
    assert heading.split()[-1] == "page"
    assert all(line.split()[-1].startswith("http://127.0.0.1:") for line in lines)
    assert any("blocked: " in line for line in lines)
    assert call("--home", home, "log", "--limit", "1").err.startswith("The newest 1 visits are shown.")
    assert call("--home", home, "log", "--errors", "--changes").code == 2
    assert call("--home", home, "log", server.url("/a"), "--tag", "news").code == 2
    assert call("--home", home, "log", "--from", "2999").err == "No visits in this time range.\n"


def test_failures_have_status_and_reason(home: Path, server: LocalServer, call: Call) -> None:
    """`log`, `list --errors` and `crawl` show the reason of a failed visit in words."""
    call("--home", home, "watch", "http://127.0.0.1:1/")
    crawl = call("--home", home, "crawl", **server.settings)

    (visit,) = call("--home", home, "log", "http://127.0.0.1:1/", "--errors", "--json").json["visits"]
    reason = f"blocked: {visit['failure']['detail']}"

    assert visit["failure"]["detail"]
    assert f"error blocked http://127.0.0.1:1/ ({visit['failure']['detail']})" in crawl.err
    assert call("--home", home, "log", "http://127.0.0.1:1/").text.splitlines()[1].endswith(reason)
    assert reason[:50] in call("--home", home, "log", "--errors").text
    assert reason[:50] in call("--home", home, "list", "--errors").text


def test_long_text_is_the_last_column(demo: Demo, call: Call) -> None:
    """The reasons are the last column, so that a terminal wraps them below each other; --warc adds the position."""
    heading = call("--home", demo.home, "log", DEMO_PAGE).text.splitlines()[0]
    assert heading.split()[-1] == "why"
    assert "WARC" not in heading
    shown = call("--home", demo.home, "log", DEMO_PAGE, "--warc").text.splitlines()
    assert "WARC record" in shown[0]
    assert ".warc.gz" in shown[1]
