"""`webstrata coherence` for archive files and for the home's own visits."""

from __future__ import annotations

from pathlib import Path

from tests.archive.conftest import write_family
from tests.cli.conftest import Call, Demo


def test_archive_files(call: Call, tmp_path: Path) -> None:
    """A page captured three times with equal content is proved for that span, one captured once only at that time."""
    home, _ = write_family(tmp_path)

    told = call("coherence", home.warc, "--json").json
    standings = {row["url"]: row["standing"] for row in told["standings"]}
    assert standings == {"http://example.com/a": "proved", "http://example.com/b?y=2&x=1": "proved"}
    assert told["spread_s"] == 7200.0
    later = call("coherence", home.warc, "--at", "2026-09-21T15:00:00Z", "--json").json
    assert {row["url"]: row["standing"] for row in later["standings"]}["http://example.com/b?y=2&x=1"] == "open"
    assert later["revisit"] == ["http://example.com/b?y=2&x=1"]


def test_own_visits(call: Call, demo: Demo) -> None:
    """Most pages of a demo site coexisted, by its ordinary visits."""
    told = call("--home", demo.home, "coherence", "--store", "boost.test", "--json").json
    assert told["pages"] > 10
    assert 0 < told["proved"] <= told["pages"]
    assert told["instant"]["from"] <= told["instant"]["to"]
    shown = call("--home", demo.home, "coherence", "--store", "boost.test").text
    assert f"{told['proved']} of {told['pages']} provably coexisted" in shown


def test_bad_input(call: Call, demo: Demo, tmp_path: Path) -> None:
    """Missing arguments, missing files and unknown hosts give one sentence each."""
    for words, said in (
        (("coherence",), "--store"),
        (("coherence", tmp_path / "no.warc.gz"), "no file"),
        (("coherence", Path(__file__)), "no archive"),
        (("--home", demo.home, "coherence", "--store", "nowhere.test"), "nothing of nowhere.test"),
    ):
        told = call(*words)
        assert told.code in (1, 2), words
        assert said in told.err
