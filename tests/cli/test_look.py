"""`webstrata rules`, and the same options of `watch`: wishes of pages and tags, kept, shown, used and taken back."""

from __future__ import annotations

from pathlib import Path

from tests.cli.conftest import RESTLESS, Call, Town

PAGE = "<title>Rates</title><main><p class=ad>Buy {0} now</p><p>The rate is {1}.</p><p>So it has been.</p></main>"


def versions(home: Path, town: Town, call: Call, *bodies: str) -> list[str]:
    """Serve and crawl one version after the other; the outcomes, oldest first."""
    for body in bodies:
        town.pages["/"] = ("text/html", body.encode())
        assert call("--home", home, "crawl", "--quiet", **town.settings, **RESTLESS).code == 0
    visits = call("--home", home, "log", town.url(), "--json").json["visits"]
    return [visit["outcome"] for visit in reversed(visits)]


def test_rules_of_a_page(home: Path, town: Town, call: Call) -> None:
    """What `watch --ignore` leaves out neither counts nor shows; `rules` shows the wish, `--clear` takes it back."""
    call("--home", home, "watch", town.url(), "--ignore", "css:.ad")

    assert versions(home, town, call, PAGE.format(1, 1), PAGE.format(2, 1), PAGE.format(3, 2)) == [
        "new",
        "same",
        "changed",
    ]
    shown = call("--home", home, "diff", town.url()).text
    assert "+The rate is 2." in shown
    assert "Buy" not in shown
    assert "Buy" in call("--home", home, "diff", town.url(), "--raw").text
    held = call("--home", home, "rules", town.url(), "--json").json
    assert held == {"url": town.url(), "tag": None, "rules": {"ignore": ["css:.ad"]}}
    assert "css:.ad" in call("--home", home, "rules", town.url()).text
    assert call("--home", home, "rules", town.url(), "--clear", "--json").json["rules"] == {}
    assert "defaults" in call("--home", home, "rules", town.url()).text
    assert versions(home, town, call, PAGE.format(4, 2))[-1] == "changed"


def test_rules_of_a_tag(home: Path, town: Town, call: Call) -> None:
    """`look --tag` holds for all pages of the tag that have no wish of their own."""
    call("--home", home, "watch", town.url(), "--tag", "rates")
    call("--home", home, "rules", "--tag", "rates", "--select", "xpath://p[2]")

    assert versions(home, town, call, PAGE.format(1, 1), PAGE.format(2, 1), PAGE.format(2, 2)) == [
        "new",
        "same",
        "changed",
    ]
    held = call("--home", home, "rules", "--tag", "rates", "--json").json
    assert held["rules"] == {"include": ["xpath://p[2]"]}
    assert call("--home", home, "rules", "--tag", "other", "--json").json["rules"] == {}
    call("--home", home, "rules", "--tag", "rates", "--clear")
    assert call("--home", home, "rules", "--tag", "rates", "--json").json["rules"] == {}


def test_refused_rules_change_nothing(home: Path, town: Town, call: Call) -> None:
    """A page with a rule that cannot work is not watched at all, and a wish that holds stays."""
    refused = call("--home", home, "watch", town.url(), "--ignore", "css:p[", "--json")
    assert (refused.code, refused.text) == (2, "")
    assert call("--home", home, "list", "--json").json["pages"] == []
    call("--home", home, "watch", town.url(), "--layer", "raw")
    assert call("--home", home, "rules", town.url(), "--ignore-text", "(a+)+$(").code == 2
    assert call("--home", home, "rules", town.url(), "--json").json["rules"] == {"layer": "raw"}


def test_slow_expressions_are_harmless(home: Path, town: Town, call: Call) -> None:
    """An expression that would take others for ever is refused or done in no time."""
    call("--home", home, "watch", town.url(), "--ignore-text", "(a+)+$")

    assert versions(home, town, call, f"<p>{'a' * 50_000}!</p>") == ["new"]


def test_log_says_what_kind(home: Path, town: Town, call: Call) -> None:
    """The log has kind, significance and new links of each visit, in JSON and for the eye."""
    call("--home", home, "watch", town.url())
    versions(home, town, call, PAGE.format(1, 1), PAGE.format(1, "<a href=/x>2</a>"), PAGE.format(1, 3))

    visits = call("--home", home, "log", town.url(), "--json").json["visits"]

    assert [visit["kind"] for visit in visits] == ["content", "content", "new"]
    assert [visit["new_links"] for visit in visits] == [0, 1, 0]
    assert all(0 < visit["significance"] <= 1 for visit in visits[:2])
    assert "content 0." in call("--home", home, "log", town.url()).text


def test_graphs_of_an_endpoint(home: Path, call: Call) -> None:
    """`--graph` makes a page one of SPARQL and is kept; what is no graph's name, or goes with a query, is refused."""
    url, graph = "http://a.example/sparql", "http://a.example/graph"
    refused = [("--graph", "no iri"), ("--graph", "x:>"), ("--graph", graph, "--query", "ASK {}")]
    for words in refused:
        assert call("--home", home, "watch", url, *words).code == 2
    assert call("--home", home, "rules", url, "--json").code != 0, "nothing is watched yet"
    call("--home", home, "watch", url, "--graph", graph, "--graph", "default", "--page-rows", "50")

    held = call("--home", home, "rules", url, "--json").json["rules"]
    assert held == {"handler": "sparql", "graphs": [graph, "default"], "page_rows": 50}
    held = call("--home", home, "rules", url, "--graph", "all", "--json").json["rules"]
    assert held == {"handler": "sparql", "graphs": ["all"]}
    assert call("--home", home, "rules", url, "--graph", "all", "--handler", "rdf").code == 2
