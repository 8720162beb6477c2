"""The windows in which the sightings of a page prove its content."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webstrata.records import Sighting
from webstrata.sharp.proof.proved_windows import ProvedWindow, proved_windows, shows_content


def seen(*sightings: tuple[float, float, str], status: int = 200) -> list[Sighting]:
    """Sightings of one page: earliest beginning, latest end, content. The content "!" is an error."""
    return [
        Sighting(url="u", at=at, ended_by=end, content=content, status=500 if content == "!" else status)
        for at, end, content in sightings
    ]


def periods(windows: list[ProvedWindow]) -> list[tuple[float, float, str]]:
    return [(window.start, window.end, window.content) for window in windows]


def test_a_window_is_between_two_sightings() -> None:
    """It begins when the first one has certainly ended, and ends when the last one may have begun."""
    assert periods(proved_windows(seen((0, 1, "x"), (5, 6, "x"), (10, 11, "x")))) == [(1, 10, "x")]


@pytest.mark.parametrize(
    "sightings",
    [
        [(0, 1, "x")],
        [(0, 1, "x"), (0, 1, "x")],  # the same second
        [(0, 2, "x"), (1, 3, "x")],
        [(0, 1, "x"), (5, 6, "y")],
        [(0, 1, "x"), (5, 6, "!"), (9, 10, "x")],
        [(0, 1, "x"), (5, 6, "y"), (9, 10, "x")],
        [(0, 1, "x"), (0, 1, "y"), (9, 10, "x")],  # which of the first two was seen first is not known
        [(0, 1, "x"), (9, 10, "x"), (9, 10, "!")],
        [(0, 1, "x"), (float("-inf"), float("inf"), "y"), (9, 10, "x")],  # without a date
    ],
)
def test_nothing_is_proved(sightings: list[tuple[float, float, str]]) -> None:
    assert proved_windows(seen(*sightings)) == []


def test_each_content_has_its_windows() -> None:
    """An error or another content ends a window, and a new one begins after it."""
    history = seen((0, 1, "x"), (3, 4, "x"), (5, 6, "!"), (7, 8, "x"), (9, 10, "x"), (11, 12, "y"), (20, 21, "y"))

    assert periods(proved_windows(history)) == [(1, 3, "x"), (8, 9, "x"), (12, 20, "y")]


def test_a_304_without_its_content_tells_nothing() -> None:
    """It neither proves nor contradicts."""
    unmodified = Sighting(url="u", at=5, ended_by=6, content="", status=304)

    assert periods(proved_windows([*seen((0, 1, "x"), (9, 10, "x")), unmodified])) == [(1, 9, "x")]
    assert proved_windows([*seen((0, 1, "x")), unmodified]) == []


@pytest.mark.parametrize("status", [0, 100, 404, 410, 429, 500, 503])
def test_errors_prove_nothing(status: int) -> None:
    assert proved_windows(seen((0, 1, "x"), (9, 10, "x"), status=status)) == []


def test_failed_downloads_prove_nothing() -> None:
    """Two equal beginnings of a page do not prove the page."""
    cut = [Sighting(url="u", at=at, ended_by=at + 1, content="x", failure="truncated") for at in (0, 9)]

    assert proved_windows(cut) == []


def test_evidence_is_the_weakest_that_is_needed() -> None:
    """A revisit inside a window that payloads prove does not weaken it; one at its end does."""
    first, last = seen((0, 1, "x"), (20, 21, "x"))
    between = Sighting(url="u", at=10, ended_by=11, content="x", evidence="revisit", resolution_s=1.0)

    assert [window.evidence for window in proved_windows([first, between, last])] == ["payload"]
    assert [window.evidence for window in proved_windows([first, between])] == ["revisit"]
    assert [window.resolution_s for window in proved_windows([first, between])] == [1.0]


@given(st.lists(st.tuples(st.integers(0, 20), st.integers(1, 4), st.sampled_from("xyz!")), max_size=9))
def test_windows_are_those_of_the_definition(drawn: list[tuple[int, int, str]]) -> None:
    """An instant is in a window if and only if two sightings prove it and none may lie between them."""
    history = seen(*[(float(at), float(at + width), content) for at, width, content in drawn])
    windows = proved_windows(history)
    for instant in (half / 2 for half in range(52)):
        expected = {
            first.content
            for first in history
            for last in history
            if shows_content(first)
            and first.content == last.content
            and first.ended_by <= instant <= last.at
            and all(
                one.ended_by <= first.at or one.at >= last.ended_by
                for one in history
                if one.content != first.content or not shows_content(one)
            )
        }
        assert {window.content for window in windows if window.start <= instant <= window.end} == expected


def test_many_sightings_of_one_page() -> None:
    """The number of steps is not quadratic: 100,000 sightings with 50,000 contents are judged at once."""
    history = seen(*[(float(at), at + 1.5, str(at % 50_000)) for at in range(100_000)])

    assert proved_windows(history) == []
