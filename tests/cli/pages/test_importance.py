"""`webstrata importance`: the pages of the link graph."""

from __future__ import annotations

from pathlib import Path

from tests.cli.conftest import Call, Demo


def test_the_most_important_pages_are_shown(demo: Demo, call: Call) -> None:
    """Pages by rank, with their linking pages; `--top` and `--host` narrow what is shown, not what is computed."""
    result = call("--home", demo.home, "importance", "--top", "5", "--json").json
    ranks = [row["rank"] for row in result["rows"]]
    assert len(ranks) == 5
    assert ranks == sorted(ranks, reverse=True)
    assert ranks[0] > 1
    assert (result["pages"] > 5, result["links"] > 0, result["unknown_links"] > 0) == (True, True, True)
    assert result["rows"][0]["in_links"] > 0
    of_host = call("--home", demo.home, "importance", "--host", "llvm.test", "--json").json
    assert {row["url"].split("/")[2].partition(":")[0] for row in of_host["rows"]} == {"llvm.test"}
    assert of_host["pages"] == result["pages"]


def test_text(demo: Demo, call: Call) -> None:
    """The text names the size of the graph, then the pages."""
    lines = call("--home", demo.home, "importance", "--top", "1").text.splitlines()
    assert "links between them" in lines[0]
    assert lines[1].split() == ["rank", "in-links", "depth", "page"]
    assert len(lines) == 3


def test_no_pages_and_unknown_hosts(home: Path, call: Call) -> None:
    """A home without pages has no important ones; an unknown host is nothing found."""
    assert call("--home", home, "importance", "--json").json == {
        "pages": 0, "links": 0, "unknown_links": 0, "rows": []
    }  # fmt: skip
    assert call("--home", home, "importance", "--host", "no.example").code == 1
