"""`webstrata noise`: places that were learned as noise are shown with an example, and can be counted again."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from pathlib import Path

import pytest

from tests.cli.conftest import ALWAYS_DUE, Call, LocalServer

STORY = "".join(
    f"<p>Paragraph {word} of the story says what happened, at length, and nobody ever edits it.</p>"
    for word in ("Rome", "Oslo", "Lima", "Kyoto", "Dakar", "Quito")
)


@pytest.fixture
def visits(home: Path, server: LocalServer, call: Call) -> Callable[[int], list[str]]:
    """A function that visits the page n times, each time with a new visitor number; returns the outcomes."""
    numbers = count(1)
    call("--home", home, "watch", server.url())

    def visit(times: int) -> list[str]:
        for _ in range(times):
            body = f"<title>Story</title><main><p>You are visitor number {next(numbers)}.</p>{STORY}</main>"
            server.pages["/"] = ("text/html", body.encode())
            assert call("--home", home, "crawl", "--quiet", **server.settings, **ALWAYS_DUE).code == 0
        log = call("--home", home, "log", server.url(), "--json", "--limit", times).json["visits"]
        return [row["outcome"] for row in reversed(log)]

    return visit


def test_shown_and_undone(home: Path, server: LocalServer, call: Call, visits: Callable[[int], list[str]]) -> None:
    """A visitor counter is learned as noise; `--count` makes its changes count, `--uncount` undoes this."""
    outcomes = visits(7)
    assert outcomes[0] == "new"
    assert outcomes[-2:] == ["same", "same"]

    (place,) = call("--home", home, "noise", server.url(), "--json").json["noise"]
    assert (place["state"], place["kind"], place["n"]) == ("learned", "stamp", 1)
    assert "visitor number" in place["example"]
    assert "visitor number" in call("--home", home, "noise", server.url()).text

    result = call("--home", home, "noise", server.url(), "--count", 1, "--json").json["noise"]
    assert [one["state"] for one in result] == ["denied"]
    assert visits(3) == ["changed"] * 3

    call("--home", home, "noise", server.url(), "--uncount", 1)
    assert call("--home", home, "noise", server.url(), "--json").json["noise"] == []
    assert visits(5)[-1] == "same"


def test_nothing_learned(home: Path, server: LocalServer, call: Call, visits: Callable[[int], list[str]]) -> None:
    """A message says that there is no noise; `--all` shows a place that is not yet learned as noise."""
    visits(2)

    result = call("--home", home, "noise", server.url())

    assert (result.code, result.text) == (0, "")
    assert "No place of this page" in result.err
    (place,) = call("--home", home, "noise", server.url(), "--all", "--json").json["noise"]
    assert place["state"] == "watched"
