"""What `webstrata capture` says about a capture: layers, caches, script shells, pace, what is missing; exit codes."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest

from tests.cli.capture.capturing import certificate
from tests.cli.conftest import Call, CommandResult, LocalServer
from webstrata.clock import parse_instant

WORDS = "<p>words that do not change, and enough of them to be a page of its own for all readers of the site</p>"


@pytest.fixture
def site(server: LocalServer) -> LocalServer:
    names = ["a", "b", "c", "d"]
    anchors = "".join(f"<a href=/{name}>{name}</a>" for name in names)
    server.pages["/"] = ("text/html", f"<title>h</title><main>{WORDS}{anchors}</main>".encode())
    for name in names:
        server.pages[f"/{name}"] = ("text/html", f"<title>{name}</title><main>{WORDS}</main>".encode())
    return server


def capture(call: Call, home: Path, site: LocalServer, *words: str) -> CommandResult:
    return call("--home", home, "capture", site.url(), "--sharp", "-q", *words, **site.settings)


def test_the_delay_that_was_asked_for(home: Path, site: LocalServer, call: Call) -> None:
    """`--delay` is the planned delay, in the certificate too, and no request is sent earlier; a longer Crawl-delay
    replaces it, and the summary says so."""
    one = capture(call, home, site, "--delay", "0.05", "--json").json["captures"][0]
    assert (one["delay_s"], one["delay_from"]) == (0.05, "own delay")
    assert certificate(one["file"])["policy"]["delay_s"] == "0.05"
    starts = sorted(
        parse_instant(seen["started"]) for page in certificate(one["file"])["pages"] for seen in page["observations"]
    )
    assert len(starts) == 9
    assert min(after - before for before, after in pairwise(starts)) > 0.049
    site.pages["/robots.txt"] = ("text/plain", b"User-agent: *\nCrawl-delay: 0.2")
    call("--home", home.parent / "other", "init")
    slower = capture(call, home.parent / "other", site, "--delay", "0.05")
    assert "requests were 0.2 s apart: Crawl-delay of robots.txt" in slower.text


def test_script_shells(home: Path, site: LocalServer, call: Call) -> None:
    """Pages whose content scripts load are named, with the option that captures it."""
    site.pages["/a"] = ("text/html", b"<title>app</title><div id=root></div><script src=/app.js></script>")
    result = capture(call, home, site, "--delay", "0.01")
    assert f"content is loaded by scripts: use --render ({site.url('/a')})" in result.text
    assert result.code == 0


def test_a_capture_without_enough_time(home: Path, site: LocalServer, call: Call) -> None:
    """A capture that ends early has the exit code 3; the certificate and the summary say how much is missing."""
    result = capture(call, home, site, "--delay", "0.5", "--max-time", "1.3s", "--json")
    one = result.json["captures"][0]
    assert (result.code, one["result"]) == (3, "partial")
    assert one["unfinished"]["not_visited"] == one["counts"]["unvisited"] > 0
    assert certificate(one["file"])["unfinished"] == one["unfinished"]


@pytest.mark.parametrize(
    ("broken", "code", "result"),
    [((), 0, "complete"), (("/a",), 0, "complete"), (("/", "/a"), 1, "failed")],
    ids=["all pages", "one page is missing", "no page"],
)
def test_exit_codes(broken: tuple[str, ...], code: int, result: str, home: Path, site: LocalServer, call: Call) -> None:
    """A page that is missing (404) is a fact about the site; a capture without any content failed."""
    for path in broken:
        del site.pages[path]
    done = capture(call, home, site, "--delay", "0.01", "--json")
    assert (done.code, done.json["captures"][0]["result"]) == (code, result)
