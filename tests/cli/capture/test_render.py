"""`capture --render`: pages are judged as browsers show them, with everything that they load."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Call, LocalServer
from webstrata.archive.wacz.reader import WaczReader
from webstrata.fetch.handlers.browser import find_chromium, missing_software
from webstrata.verifier.verify_capture import check

needs_chromium = pytest.mark.skipif(bool(missing_software(find_chromium())), reason="no Chromium or no Playwright")

SHELL = (
    "<!doctype html><title>board</title><main id=app></main>"
    "<script src=/app.js></script><img src=/logo.png alt=logo><a href=/second>second</a>"
)
WORDS = "What the readers of this page see is loaded by a script after the page itself. " * 2
APP = (
    'fetch("/data.json").then(r => r.json()).then(d => { document.getElementById("app").innerHTML = '
    '"<p>" + d.words + "</p><span data-nonce=" + Math.random() + "></span>" })'
)


def captured(home: Path, server: LocalServer, call: Call, *options: str) -> dict[str, Any]:
    result = call(
        *("--home", home, "capture", server.url(), "--sharp", "--delay", "0.01s", "--json", "--quiet", *options),
        **server.settings,
    )
    (one,) = result.json["captures"]
    first, second = call("certificate", "verify", one["file"], "--json").json, check(one["file"])[0]
    assert (first["failures"], second["failures"]) == ([], []), "both verifiers accept the capture"
    with WaczReader(Path(one["file"])) as package:
        document: dict[str, Any] = json.loads(package.certificate() or b"")
    return document


class ChangingPages(dict[str, tuple[str, bytes]]):
    """Pages of which one file is different at each request."""

    def __init__(self, changing: str) -> None:
        self.changing = changing
        self.requests = 0

    def get(self, path: str, default: Any = None) -> Any:
        found = super().get(path, default)
        if path == self.changing and found:
            self.requests += 1
            return found[0], found[1] + f"<!-- {self.requests} -->".encode()
        return found


@needs_chromium
def test_a_page_that_scripts_fill_is_judged_with_all_that_it_loads(home: Path, server: LocalServer, call: Call) -> None:
    """The DOM is compared; each file that the browser loaded before and after the instant has its own window."""
    server.pages["/"] = ("text/html; charset=utf-8", SHELL.encode())
    server.pages["/app.js"] = ("text/javascript", APP.encode())
    server.pages["/data.json"] = ("application/json", json.dumps({"words": WORDS}).encode())
    server.pages["/second"] = ("text/html; charset=utf-8", SHELL.replace("board", "second").encode())
    certificate = captured(home, server, call, "--render")
    pages = {page["url"]: page for page in certificate["pages"]}
    first, second = pages[server.url()], pages[server.url("/second")]
    assert certificate["policy"]["rendered"]
    assert {first["verdict"], second["verdict"]} == {"sharp"}
    twice = first if first["revisit"] is not None else second
    assert twice["equal"]["visible_text"]
    assert not twice["equal"]["raw"], "the DOM has a random number"
    assert not twice["script_shell"], "scripts have loaded its content"
    assert all(seen["rendered"] and seen["view"] for seen in twice["observations"])
    assert {server.url("/app.js"), server.url("/data.json")} <= set(twice["parts"])
    requisites = {entry["url"]: entry for entry in certificate["requisites"]}
    assert requisites[server.url("/data.json")]["verdict"] == "sharp"
    assert len(requisites[server.url("/data.json")]["observations"]) >= 2
    assert twice["composite"]["verdict"] == "coherent", "the picture was absent before and after the instant"


@needs_chromium
def test_the_parts_that_contradict_the_instant_are_named(home: Path, server: LocalServer, call: Call) -> None:
    """A picture that is different at each request does not change the page's text; the page as a whole is violative."""
    server.pages = ChangingPages("/logo.svg")
    page = "<!doctype html><title>p</title><p>text</p><img src=/logo.svg alt=logo><a href=/second>second</a>"
    server.pages["/"] = ("text/html; charset=utf-8", page.encode())
    server.pages["/second"] = ("text/html; charset=utf-8", page.replace("second", "").encode())
    server.pages["/logo.svg"] = ("image/svg+xml", b"<svg xmlns='http://www.w3.org/2000/svg'/>")
    certificate = captured(home, server, call, "--render")
    first = next(page for page in certificate["pages"] if page["revisit"] is not None)
    assert first["verdict"] == "sharp"
    assert first["composite"] == {"verdict": "violative", "contradicting": [server.url("/logo.svg")], "unknown": []}
    assert certificate["counts"]["composite"]["violative"] == 2


def test_without_a_browser_no_request_is_sent(home: Path, server: LocalServer, call: Call) -> None:
    """`--render` says what to install before anything is captured."""
    result = call(
        *("--home", home, "capture", server.url(), "--render", "--json"),
        PATH="/nowhere",
        **server.settings,
    )
    assert result.code == 2
    assert "chromium" in result.err
    assert not list((home / "captures").glob("*"))
