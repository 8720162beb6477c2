"""`webstrata interval`: limits of pages and tags."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Call, LocalServer


def test_limits_are_set_listed_and_taken_away(seen: Path, server: LocalServer, call: Call) -> None:
    """The limit of a page has precedence over that of its tag; `why` shows the limits that apply."""
    assert call("--home", seen, "interval", "--tag", "news", "--min", "1h", "--max", "2d").code == 0
    result = call("--home", seen, "interval", server.url("/a"), "--max", "3h", "--json").json["limits"]
    assert [(one["kind"], one["max_s"]) for one in result] == [("page", 10_800.0), ("tag", 172_800.0)]
    evidence = call("--home", seen, "why", server.url("/a"), "--json").json["evidence"]
    assert (evidence["min_interval_s"], evidence["max_interval_s"]) == (600.0, 10_800.0)
    call("--home", seen, "interval", server.url("/a"), "--none")
    evidence = call("--home", seen, "why", server.url("/a"), "--json").json["evidence"]
    assert (evidence["min_interval_s"], evidence["max_interval_s"]) == (3600.0, 172_800.0)


@pytest.mark.parametrize(
    "words",
    [("http://x.example/", "--tag", "t", "--min", "1h"), ("--tag", "t"), ("--tag", "t", "--min", "2h", "--max", "1h"),
     ("--tag", "t", "--min", "0s"), ("--tag", "t", "--none", "--min", "1h"), ("--min", "1h")],
)  # fmt: skip
def test_wrong_limits_are_refused(home: Path, call: Call, words: tuple[str, ...]) -> None:
    """Missing, contradictory or invalid arguments are usage errors."""
    assert call("--home", home, "interval", *words).code == 2
