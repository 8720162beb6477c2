"""`webstrata status` lists the sources of which links were left out, with the reason."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Call, LocalServer, call_process
from webstrata.cli.pages.left_out import left_out_json, left_out_lines
from webstrata.records import Site, SiteFind


def test_left_out_links_are_listed(home: Path, server: LocalServer, call: Call) -> None:
    """A site at its limit: in the log of the crawl, in the text of `status`, and in its JSON."""
    links = "".join(f'<a href="/p{n}">p{n}</a>' for n in range(20))
    server.pages["/"] = ("text/html", links.encode())
    for n in range(20):
        server.pages[f"/p{n}"] = ("text/html", b"<p>A page.")
    call("--home", home, "watch", "--site", server.url(), "--max-pages", "8", **server.settings)
    assert call("--home", home, "status", "--json").json["left_out"] == []
    crawled = call_process("--home", home, "crawl", **server.settings)
    assert f"14 links of {server.url()} are not watched: the site has its 8 pages." in crawled.err
    (left,) = call("--home", home, "status", "--json").json["left_out"]
    assert (left["source"], left["found"], left["left_out"], left["bound"]) == (server.url(), 6, 14, "limit")
    text = call("--home", home, "status").text
    assert f"left out   14 links of {server.url()}: the site has its 8 pages. Raise --max-pages" in text


@pytest.mark.parametrize(("sources", "lines"), [(0, 0), (5, 5), (9, 6)])
def test_only_the_largest_are_shown(sources: int, lines: int) -> None:
    """The others are counted; sites that are not watched any more are left away."""
    site = Site(id=1, url="http://a.test/")
    finds = [SiteFind(site_id=1, kind="source", name=f"s{n}", left_out=n + 1, why="path") for n in range(sources)]
    gone = SiteFind(site_id=2, kind="source", name="x", left_out=99, why="path")
    left_out = left_out_json([*finds, gone], [site])
    assert [one["left_out"] for one in left_out] == list(range(sources, 0, -1))
    shown = left_out_lines(left_out)
    assert len(shown) == lines
    assert not shown or shown[0].startswith(
        f"{sources} links of s{sources - 1}: of pages that differ only in the query"
    )
