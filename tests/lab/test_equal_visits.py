"""Other policies with the same number of visits, computed from the truth."""

from __future__ import annotations

import pytest

from webstrata.clock import DAY_S
from webstrata.lab.equal_visits import BEST, equal_visits
from webstrata.lab.livingweb.truth import TrueChange
from webstrata.schedule.policy import Bounds

START_AT = 1_700_000_000.0
DAYS = 100.0
WINDOW = (START_AT, START_AT + DAYS * DAY_S)


def change(url: str, day: float, counts: bool = True) -> TrueChange:
    return TrueChange(url=url, at=START_AT + day * DAY_S, kind="changed", counts=counts)


def test_the_number_of_visits_is_matched() -> None:
    """Intervals are scaled until the replay makes the visits asked for, within a few per cent."""
    pages = [f"http://a.test/{n}" for n in range(50)]
    truth = [change(url, day + 0.3) for n, url in enumerate(pages) for day in range(0, 100, 1 + n)]

    rows = equal_visits(truth, pages, 1000, WINDOW, Bounds())

    assert [row.policy for row in rows] == ["value", "fixed", "dyn", "state-2", BEST]
    assert all(row.visits == pytest.approx(1000, rel=0.05) for row in rows)
    assert all(row.captured <= rows[-1].captured for row in rows)


def test_the_best_possible() -> None:
    """One capture for each page and shortest interval at most, and never more captures than visits."""
    truth = [change("http://a.test/", day) for day in (1.1, 1.2, 5.5)]
    truth += [change("http://a.test/", 7.0, counts=False), change("http://other.test/", 3.0)]

    def best(visits: int) -> int:
        rows = equal_visits(truth, ["http://a.test/"], visits, WINDOW, Bounds())
        return rows[-1].captured

    assert (best(10), best(1)) == (2, 1)


def test_nothing_changed() -> None:
    """Without changes every policy captures none, and shares are 0."""
    rows = equal_visits([], ["http://a.test/"], 10, WINDOW, Bounds())

    assert {(row.captured, row.recall) for row in rows} == {(0, 0.0)}
