"""`webstrata diff` and `cat`: versions by their times, and pages that mean harm."""

from __future__ import annotations

import hashlib
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from tests.cli.conftest import Call, Demo, Hostile, Town

PAGE = "http://llvm.test/"


class Elements(HTMLParser):
    """Every element and attribute that a browser would see."""

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
    """The HTML is one page that runs and loads nothing, whatever the captured text and address hold."""
    home, url = hostile.home, hostile.markup
    out = tmp_path / "diff.html"

    told = call("--home", home, "diff", url, "--html", "-o", out, *layer)

    page = out.read_text()
    assert (told.code, told.text) == (0, "")
    assert page.startswith("<!doctype html>")
    assert call("--home", home, "diff", url, "--html", *layer).text.strip() == page.strip()
    found = Elements(page)
    assert not found.tags & {"script", "link", "img", "iframe", "object", "embed", "a", "form", "svg"}
    assert not found.attributes & {"src", "href", "onclick", "style", "srcset", "action"}
    assert "two" in page
    assert "url(" not in page
    assert "default-src 'none'" in page


def test_text_and_source(hostile: Hostile, call: Call) -> None:
    """Without --raw the useful text is compared, with it the source, tabs and all."""
    home, url = hostile.home, hostile.markup

    text = call("--home", home, "diff", url).text
    source = call("--home", home, "diff", url, "--raw").text

    assert "+<script>alert('two')</script>" in text
    assert "onclick" not in text
    assert "&lt;script&gt;alert('two')" in source
    assert "tab\there" in source


def test_json(hostile: Hostile, call: Call) -> None:
    """The JSON names both times and the layer, and holds the lines."""
    home, url = hostile.home, hostile.markup

    told = call("--home", home, "diff", url, "--json").json

    assert told.keys() >= {"url", "from", "to", "layer", "diff"}
    assert told["layer"] == "text"
    assert told["from"] < told["to"]
    assert "+<script>alert('two')</script>" in told["diff"]


def test_between_times(demo: Demo, call: Call) -> None:
    """--from and --to choose the versions as of those times; between equal versions there is no difference."""
    log = call("--home", demo.home, "log", PAGE, "--json").json["visits"]
    first, last = log[-1]["at"], log[0]["at"]

    wide = call("--home", demo.home, "diff", PAGE, "--from", first, "--to", last, "--json").json
    none = call("--home", demo.home, "diff", PAGE, "--from", first, "--to", first)

    assert (wide["from"], wide["to"]) == (first, last)
    assert any(line.startswith("+") for line in wide["diff"])
    assert none.text == "No difference.\n"


def test_only_one_version(home: Path, town: Town, call: Call) -> None:
    """A page seen once has nothing to compare, and one never seen nothing to show."""
    call("--home", home, "watch", town.url(), town.url("/never"))
    town.pages["/"] = ("text/html", b"<p>one")
    unseen = call("--home", home, "cat", town.url("/never"))
    call("--home", home, "crawl", **town.settings)

    told = call("--home", home, "diff", town.url())

    assert (told.code, told.text) == (2, "")
    assert "nothing to compare" in told.err
    assert unseen.code == 2
    assert "no content of" in unseen.err


def test_cat_at(demo: Demo, call: Call) -> None:
    """`cat --at` prints the version of that time, whose bytes have the digest in the log, content coding removed."""
    visits = call("--home", demo.home, "log", PAGE, "--json").json["visits"]
    assert len({visit["raw"] for visit in visits}) > 1

    for visit in visits:
        body = call("--home", demo.home, "cat", PAGE, "--at", visit["at"]).out
        assert hashlib.sha256(body).hexdigest() == visit["raw"]
    assert call("--home", demo.home, "cat", PAGE).out == call("--home", demo.home, "cat", PAGE, "--at", "2030").out


def test_cat_headers(demo: Demo, call: Call) -> None:
    """`cat --headers` prints the status and the headers as they were archived."""
    lines = call("--home", demo.home, "cat", PAGE, "--headers").text.splitlines()

    assert lines[0] == "status: 200"
    assert any(line.startswith("content-type: text/html") for line in lines)
    assert all(re.match(r"[\w-]+: ", line) for line in lines)
