"""`webstrata boost`: boosts are shown, applied and ended."""

from __future__ import annotations

from pathlib import Path

from tests.cli.conftest import Call, LocalServer


def test_boosts_are_shown_and_end(seen: Path, server: LocalServer, call: Call) -> None:
    """`status` and `why` show a boost until it ends."""
    result = call("--home", seen, "boost", "news", "--factor", "4", "--for", "2d", "--json").json
    assert (result["pages"], result["factor"]) == (1, 4.0)
    assert "news boosted 4 times until" in call("--home", seen, "status").text
    assert call("--home", seen, "why", server.url("/a"), "--json").json["evidence"]["boost"] == 4.0
    assert call("--home", seen, "why", server.url("/b"), "--json").json["evidence"]["boost"] == 1.0
    assert "ended" in call("--home", seen, "boost", "news", "--end").text
    assert "There is no boost of news" in call("--home", seen, "boost", "news", "--end").text
    assert call("--home", seen, "status", "--json").json["budget"]["boosts"] == []
    assert call("--home", seen, "boost", "news", "--factor", "nan").code == 2
