"""Recorded sites as a crawler finds them that begins on one day."""

from __future__ import annotations

import pytest

from webstrata.clock import DAY_S
from webstrata.errors import UsageError
from webstrata.lab.cold_start.watched_sites import watched_sites
from webstrata.lab.livingweb.recording import Recording

A = b"<html><title>t</title><body><p>one <img src=x></body></html>"
B = b"<html><title>t</title><body><p>two <img src=x><img src=y></body></html>"
B_AGAIN = b"<html><title>t</title><body><p class=new>two <img src=x><img src=y></body></html>"


def _recording() -> Recording:
    """A page that changes on day 5 and only its markup on day 7, one that is deleted on day 8, one published late."""
    return Recording(
        site="s",
        pages={
            "index.html": [(0.0, "a"), (5 * DAY_S, "b"), (7 * DAY_S, "b2")],
            "gone.html": [(0.0, "a"), (8 * DAY_S, None)],
            "late.html": [(6 * DAY_S, "a")],
            "data.csv": [(0.0, "c"), (10 * DAY_S, "d")],
        },
        contents={"a": A, "b": B, "b2": B_AGAIN, "c": b"x,y\n1,2\n", "d": b"x,y\n1,3\n"},
    )


CASES = [
    (100.0, 0.0, {"s/index.html": [5.0], "s/gone.html": [8.0], "s/data.csv": [10.0]}, 1.0),
    (4.0, 6.0, {"s/index.html": [], "s/gone.html": [8.0], "s/data.csv": [10.0], "s/late.html": []}, 2.0),
]


@pytest.mark.parametrize(("days", "begin", "changes", "images"), CASES)
def test_changes_and_features(days: float, begin: float, changes: dict[str, list[float]], images: float) -> None:
    """Pages and features are those on the first day, and a change of the markup alone does not count."""
    watched = watched_sites([_recording()], days, 100)
    histories = watched.histories
    found = {
        page: (histories.changes[histories.offsets[row] : histories.offsets[row + 1]] / DAY_S).tolist()
        for row, page in enumerate(histories.page)
    }
    assert found == changes
    assert set(histories.first) == {begin * DAY_S}
    assert set(histories.until) == {10 * DAY_S}
    assert watched.features[histories.page.index("s/index.html")]["images"] == images
    assert "has_last_modified" not in watched.features[0]


def test_a_sample_of_each_site() -> None:
    """Not more pages of a site than asked for, the same each time."""
    first, second = (watched_sites([_recording()], 100.0, 2).histories.page for _ in range(2))
    assert first == second
    assert len(first) == 2


def test_covered() -> None:
    """Windows that no site covers are left out; the first one must be covered."""
    watched = watched_sites([_recording()], 100.0, 100)
    assert watched.covered(10, 730) == [10]
    with pytest.raises(UsageError, match="10 days"):
        watched.covered(11)
