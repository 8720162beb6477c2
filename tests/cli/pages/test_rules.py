"""`webstrata rules`, and the same options of `watch`: rules are stored, shown, applied and removed."""

from __future__ import annotations

from pathlib import Path

from tests.cli.conftest import ALWAYS_DUE, Call, LocalServer

PAGE = "<title>Rates</title><main><p class=ad>Buy {0} now</p><p>The rate is {1}.</p><p>So it has been.</p></main>"


def versions(home: Path, server: LocalServer, call: Call, *bodies: str) -> list[str]:
    """Serve and crawl one version after the other; returns the outcomes, oldest first."""
    for body in bodies:
        server.pages["/"] = ("text/html", body.encode())
        assert call("--home", home, "crawl", "--quiet", **server.settings, **ALWAYS_DUE).code == 0
    visits = call("--home", home, "log", server.url(), "--json").json["visits"]
    return [visit["outcome"] for visit in reversed(visits)]


def test_rules_of_a_page(home: Path, server: LocalServer, call: Call) -> None:
    """What `watch --ignore` selects is not compared; `rules` shows the rules, `--clear` removes them."""
    call("--home", home, "watch", server.url(), "--ignore", "css:.ad")

    assert versions(home, server, call, PAGE.format(1, 1), PAGE.format(2, 1), PAGE.format(3, 2)) == [
        "new",
        "same",
        "changed",
    ]
    shown = call("--home", home, "diff", server.url()).text
    assert "+The rate is 2." in shown
    assert "Buy" not in shown
    assert "Buy" in call("--home", home, "diff", server.url(), "--raw").text
    held = call("--home", home, "rules", server.url(), "--json").json
    assert held == {"url": server.url(), "tag": None, "rules": {"ignore": ["css:.ad"]}}
    shown = call("--home", home, "rules", server.url()).text
    assert shown == f"webstrata rules {server.url()} --home {home} --clear --ignore css:.ad\n"
    assert call("--home", home, "rules", server.url(), "--clear", "--json").json["rules"] == {}
    assert "defaults" in call("--home", home, "rules", server.url()).text
    assert versions(home, server, call, PAGE.format(4, 2))[-1] == "changed"


def test_rules_of_a_tag(home: Path, server: LocalServer, call: Call) -> None:
    """`rules --tag` applies to all pages with the tag that have no rules of their own."""
    call("--home", home, "watch", server.url(), "--tag", "rates")
    call("--home", home, "rules", "--tag", "rates", "--select", "xpath://p[2]")

    assert versions(home, server, call, PAGE.format(1, 1), PAGE.format(2, 1), PAGE.format(2, 2)) == [
        "new",
        "same",
        "changed",
    ]
    held = call("--home", home, "rules", "--tag", "rates", "--json").json
    assert held["rules"] == {"include": ["xpath://p[2]"]}
    call("--home", home, "rules", "--tag", "rates", "--clear")
    assert call("--home", home, "rules", "--tag", "rates", "--json").json["rules"] == {}


def test_attributes(home: Path, server: LocalServer, call: Call) -> None:
    """Kinds of attributes are added up; a kind that counts again is no longer ignored, and the reverse."""
    call("--home", home, "watch", server.url(), "--attributes", "image, Label", "--ignore-attributes", "product")

    def rules(*options: str) -> dict[str, list[str]]:
        held: dict[str, list[str]] = call("--home", home, "rules", server.url(), *options, "--json").json["rules"]
        return held

    assert rules() == {"attributes": ["image", "label"], "ignore_attributes": ["product"]}
    assert rules("--attributes", "product,form") == {"attributes": ["image", "label", "product", "form"]}
    changed = rules("--ignore-attributes", "image", "--ignore-attributes", "title")
    assert changed == {"attributes": ["label", "product", "form"], "ignore_attributes": ["image", "title"]}
    shown = call("--home", home, "rules", server.url()).text
    assert "--attributes label --attributes product --attributes form --ignore-attributes image" in shown
    refused = call("--home", home, "rules", server.url(), "--attributes", "colour")
    assert refused.code == 2
    assert "title, canonical, robots, product, description, image, label, form, structured" in refused.err.replace(
        "\n", " "
    )
    assert rules() == changed


def test_refused_rules_change_nothing(home: Path, server: LocalServer, call: Call) -> None:
    """A page with an invalid rule is not watched, and an invalid rule does not replace the rules of a page."""
    refused = call("--home", home, "watch", server.url(), "--ignore", "css:p[", "--json")
    assert (refused.code, refused.text) == (2, "")
    assert call("--home", home, "list", "--json").json["pages"] == []
    call("--home", home, "watch", server.url(), "--layer", "raw")
    assert call("--home", home, "rules", server.url(), "--ignore-text", "(a+)+$(").code == 2
    assert call("--home", home, "rules", server.url(), "--json").json["rules"] == {"layer": "raw"}


def test_slow_expressions_are_harmless(home: Path, server: LocalServer, call: Call) -> None:
    """A regular expression with catastrophic backtracking elsewhere is evaluated in linear time."""
    call("--home", home, "watch", server.url(), "--ignore-text", "(a+)+$")

    assert versions(home, server, call, f"<p>{'a' * 50_000}!</p>") == ["new"]


def test_graphs_of_an_endpoint(home: Path, call: Call) -> None:
    """`--graph` implies the handler sparql; names that are not IRIs, and a combination with a query, are refused."""
    url, graph = "http://a.example/sparql", "http://a.example/graph"
    refused = [("--graph", "no iri"), ("--graph", "x:>"), ("--graph", graph, "--query", "ASK {}")]
    for words in refused:
        assert call("--home", home, "watch", url, *words).code == 2
    assert call("--home", home, "rules", url, "--json").code != 0, "no page is watched yet"
    call("--home", home, "watch", url, "--graph", graph, "--graph", "default", "--page-rows", "50")

    held = call("--home", home, "rules", url, "--json").json["rules"]
    assert held == {"handler": "sparql", "graphs": [graph, "default"], "page_rows": 50}
    held = call("--home", home, "rules", url, "--graph", "all", "--json").json["rules"]
    assert held == {"handler": "sparql", "graphs": ["all"], "page_rows": 50}
    held = call("--home", home, "rules", url, "--clear", "--graph", "default", "--json").json["rules"]
    assert held == {"handler": "sparql", "graphs": ["default"]}
    assert call("--home", home, "rules", url, "--graph", "all", "--handler", "rdf").code == 2


def test_rules_add_up(home: Path, call: Call) -> None:
    """Selectors and expressions are added to those that are set; --clear begins anew."""
    url = "http://a.example/"
    call("--home", home, "watch", url)
    for options in (("--select", "css:main"), ("--ignore", "css:.ad"), ("--ignore", "css:.clock", "--unordered")):
        held = call("--home", home, "rules", url, *options, "--json").json["rules"]
    assert held == {"include": ["css:main"], "ignore": ["css:.ad", "css:.clock"], "unordered": True}
    assert call("--home", home, "rules", url, "--ordered", "--json").json["rules"] == {
        "include": ["css:main"],
        "ignore": ["css:.ad", "css:.clock"],
        "ordered": True,
    }
    held = call("--home", home, "rules", url, "--clear", "--ignore", "css:.ad", "--json").json["rules"]
    assert held == {"ignore": ["css:.ad"]}
    call("--home", home, "rules", "--tag", "t", "--create", "--select", "css:main")
    held = call("--home", home, "rules", "--tag", "t", "--ignore", "css:.ad", "--json").json["rules"]
    assert held == {"include": ["css:main"], "ignore": ["css:.ad"]}


def test_too_many_rules(home: Path, call: Call) -> None:
    """Rules that are added do not exceed the limit of a page."""
    url = "http://a.example/"
    call("--home", home, "watch", url)
    for first in (0, 30):
        words = [word for number in range(first, first + 30) for word in ("--ignore", f"css:.c{number}")]
        result = call("--home", home, "rules", url, *words)
    assert (result.code, "a page can have at most 50 rules" in result.err) == (2, True)
    assert len(call("--home", home, "rules", url, "--json").json["rules"]["ignore"]) == 30


def test_new_rules_are_no_change(home: Path, server: LocalServer, call: Call) -> None:
    """After `rules --ignore` a page that is unchanged, or changed only there, is the same; elsewhere it changed."""
    call("--home", home, "watch", server.url())
    first = PAGE.format(1, 1)
    assert versions(home, server, call, PAGE.format(0, 1), first) == ["new", "changed"]
    call("--home", home, "rules", server.url(), "--ignore", "css:.ad")
    assert versions(home, server, call, first, PAGE.format(2, 1), PAGE.format(3, 2))[2:] == ["same", "same", "changed"]
    lines = call("--home", home, "diff", server.url()).text.splitlines()
    assert [line for line in lines if line[:1] in "+-" and line[:3] not in ("---", "+++")] == [
        "-The rate is 1.",
        "+The rate is 2.",
    ]
    call("--home", home, "rules", server.url(), "--clear")
    assert versions(home, server, call, PAGE.format(4, 2))[-1] == "changed"
    call("--home", home, "rules", server.url(), "--ignore", "css:.ad")
    assert versions(home, server, call, PAGE.format(5, 3))[-1] == "changed", "at the first visit after the edit"
