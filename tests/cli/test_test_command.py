"""`webstrata preview`: what would be compared, and no trace of having asked."""

from __future__ import annotations

from pathlib import Path

from tests.cli.conftest import Call, Town

PAGE = b"<title>Rates</title><main><p class=ad>Buy now</p><p>The rate is 4.2.</p></main>"


def archive_of(home: Path) -> dict[str, int]:
    return {path.name: path.stat().st_size for path in (home / "archive").rglob("*") if path.is_file()}


def test_archived_version(home: Path, town: Town, call: Call) -> None:
    """The newest archived version is shown before and after the rules; nobody is asked for it."""
    town.pages["/"] = ("text/html", PAGE)
    call("--home", home, "watch", town.url())
    call("--home", home, "crawl", "--quiet", **town.settings)
    town.pages.clear()

    told = call("--home", home, "preview", town.url(), "--ignore", "css:.ad", "--json").json
    text = call("--home", home, "preview", town.url(), "--ignore", "css:.ad").text

    assert told["before"].splitlines()[-2:] == ["Buy now", "The rate is 4.2."]
    assert "Buy" not in told["after"]
    assert "The rate is 4.2." in told["after"]
    assert told["layers"][0] == "selected"
    assert (told["media_type"], told["rules"]) == ("text/html", {"ignore": ["css:.ad"]})
    assert "before the rules" in text
    assert "after the rules" in text
    assert call("--home", home, "rules", town.url(), "--json").json["rules"] == {}


def test_rules_that_hold(home: Path, town: Town, call: Call) -> None:
    """Without rules on the command line those of the page hold; a rule that matches nothing is told."""
    town.pages["/"] = ("text/html", PAGE)
    call("--home", home, "watch", town.url(), "--select", "css:.ad", "--ignore", "css:#nowhere")
    call("--home", home, "crawl", "--quiet", **town.settings)

    told = call("--home", home, "preview", town.url(), "--json").json

    assert told["after"] == "Buy now"
    assert "css:#nowhere matched nothing" in told["note"]


def test_live_leaves_no_trace(home: Path, town: Town, call: Call) -> None:
    """`--live` visits the page now and keeps nothing: no row in the log, no record in the archive, no page."""
    town.pages["/"] = ("text/html", PAGE)
    call("--home", home, "watch", town.url())
    call("--home", home, "crawl", "--quiet", **town.settings)
    before = archive_of(home), call("--home", home, "log", town.url(), "--json").json
    town.pages["/"] = ("text/html", PAGE.replace(b"4.2", b"5.1"))
    town.pages["/other"] = ("application/json", b'{"a": 1}')

    known = call("--home", home, "preview", town.url(), "--live", "--json", **town.settings)
    other = call("--home", home, "preview", town.url("/other"), "--ignore", "jsonpath:$.a", "--json", **town.settings)

    assert "The rate is 5.1." in known.json["before"]
    assert (other.code, other.json["media_type"]) == (0, "application/json")
    assert (archive_of(home), call("--home", home, "log", town.url(), "--json").json) == before
    assert len(call("--home", home, "list", "--json").json["pages"]) == 1
    assert call("--home", home, "check").code == 0


def test_live_is_polite(home: Path, town: Town, call: Call) -> None:
    """robots.txt holds for a trial too, and an answer that is none is told in a sentence."""
    town.pages["/robots.txt"] = ("text/plain", b"User-agent: *\nDisallow: /private")
    town.pages["/private"] = ("text/html", PAGE)

    told = call("--home", home, "preview", town.url("/private"), **town.settings)

    assert (told.code, told.text) == (2, "")
    assert "robots" in told.err
    gone = call("--home", home, "preview", town.url("/nowhere"), **town.settings)
    assert gone.code == 2
    assert "404" in gone.err
