"""Signals of a sitemap and its reliability, as `why`, `status` and `list` show them."""

from __future__ import annotations

from pathlib import Path

from tests.cli.conftest import ALWAYS_DUE, Call, LocalServer
from webstrata.clock import iso

START_AT = 1_700_000_000.0


def test_signals_are_shown(home: Path, server: LocalServer, call: Call) -> None:
    """`why`, `status` and `list` show what a sitemap announces about a page, and how reliable it is."""
    page, listed = server.url("/page"), server.url("/sitemap.xml")

    def crawl(version: int) -> None:
        rows = f"<url><loc>{page}</loc><lastmod>{iso(START_AT + version)}</lastmod></url>"
        server.pages["/sitemap.xml"] = ("application/xml", f"<urlset>{rows}</urlset>".encode())
        server.pages["/page"] = ("text/html", f"<main><p>Version {'abcdef'[version]}</p></main>".encode())
        assert call("--home", home, "crawl", "--quiet", **server.settings, **ALWAYS_DUE).code == 0

    call("--home", home, "watch", page)
    call("--home", home, "watch", listed, "--handler", "sitemap")
    assert call("--home", home, "why", page, "--json").json["signals"] == []
    for version in range(3):
        crawl(version)

    result = call("--home", home, "why", page, "--json").json
    (signal,) = result["signals"]
    assert (signal["source"], signal["kind"], signal["says"]) == (listed, "sitemap-lastmod", iso(START_AT + 2))
    assert (signal["trusted"], signal["news"], result["as_source"]) == (False, 0, None)
    assert result["last_change"]["kind"] == "content"
    assert result["last_change"]["reasons"]
    text = call("--home", home, "why", page).text
    assert f"{listed}: change at 2023-11-14 22:13:22, not new since the last visit; not trusted" in text
    assert "as a source of signals it is not trusted" in call("--home", home, "why", listed).text
    assert call("--home", home, "status", "--json").json["sources"] == {"lists": 1, "trusted": 0}
    assert "signals    1 source (feeds and sitemaps), 0 of them trusted" in call("--home", home, "status").text
    trust = {one["url"]: one["as_source"] for one in call("--home", home, "list", "--json").json["pages"]}
    assert trust[page] is None
    assert trust[listed]["reads"] == 3
