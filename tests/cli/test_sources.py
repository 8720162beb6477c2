"""What lists say and how far they are trusted, as `why`, `status` and `list` show it."""

from __future__ import annotations

from pathlib import Path

from tests.cli.conftest import RESTLESS, Call, Town
from webstrata.clock import iso

START_AT = 1_700_000_000.0


def test_signals_are_shown(home: Path, town: Town, call: Call) -> None:
    """A sitemap's word on a page, the trust in it, and the same of the sitemap itself; before and after a check."""
    page, listed = town.url("/page"), town.url("/sitemap.xml")

    def crawl(version: int) -> None:
        rows = f"<url><loc>{page}</loc><lastmod>{iso(START_AT + version)}</lastmod></url>"
        town.pages["/sitemap.xml"] = ("application/xml", f"<urlset>{rows}</urlset>".encode())
        town.pages["/page"] = ("text/html", f"<main><p>Version {'abcdef'[version]}</p></main>".encode())
        assert call("--home", home, "crawl", "--quiet", **town.settings, **RESTLESS).code == 0

    call("--home", home, "watch", page)
    call("--home", home, "watch", listed, "--handler", "sitemap")
    assert call("--home", home, "why", page, "--json").json["signals"] == []
    for version in range(3):
        crawl(version)

    told = call("--home", home, "why", page, "--json").json
    (signal,) = told["signals"]
    assert (signal["source"], signal["kind"], signal["says"]) == (listed, "sitemap-lastmod", iso(START_AT + 2))
    assert (signal["trusted"], signal["news"], told["as_source"]) == (False, 0, None)
    assert told["last_change"]["kind"] == "content"
    assert told["last_change"]["reasons"]
    text = call("--home", home, "why", page).text
    assert f"{listed} says 2023-11-14 22:13:22: no news; not trusted" in text
    assert "as a source of signals it is not trusted" in call("--home", home, "why", listed).text
    assert call("--home", home, "status", "--json").json["sources"] == {"lists": 1, "trusted": 0}
    assert "signals    1 list read, 0 of them trusted" in call("--home", home, "status").text
    trust = {one["url"]: one["as_source"] for one in call("--home", home, "list", "--json").json["pages"]}
    assert trust[page] is None
    assert trust[listed]["reads"] == 3


def test_the_log_says_why(home: Path, town: Town, call: Call) -> None:
    """Reasons and significance of every visit, and that a page is back to an earlier version."""
    call("--home", home, "watch", town.url())
    for word in ("one", "two", "one"):
        town.pages["/"] = ("text/html", f"<main><p>The words are {word}.</p></main>".encode())
        call("--home", home, "crawl", "--quiet", **town.settings, **RESTLESS)

    visits = call("--home", home, "log", town.url(), "--json").json["visits"]

    assert [visit["reverted"] for visit in visits] == [True, False, False]
    assert visits[0]["reasons"][-1] == "back to an earlier version"
    assert visits[2]["reasons"] == ["seen for the first time"]
    text = call("--home", home, "log", town.url()).text
    assert "(back)" in text
    assert "of the text differs" in text
    assert "; back to an earlier version" in text
