"""`webstrata noise`: what a page's own history taught, shown with an example and undone."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from pathlib import Path

import pytest

from tests.cli.conftest import RESTLESS, Call, Town

STORY = "".join(
    f"<p>Paragraph {word} of the story says what happened, at length, and nobody ever edits it.</p>"
    for word in ("Rome", "Oslo", "Lima", "Kyoto", "Dakar", "Quito")
)


@pytest.fixture
def visits(home: Path, town: Town, call: Call) -> Callable[[int], list[str]]:
    """Call to have the page counted up and visited so many times."""
    numbers = count(1)
    call("--home", home, "watch", town.url())

    def visit(times: int) -> list[str]:
        for _ in range(times):
            body = f"<title>Story</title><main><p>You are visitor number {next(numbers)}.</p>{STORY}</main>"
            town.pages["/"] = ("text/html", body.encode())
            assert call("--home", home, "crawl", "--quiet", **town.settings, **RESTLESS).code == 0
        log = call("--home", home, "log", town.url(), "--json", "--limit", times).json["visits"]
        return [row["outcome"] for row in reversed(log)]

    return visit


def test_shown_and_undone(home: Path, town: Town, call: Call, visits: Callable[[int], list[str]]) -> None:
    """A counter stops counting and is shown; `--count` makes it count again, `--uncount` lets it be learned anew."""
    outcomes = visits(7)
    assert outcomes[0] == "new"
    assert outcomes[-2:] == ["same", "same"]

    (place,) = call("--home", home, "noise", town.url(), "--json").json["noise"]
    assert (place["state"], place["kind"], place["n"]) == ("learned", "stamp", 1)
    assert "visitor number" in place["example"]
    assert "visitor number" in call("--home", home, "noise", town.url()).text

    told = call("--home", home, "noise", town.url(), "--count", 1, "--json").json["noise"]
    assert [one["state"] for one in told] == ["denied"]
    assert visits(3) == ["changed"] * 3

    call("--home", home, "noise", town.url(), "--uncount", 1)
    assert call("--home", home, "noise", town.url(), "--json").json["noise"] == []
    assert visits(5)[-1] == "same"


def test_nothing_learned(home: Path, town: Town, call: Call, visits: Callable[[int], list[str]]) -> None:
    """A page without noise says so, and a place that is only watched is shown with --all."""
    visits(2)

    told = call("--home", home, "noise", town.url())

    assert (told.code, told.text) == (0, "")
    assert "Nothing on this page" in told.err
    (place,) = call("--home", home, "noise", town.url(), "--all", "--json").json["noise"]
    assert place["state"] == "watched"
