"""`webstrata list`: its columns in a pipe."""

from __future__ import annotations

from pathlib import Path

from tests.cli.conftest import ALWAYS_DUE, Call, LocalServer


def test_list_columns(home: Path, call: Call) -> None:
    """In a pipe each page is one line, with the whole URL at its end."""
    long = "http://one.example/" + "x" * 300
    call("--home", home, "watch", long, "--tag", "a", "--tag", "b")

    heading, line = call("--home", home, "list").text.splitlines()

    assert heading.split()[-1] == "page"
    assert line.split()[-1] == long
    assert line.index("http") == heading.index("page")
    assert call("--home", home, "list", "--state", "paused").err == "No page matches.\n"


def _names(home: Path, call: Call, *words: object) -> str:
    pages = call("--home", home, "list", "--json", *words).json["pages"]
    return "".join(page["url"][-1] for page in pages)


def test_order(home: Path, server: LocalServer, call: Call) -> None:
    """Pages are sorted by any of their values; --changed, --since and --limit select some."""
    for name, length in (("b", 10), ("a", 3_000), ("c", 200)):
        server.pages[f"/{name}"] = ("text/html", f"<title>t</title><p>hello {'x' * length}".encode())
        call("--home", home, "watch", server.url(f"/{name}"))
    call("--home", home, "crawl", "--quiet", **server.settings, **ALWAYS_DUE)
    server.pages["/c"] = ("text/html", b"<title>t</title><p>all is quite another thing now")
    call("--home", home, "crawl", "--quiet", **server.settings, **ALWAYS_DUE)

    assert _names(home, call) == "bac"
    assert _names(home, call, "--sort", "url") == "abc"
    assert _names(home, call, "--sort", "url", "--reverse", "--limit", "2") == "cb"
    assert _names(home, call, "--sort", "size") == "acb"
    assert _names(home, call, "--sort", "changes", "--limit", "1") == "c"
    assert _names(home, call, "--changed") == "c"
    assert _names(home, call, "--changed", "--since", "1h") == "c"
    assert _names(home, call, "--changed", "--since", "2999") == ""
    assert call("--home", home, "list", "--since", "1h").code == 2
    assert call("--home", home, "list", "--sort", "odd").code == 2
    assert "last visit" in call("--home", home, "list", "--sort", "visited").text.splitlines()[0]


def test_errors(home: Path, server: LocalServer, call: Call) -> None:
    """Failing pages are listed with since when, how often and why they fail, in the table and in JSON."""
    server.pages["/good"] = ("text/html", b"<title>t</title><p>hello")
    call("--home", home, "watch", server.url("/good"), "http://127.0.0.1:1/bad")
    for _ in range(2):
        call("--home", home, "crawl", "http://127.0.0.1:1/bad", server.url("/good"), "--quiet", **server.settings)

    (page,) = call("--home", home, "list", "--errors", "--json").json["pages"]
    visits = call("--home", home, "log", "http://127.0.0.1:1/bad", "--json").json["visits"]

    assert (page["url"], page["failures"]) == ("http://127.0.0.1:1/bad", 2)
    assert page["last_failure"] == {
        "at": visits[0]["at"],
        "since": visits[1]["at"],
        "status": None,
        "kind": "blocked",
        "detail": visits[0]["failure"]["detail"],
    }
    heading, line = call("--home", home, "list", "--errors").text.splitlines()
    assert heading.split() == ["fails", "since", "failures", "next", "visit", "reason", "page"]
    assert "blocked: " in line
    assert "error: blocked" in call("--home", home, "list").text
    both = call("--home", home, "list", "--sort", "failures", "--json").json["pages"]
    assert [entry["last_failure"] is None for entry in both] == [False, True]
