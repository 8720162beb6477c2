"""What visits that nobody planned prove of one instant."""

from __future__ import annotations

from webstrata.records import Sighting
from webstrata.sharp.proof.coherence import coherence


def seen(url: str, *sightings: tuple[float, str]) -> list[Sighting]:
    return [Sighting(url=url, at=at, content=content) for at, content in sightings]


COLLECTION = [
    *seen("a", (0, "x"), (10, "x")),
    *seen("b", (2, "y"), (12, "y")),
    *seen("c", (3, "z"), (13, "zz")),
    *seen("d", (4, "w")),
    *seen("e", (11, "v")),
]


def test_where_every_page_stands() -> None:
    """The best instant is a moment at which a page was seen that others surround; what came after it is later."""
    result = coherence(COLLECTION)

    assert result.instant == (3, 3)  # c stood so at that moment, before it changed
    assert {page.url: page.standing for page in result.pages} == {
        "a": "proved",
        "b": "proved",
        "c": "proved",
        "d": "later",
        "e": "later",
    }
    assert (result.proved, result.first, result.last) == (3, 0, 13)


def test_an_instant_that_was_asked_for() -> None:
    """The standing at any instant can be asked for."""
    result = coherence(COLLECTION, at=11.0)
    assert {page.url: page.standing for page in result.pages} == {
        "a": "open",
        "b": "proved",
        "c": "changed",
        "d": "open",
        "e": "proved",
    }


def test_there_and_back_is_no_proof() -> None:
    """A page that was another in between has two stretches, and no proof from one to the other."""
    result = coherence([*seen("a", (0, "x"), (5, "other"), (10, "x")), *seen("b", (0, "y"), (10, "y"))], at=7.0)
    assert {page.url: page.standing for page in result.pages} == {"a": "changed", "b": "proved"}


def test_one_capture_of_each_proves_nothing() -> None:
    """Where no page was seen twice, no two pages are proved together."""
    assert coherence([*seen("a", (0, "x")), *seen("b", (1, "y"))]).proved == 1
    assert coherence([]).instant is None


def test_what_never_was_there_is_no_page() -> None:
    """Addresses that only ever failed are not counted; a page that went is one that changed."""
    gone = [
        Sighting(url="a", at=0.0, content="x"),
        Sighting(url="a", at=9.0, content="x", status=404),
        Sighting(url="never", at=1.0, content="n", status=404),
        *seen("b", (0, "y"), (9, "y")),
    ]
    result = coherence(gone, at=5.0)
    assert {page.url: page.standing for page in result.pages} == {"a": "changed", "b": "proved"}
