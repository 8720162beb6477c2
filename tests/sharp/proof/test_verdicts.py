"""Verdicts of pages, files and pages with their files, from all observations and the instant."""

from __future__ import annotations

import pytest

from tests.sharp.proof.test_capture_outcome import seen
from webstrata.sharp.proof.page_observation import PageObservation
from webstrata.sharp.proof.verdicts import (
    CompositeState,
    Instant,
    composite_page,
    judged_page,
    judged_requisite,
    page_as_part,
)

INSTANT = Instant(10.0, 20.0)


@pytest.mark.parametrize(
    ("downloads", "verdict", "around"),
    [
        ([(0, "x"), (25, "x")], "sharp", (0, 1)),
        ([(0, "w"), (5, "x"), (25, "x"), (30, "y")], "sharp", (1, 2)),
        ([(0, "x"), (12, "x"), (25, "x")], "sharp", (0, 2)),
        ([(0, "x"), (12, "y"), (25, "x")], "blurred", (0, 2)),
        ([(0, "x"), (12, "!500"), (25, "x")], "blurred", (0, 2)),
        ([(0, "x"), (12, "!"), (25, "x")], "blurred", (0, 2)),
        ([(0, "x"), (5, "!403"), (25, "x")], "blurred", (1, 2)),
        ([(0, "x"), (22, "!404"), (25, "x")], "blurred", (0, 1)),
        ([(0, "x"), (25, "y")], "blurred", (0, 1)),
        ([(0, "x")], "blurred", (0, None)),
        ([(25, "x")], "blurred", (None, 0)),
        ([(0, "x"), (5, "!404"), (25, "!404")], "absent", (1, 2)),
        ([(0, "!404"), (25, "!500")], "error", (0, 1)),
        ([(0, "!"), (25, "!")], "unreachable", (0, 1)),
        ([], "unvisited", (None, None)),
    ],
)
def test_pages(downloads: list[tuple[float, str]], verdict: str, around: tuple[int | None, int | None]) -> None:
    """A page is sharp only if nothing that was observed next to the instant or within it contradicts."""
    page = judged_page([seen(at, text) for at, text in downloads], INSTANT, "visible")
    assert (page.verdict, (page.visit, page.revisit)) == (verdict, around)


def test_the_anchor() -> None:
    """A single download of content that is exactly the instant is sharp; an absent page is not."""
    instant = Instant(10.0, 11.0)
    assert judged_page([seen(10, "x")], instant, "visible").verdict == "sharp"
    assert judged_page([seen(10, "x")], Instant(10.0, 12.0), "visible").verdict == "blurred"
    assert judged_page([seen(10, "!404")], instant, "visible").verdict == "absent"


def dated(at: float, text: str, last_modified: float | None) -> PageObservation:
    return PageObservation(
        started=at, ended=at + 1, kind="content", status=200, layers={"raw": text}, last_modified=last_modified
    )


@pytest.mark.parametrize(
    ("observations", "verdict"),
    [
        ([dated(0, "x", None), dated(25, "x", None)], "sharp"),
        ([dated(0, "x", None), dated(25, "y", None)], "violative"),
        ([dated(25, "x", 9.0)], "coherent"),
        ([dated(25, "x", 15.0)], "unknown"),
        ([dated(25, "x", 21.0)], "violative"),
        ([dated(25, "x", None)], "unknown"),
        ([dated(0, "x", 0.0)], "unknown"),
        ([seen(25, "!404")], "absent"),
        ([seen(25, "!500")], "error"),
        ([seen(25, "!")], "unreachable"),
        ([], "unvisited"),
    ],
)
def test_requisites(observations: list[PageObservation], verdict: str) -> None:
    """A file that was downloaded after the instant is judged by what the server says about its last modification."""
    assert judged_requisite(observations, INSTANT).verdict == verdict


@pytest.mark.parametrize(
    ("states", "state"),
    [
        ((), "sharp"),
        (("sharp",), "sharp"),
        (("sharp", "coherent"), "coherent"),
        (("coherent", "unknown"), "unknown"),
        (("unknown", "violative"), "violative"),
    ],
)
def test_composites(states: tuple[CompositeState, ...], state: str) -> None:
    """The worst part decides; parts that contradict or are unknown are named."""
    named = {f"http://a.test/{number}": one for number, one in enumerate(states)}
    page = composite_page(list(named), named)
    assert page.verdict == state
    assert bool(page.contradicting) == (state == "violative")


@pytest.mark.parametrize(
    ("observations", "state"),
    [
        ([seen(0, "!404"), seen(25, "!404")], "coherent"),
        ([seen(25, "!404")], "unknown"),
        ([seen(0, "!500"), dated(25, "x", None)], "unknown"),
        ([dated(0, "x", None), seen(25, "!500")], "unknown"),
        ([dated(0, "x", None), dated(25, "y", None)], "violative"),
    ],
)
def test_parts(observations: list[PageObservation], state: str) -> None:
    """A file that was absent on both sides is part of the page as it was; an error tells nothing about a file."""
    assert judged_requisite(observations, INSTANT).as_part == state


def test_pages_as_parts() -> None:
    """A page in a frame contradicts the instant if it was different before and after it."""
    assert page_as_part(judged_page([dated(0, "x", None), dated(25, "x", None)], INSTANT, "raw")) == "sharp"
    assert page_as_part(judged_page([dated(0, "x", None), dated(25, "y", None)], INSTANT, "raw")) == "violative"
    assert page_as_part(judged_page([dated(0, "x", None)], INSTANT, "raw")) == "unknown"
