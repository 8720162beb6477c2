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


def test_every_learning_is_said(
    home: Path, server: LocalServer, call: Call, visits: Callable[[int], list[str]]
) -> None:
    """The output of the visit, the log and `why` name what does not count from now on, and how to undo it."""
    visits(2)
    body = f"<title>Story</title><main><p>You are visitor number 78.</p>{STORY}</main>"
    server.pages["/"] = ("text/html", body.encode())
    output = call("--home", home, "crawl", **server.settings, **ALWAYS_DUE).err

    undo = f"webstrata noise {server.url()} --count 1"
    phrase = f'from now on "You are visitor number 78." does not count (changed at 2 of 2 visits; undo: {undo})'
    assert f"  {phrase}\n" in output
    log = call("--home", home, "log", server.url(), "--json").json["visits"]
    assert [visit["learned"] for visit in log] == [[phrase], [], []]
    assert "does not count" in call("--home", home, "log", server.url()).text
    (noise,) = call("--home", home, "why", server.url(), "--json").json["noise"]
    assert (noise["n"], noise["kind"], noise["since"]) == (1, "stamp", log[0]["at"])
    assert "noise 1     stamp, since" in call("--home", home, "why", server.url()).text

    result = call("--home", home, "noise", server.url(), "--count", "all", "--json").json["noise"]
    assert [one["state"] for one in result] == ["denied"]
    assert call("--home", home, "noise", server.url(), "--uncount", "all", "--json").json["noise"] == []


def test_nothing_learned(home: Path, server: LocalServer, call: Call, visits: Callable[[int], list[str]]) -> None:
    """A message says that there is no noise; `--all` shows a place that is not yet learned as noise."""
    visits(2)

    result = call("--home", home, "noise", server.url())

    assert (result.code, result.text) == (0, "")
    assert "No place of this page" in result.err
    (place,) = call("--home", home, "noise", server.url(), "--all", "--json").json["noise"]
    assert place["state"] == "watched"
