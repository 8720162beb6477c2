"""The largest set of pages that is sharp as of one instant, over all passes of a capture."""

from __future__ import annotations

import pytest

from webstrata.sharp.proof.capture_outcome import PageDownloads, capture_outcome
from webstrata.sharp.proof.certificate import Download, joint_instant


def page(name: str, *seen: tuple[float, str], weight: float = 1.0) -> PageDownloads:
    """A page with downloads of one second each: (start, content)."""
    downloads = [
        Download(started=at, ended=at + 1, status=200, payload=text, content=text, record=f"{name}{at}")
        for at, text in seen
    ]
    return PageDownloads(url=name, rate_per_s=1e-6, weight=weight, downloads=downloads)


CASES = {
    "all the same": ([page("a", (0, "x"), (30, "x")), page("b", (10, "y"), (20, "y"))], (11, 20), {"a", "b"}),
    "the middle page once": (
        [page("a", (0, "x"), (20, "x")), page("m", (10, "y"))],
        (10, 11),
        {"a", "m"},
    ),
    "one changed": (
        [page("a", (0, "x"), (30, "z")), page("b", (10, "y"), (20, "y")), page("c", (5, "w"), (25, "w"))],
        (11, 20),
        {"b", "c"},
    ),
    "a further pass joins": (
        [page("a", (0, "x"), (30, "z"), (50, "z")), page("b", (10, "y"), (20, "y"), (60, "y"))],
        (31, 50),
        {"a", "b"},
    ),
    "weights decide": (
        [
            page("a", (0, "x"), (30, "z"), (50, "z"), weight=9.0),
            page("b", (10, "y"), (20, "y"), (60, "n")),
            page("c", (11, "y"), (21, "y"), (61, "n")),
        ],
        (31, 50),
        {"a"},
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_the_instant_that_most_pages_share(case: str) -> None:
    """The chosen instant and its pages; the certified pages alone have the same instant."""
    pages, span, sharp = CASES[case]
    result = capture_outcome(pages)
    assert result.instant is not None
    assert (result.instant.start, result.instant.end) == span
    assert {pages[index].url for index in result.instant.pages} == sharp
    alone = joint_instant(result.pages)
    assert alone is not None
    assert {pages[index].url for index in alone.pages} == sharp
    assert (alone.start, alone.end) == span


def test_the_nearest_downloads_are_certified() -> None:
    """Of many downloads with the same content, the nearest ones on both sides of the instant are certified."""
    pages = [page("a", (0, "x"), (30, "z"), (50, "z")), page("b", (0, "y"), (20, "y"), (60, "y"), (90, "y"))]
    shown = capture_outcome(pages).pages[1]
    assert shown.visit is not None
    assert shown.revisit is not None
    assert (shown.visit.started, shown.revisit.started) == (20, 60)


def test_other_instants_serve_other_pages() -> None:
    """A page that is not sharp at the best instant is sharp at another one."""
    pages = [
        page("a", (5, "x"), (30, "x"), (60, "n")),
        page("b", (6, "y"), (31, "y"), (61, "n")),
        page("c", (0, "z"), (32, "w"), (62, "w")),
    ]
    result = capture_outcome(pages)
    assert result.instant is not None
    assert set(result.instant.pages) == {0, 1}
    assert any(2 in other.pages for other in result.others)


def test_pages_without_downloads() -> None:
    """A page without downloads keeps the reason; a capture without downloads has no instant."""
    never = PageDownloads(url="n", rate_per_s=1e-6, why="connection refused")
    result = capture_outcome([never])
    assert result.instant is None
    assert (result.pages[0].visit, result.pages[0].why) == (None, "connection refused")
