"""`webstrata diff`: versions by their times, and malicious pages."""

from __future__ import annotations

from html.parser import HTMLParser
from pathlib import Path

import pytest

from tests.cli.conftest import Call, Demo, Hostile, LocalServer

PAGE = "http://llvm.test/"


class Elements(HTMLParser):
    """The names of all elements and attributes of a page."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}


@pytest.mark.parametrize("layer", [(), ("--raw",)])
def test_html(layer: tuple[str, ...], hostile: Hostile, tmp_path: Path, call: Call) -> None:
    """The HTML page runs and loads nothing, even if the captured text and URL contain markup."""
    home, url = hostile.home, hostile.markup
    out = tmp_path / "diff.html"

    result = call("--home", home, "diff", url, "--html", "-o", out, *layer)

    page = out.read_text()
    assert (result.code, result.text) == (0, "")
    assert page.startswith("<!doctype html>")
    assert call("--home", home, "diff", url, "--html", *layer).text.strip() == page.strip()
    found = Elements(page)
    assert not found.tags & {"script", "link", "img", "iframe", "object", "embed", "a", "form", "svg"}
    assert not found.attributes & {"src", "href", "onclick", "style", "srcset", "action"}
    assert "two" in page
    assert "url(" not in page
    assert "default-src 'none'" in page


def test_text_and_source(hostile: Hostile, call: Call) -> None:
    """Without --raw the useful text is compared, with --raw the source."""
    home, url = hostile.home, hostile.markup

    text = call("--home", home, "diff", url).text
    source = call("--home", home, "diff", url, "--raw").text

    assert "+<script>alert('two')</script>" in text
    assert "onclick" not in text
    assert "&lt;script&gt;alert('two')" in source
    assert "tab\there" in source


def test_json(hostile: Hostile, call: Call) -> None:
    """The JSON document has both times, the layer and the lines."""
    home, url = hostile.home, hostile.markup

    result = call("--home", home, "diff", url, "--json").json

    assert result.keys() >= {"url", "from", "to", "layer", "diff"}
    assert result["layer"] == "text"
    assert result["from"] < result["to"]
    assert "+<script>alert('two')</script>" in result["diff"]


def test_between_times(demo: Demo, call: Call) -> None:
    """--from and --to choose the versions at these times; equal versions have no difference."""
    log = call("--home", demo.home, "log", PAGE, "--json").json["visits"]
    first, last = log[-1]["at"], log[0]["at"]

    wide = call("--home", demo.home, "diff", PAGE, "--from", first, "--to", last, "--json").json
    none = call("--home", demo.home, "diff", PAGE, "--from", first, "--to", first)

    assert (wide["from"], wide["to"]) == (first, last)
    assert any(line.startswith("+") for line in wide["diff"])
    assert none.text == "No difference.\n"


def test_only_one_version(home: Path, server: LocalServer, call: Call) -> None:
    """A page with one version cannot be compared, and a page without a version cannot be printed."""
    call("--home", home, "watch", server.url(), server.url("/never"))
    server.pages["/"] = ("text/html", b"<p>one")
    unseen = call("--home", home, "cat", server.url("/never"))
    call("--home", home, "crawl", **server.settings)

    result = call("--home", home, "diff", server.url())

    assert (result.code, result.text) == (2, "")
    assert "nothing to compare" in result.err
    assert unseen.code == 2
    assert "no content of" in unseen.err
