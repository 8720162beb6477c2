"""`webstrata unwatch`: watched and unknown pages."""

from __future__ import annotations

from pathlib import Path

from tests.cli.conftest import Call


def test_unwatch_names_the_unknown(home: Path, call: Call) -> None:
    """Of several pages the watched ones are paused, and the others are named in the message."""
    call("--home", home, "watch", "http://one.example/")

    result = call("--home", home, "unwatch", "http://one.example/", "http://two.example/", "--json")

    assert result.json == {"unwatched": 1, "unknown": 1}
    assert result.code == 2
    assert "not watched: http://two.example/" in result.err
