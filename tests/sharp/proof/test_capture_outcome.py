"""The largest set of pages that is sharp as of one instant, over all passes of a capture."""

from __future__ import annotations

import pytest

from webstrata.sharp.proof.capture_outcome import CaptureOutcome, PageHistory, capture_outcome
from webstrata.sharp.proof.page_observation import PageObservation


def seen(at: float, text: str, *, ends: float | None = None) -> PageObservation:
    """A download of one second with this content; `!404`, `!500` and `!` are an absent page, an error, a failure."""
    ended = at + 1 if ends is None else ends
    if text.startswith("!"):
        kinds = {"!404": "absent", "!410": "absent", "!": "failure"}
        status = int(text[1:] or 0)
        kind = kinds.get(text, "error")
        return PageObservation(started=at, ended=ended, kind=kind, status=status)  # type: ignore[arg-type]
    return PageObservation(started=at, ended=ended, kind="content", status=200, layers={"raw": text})


def page(name: str, *downloads: tuple[float, str], weight: float = 1.0) -> PageHistory:
    observations = [seen(at, text) for at, text in downloads]
    return PageHistory(url=name, rate_per_s=1e-6, weight=weight, observations=observations)


def sharp(result: CaptureOutcome) -> set[int]:
    return {index for index, judged in enumerate(result.pages) if judged.verdict == "sharp"}


CASES = {
    "all the same": ([page("a", (0, "x"), (30, "x")), page("b", (10, "y"), (20, "y"))], (11, 20), {0, 1}),
    "the middle page once": ([page("a", (0, "x"), (20, "x")), page("m", (10, "y"))], (10, 11), {0, 1}),
    "one changed": (
        [page("a", (0, "x"), (30, "z")), page("b", (10, "y"), (20, "y")), page("c", (5, "w"), (25, "w"))],
        (11, 20),
        {1, 2},
    ),
    "a further pass joins": (
        [page("a", (0, "x"), (30, "z"), (50, "z")), page("b", (10, "y"), (20, "y"), (60, "y"))],
        (31, 50),
        {0, 1},
    ),
    "weights decide": (
        [
            page("a", (0, "x"), (30, "z"), (50, "z"), weight=9.0),
            page("b", (10, "y"), (20, "y"), (60, "n")),
            page("c", (11, "y"), (21, "y"), (61, "n")),
        ],
        (31, 50),
        {0},
    ),
    "an error between equal contents": (
        [page("a", (0, "x"), (12, "!500"), (30, "x")), page("b", (5, "y"), (20, "y"))],
        (6, 20),
        {1},
    ),
    "a failure before equal contents": (
        [page("a", (0, "!"), (5, "x"), (30, "x")), page("b", (10, "y"), (20, "y"))],
        (11, 20),
        {0, 1},
    ),
    "an absent page is no anchor": (
        [page("a", (0, "x"), (30, "x")), page("gone", (10, "!404"))],
        (1, 30),
        {0},
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_the_instant_that_most_pages_share(case: str) -> None:
    """The chosen instant and its sharp pages."""
    pages, span, expected = CASES[case]
    result = capture_outcome(pages, "visible")
    assert result.instant == span
    assert sharp(result) == expected


def test_the_nearest_observations_are_named() -> None:
    """Of many observations with the same content, the nearest ones on both sides of the instant are named."""
    pages = [page("a", (0, "x"), (30, "z"), (50, "z")), page("b", (0, "y"), (20, "y"), (60, "y"), (90, "y"))]
    shown = capture_outcome(pages, "visible").pages[1]
    assert (shown.visit, shown.revisit) == (1, 2)


def test_other_instants_serve_other_pages() -> None:
    """A page that is not sharp at the best instant is sharp at another one."""
    pages = [
        page("a", (5, "x"), (30, "x"), (60, "n")),
        page("b", (6, "y"), (31, "y"), (61, "n")),
        page("c", (0, "z"), (32, "w"), (62, "w")),
    ]
    result = capture_outcome(pages, "visible")
    assert sharp(result) == {0, 1}
    assert any(2 in other.pages for other in result.others)


@pytest.mark.parametrize(
    ("downloads", "verdict"),
    [
        ((), "unvisited"),
        (((0, "!"),), "unreachable"),
        (((0, "!404"), (9, "!410")), "absent"),
        (((0, "!404"), (9, "!")), "error"),
        (((0, "!403"),), "error"),
    ],
)
def test_pages_without_content(downloads: tuple[tuple[float, str], ...], verdict: str) -> None:
    """A capture of a page without content has no instant; the verdict tells what was observed."""
    result = capture_outcome([page("n", *downloads)], "visible")
    assert result.instant is None
    assert result.pages[0].verdict == verdict
