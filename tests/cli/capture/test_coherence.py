"""`webstrata coherence` for archive files and for the home's own visits."""

from __future__ import annotations

from pathlib import Path

from tests.archive.conftest import write_family
from tests.cli.conftest import Call, Demo


def test_archive_files(call: Call, tmp_path: Path) -> None:
    """A page captured three times with equal content is proved for that span, one captured once only at that time."""
    home, _ = write_family(tmp_path)

    result = call("coherence", home.warc, "--json").json
    standings = {row["url"]: row["standing"] for row in result["standings"]}
    assert standings == {"http://example.com/a": "proved", "http://example.com/b?y=2&x=1": "proved"}
    assert result["spread_s"] == 7200.0
    later = call("coherence", home.warc, "--at", "2026-09-21T15:00:00Z", "--json").json
    assert {row["url"]: row["standing"] for row in later["standings"]}["http://example.com/b?y=2&x=1"] == "open"
    assert later["revisit"] == ["http://example.com/b?y=2&x=1"]


def test_own_visits(call: Call, demo: Demo) -> None:
    """Most pages of a demo site coexisted, by its ordinary visits."""
    result = call("--home", demo.home, "coherence", "--store", "boost.test", "--json").json
    assert result["pages"] > 10
    assert 0 < result["proved"] <= result["pages"]
    assert result["instant"]["from"] <= result["instant"]["to"]
    shown = call("--home", demo.home, "coherence", "--store", "boost.test").text
    assert f"{result['proved']} of {result['pages']} provably coexisted" in shown


def test_bad_input(call: Call, demo: Demo, tmp_path: Path) -> None:
    """Missing arguments, missing files and unknown hosts give one sentence each."""
    for words, said in (
        (("coherence",), "--store"),
        (("coherence", tmp_path / "no.warc.gz"), "no file"),
        (("coherence", Path(__file__)), "not a supported archive file"),
        (("--home", demo.home, "coherence", "--store", "nowhere.test"), "no page of nowhere.test"),
    ):
        result = call(*words)
        assert result.code in (1, 2), words
        assert said in result.err
