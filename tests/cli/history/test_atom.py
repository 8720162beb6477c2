"""`webstrata changes --format atom`: the feed is valid Atom 1.0, and its entries keep their ids."""

from __future__ import annotations

import re
from html import unescape
from pathlib import Path

import pytest
from lxml import etree

from tests.cli.conftest import ALWAYS_DUE, Call, Hostile, LocalServer
from webstrata.clock import parse_instant
from webstrata.observe.data.feed import parse_feed

ATOM = "{http://www.w3.org/2005/Atom}"
TAG_URI = re.compile(r"tag:[a-z0-9.-]+,\d{4}(-\d\d(-\d\d)?)?:[A-Za-z0-9:._-]+")
EVER = ("--since", "2000")


def _checked(feed: bytes) -> etree._Element:
    """The root of a feed that keeps the rules of RFC 4287, sections 4.1.1 and 4.1.2."""
    root = etree.fromstring(feed)
    assert root.tag == f"{ATOM}feed"
    for element in (root, *root.findall(f"{ATOM}entry")):
        for name in ("id", "title", "updated"):
            assert len(element.findall(f"{ATOM}{name}")) == 1, name
        assert TAG_URI.fullmatch(element.findtext(f"{ATOM}id") or "")
        assert parse_instant(element.findtext(f"{ATOM}updated") or "") > 0
    assert root.findtext(f"{ATOM}author/{ATOM}name")
    for entry in root.findall(f"{ATOM}entry"):
        (link,) = entry.findall(f"{ATOM}link")
        assert link.get("rel") == "alternate"
        (content,) = entry.findall(f"{ATOM}content")
        assert content.get("type") == "html"
        assert len(content) == 0
    ids = [entry.findtext(f"{ATOM}id") for entry in root.findall(f"{ATOM}entry")]
    assert len(set(ids)) == len(ids)
    return root


@pytest.fixture
def grown(home: Path, server: LocalServer, call: Call) -> Path:
    """A home with a page that changed once; its title has markup and a control character."""
    call("--home", home, "watch", server.url("/?a=1&b=<2>"), "--tag", "x & y")
    for word in ("one", "two"):
        server.pages["/?a=1&b=%3C2%3E"] = (
            "text/html; charset=utf-8",
            f"<title>A &lt;b&gt; \x0b &amp; c</title><main><p>The word is {word} &lt;script&gt;.</p></main>".encode(),
        )
        call("--home", home, "crawl", "--quiet", **server.settings, **ALWAYS_DUE)
    return home


def test_feed(grown: Path, server: LocalServer, call: Call) -> None:
    """The feed is valid, links to the page, and its content has the difference as escaped HTML."""
    root = _checked(call("--home", grown, "changes", "--format", "atom").out)
    (entry,) = root.findall(f"{ATOM}entry")
    assert entry.find(f"{ATOM}link").get("href") == server.url("/?a=1&b=%3C2%3E")
    assert entry.find(f"{ATOM}category").get("term") == "x & y"
    assert root.findtext(f"{ATOM}updated") == entry.findtext(f"{ATOM}updated")
    assert (entry.findtext(f"{ATOM}title") or "").startswith("A <b>")
    content = entry.findtext(f"{ATOM}content") or ""
    assert "The word is <del>one</del><ins>two</ins> &lt;script&gt;." in content
    assert "<script>" not in content
    assert "<script>" in unescape(content)


def test_own_parser(grown: Path, call: Call) -> None:
    """The feed can be watched: the parser of feeds finds the entry with its id and time."""
    feed = call("--home", grown, "changes", "--format", "atom").out
    (entry,) = parse_feed(feed, None, "http://x.example/feed").entries
    found = call("--home", grown, "changes", "--json").json["changes"][0]
    assert entry.id.startswith("tag:127.0.0.1,")
    assert entry.updated_at == pytest.approx(parse_instant(found["at"]), abs=1)


def test_stable_ids(grown: Path, tmp_path: Path, call: Call) -> None:
    """Feed and entries have the same ids whenever they are written; another selection is another feed."""
    out = tmp_path / "feed.xml"
    ids = []
    for since in ("1d", "2d"):
        assert call("--home", grown, "changes", "--format", "atom", "--out", out, "--since", since).code == 0
        ids.append(re.findall(r"<id>(.*?)</id>", out.read_text()))
    assert ids[0] == ids[1]
    other = call("--home", grown, "changes", "--format", "atom", "--tag", "x & y").text
    assert re.findall(r"<id>(.*?)</id>", other)[1:] == ids[0][1:]
    assert re.findall(r"<id>(.*?)</id>", other)[0] != ids[0][0]


def test_empty(home: Path, call: Call) -> None:
    """A feed without a change is valid too."""
    root = _checked(call("--home", home, "changes", "--format", "atom").out)
    assert root.findall(f"{ATOM}entry") == []


def test_hostile(hostile: Hostile, call: Call) -> None:
    """Pages with markup and control characters give a valid feed without scripts."""
    root = _checked(call("--home", hostile.home, "changes", "--format", "atom", *EVER).out)
    contents = [entry.findtext(f"{ATOM}content") or "" for entry in root.findall(f"{ATOM}entry")]
    assert len(contents) == 2
    assert all("<script" not in content for content in contents)
