"""Copies and updates of many pages."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tests.lab.hacs.hand_made import timeline, times
from webstrata.lab.hacs.timeline import PAST_DAYS, joined, merged, sampled_timelines, shown, site_timeline
from webstrata.lab.policies.histories import make_histories

DAY = 86_400.0
_DAYS = st.lists(st.integers(-20, 60).map(lambda number: number / 2), max_size=8).map(sorted)


@given(st.lists(_DAYS, min_size=1, max_size=5), st.integers(-60, 160).map(lambda number: number / 4))
def test_one_search_finds_the_times_of_every_page(days: list[list[float]], at_day: float) -> None:
    """The number of times up to a day, and the next time after it, are those that counting finds."""
    found, pages = times(*days), np.arange(len(days))
    before = np.cumsum([0, *(len(one) for one in days)])[:-1]

    assert (found.position(pages, at_day) - before).tolist() == [sum(day <= at_day for day in one) for one in days]
    assert (found.position(pages, at_day, "left") - before).tolist() == [
        sum(day < at_day for day in one) for one in days
    ]
    later = [min((day for day in one if day > at_day), default=np.inf) for one in days]
    assert found.next_after(pages, at_day).tolist() == later


def test_a_copy_shows_the_updates_since_the_previous_copy() -> None:
    """Several updates between two copies are one; the first copy shows none; an update after the last is not seen."""
    copies, updates = times([1.0, 5.0, 9.0], [], [2.0, 3.0]), times([0.5, 2.0, 3.0, 9.5], [1.0], [3.0])

    assert shown(copies, updates).tolist() == [False, True, False, False, True]


def test_histories_are_sampled() -> None:
    """Each corpus has its copies from twelve weeks before the last three years, and the true updates since then."""
    rows = [
        {
            "corpus": corpus,
            "page": f"s{number % 2}/{number}",
            "first": first * DAY,
            "until": 2000 * DAY,
            "changes": [(first + 5) * DAY, 1990 * DAY],
        }
        for corpus in ("one", "two")
        for number, first in enumerate((0, 900, 1900))
    ]
    histories = make_histories(rows)
    one, two = sampled_timelines(histories, 1)

    assert (one.corpus, two.corpus, one.days, one.pages) == ("one", "two", 1095.0, 3)
    assert np.array_equal(one.copies.at_days, two.copies.at_days)
    assert one.copies.at_days.min() > -PAST_DAYS
    assert one.copies.at_days.max() < 1095
    assert (one.copies.at_days[one.copies.page == 2] > 995).all()
    assert one.updates.page.tolist() == [0, 1, 1, 2, 2]
    assert one.updates.at_days.tolist() == [1085.0, 0.0, 1085.0, 1000.0, 1085.0]
    sites = site_timeline(histories, [one, two], "sites")
    assert sites.pages == 4
    assert len(sites.copies.page) == len(one.copies.page) + len(two.copies.page) - 6


def test_pages_of_a_site_are_merged() -> None:
    """Copies and updates of the pages are those of the site, without first copies; equal updates count once."""
    pages = timeline(
        ([(1.0, False), (6.0, True)], [4.0, 8.0]),
        ([(2.0, False), (3.0, False)], []),
        ([(0.0, False), (5.0, True)], [4.0]),
    )
    sites = merged(pages, np.array([0, 1, 0]), "sites")

    assert sites.copies.page.tolist() == [0, 0, 1]
    assert sites.copies.at_days.tolist() == [5.0, 6.0, 3.0]
    assert sites.shows.tolist() == [True, True, False]
    assert sites.updates.page.tolist() == [0, 0]
    assert sites.updates.at_days.tolist() == [4.0, 8.0]


def test_corpora_are_joined() -> None:
    """The pages of the second corpus follow those of the first."""
    one = timeline(([(1.0, False)], [2.0]), ([], []), days=20.0)
    both = joined([one, timeline(([(3.0, True)], [4.0]))], "both")

    assert (both.pages, both.days) == (3, 28.0)
    assert both.copies.page.tolist() == [0, 2]
    assert both.updates.at_days.tolist() == [2.0, 4.0]
