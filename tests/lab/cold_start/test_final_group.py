"""Paths of Algorithm 1 and of the Bayesian estimator from a given class, and the expected group of a belief."""

from __future__ import annotations

import numpy as np
import pytest

from webstrata.clock import DAY_S
from webstrata.lab.cold_start.final_group import believed, classified, expected
from webstrata.lab.policies.histories import make_histories
from webstrata.lab.policies.truth import Truth
from webstrata.predict.activity import pooled_activity
from webstrata.predict.first_sight.groups import ChangeGroups
from webstrata.schedule.textbook.rate_groups import TABLE_4, Bayesian, Historic, RateGroup

WEEKS = (RateGroup(days=7, visits=1), RateGroup(days=30, visits=1))


def _truth(days: int, *changes: list[float]) -> Truth:
    """Pages with changes on these days of a window of so many days."""
    rows = [
        {"corpus": "c", "page": str(page), "first": 0.0, "until": days * DAY_S, "changes": [at * DAY_S for at in one]}
        for page, one in enumerate(changes)
    ]
    return Truth(make_histories(rows), float(days))


DAILY = [day + 0.5 for day in range(100)]

PATHS = [
    # The paper's example: a quiet page of the weekly group is moved to the monthly group by its first visit (day 7),
    # and stays there, the slowest: visits on days 7, 37, 67, 97.
    (WEEKS, 0, [], 1, 4),
    # A page that changes daily, in the monthly group: moved by the visit on day 30, then ten visits every 7 days.
    (WEEKS, 1, DAILY, 0, 11),
    # Table 4, from 1 d: three quiet visits, two after 3 d, two after 31 d; the next one, 96 days later, is too late.
    (TABLE_4, 0, [], 3, 7),
    # From 96 d: one visit moves the page to 31 d, and the window ends.
    (TABLE_4, 3, DAILY, 2, 1),
    # One change in two visits at 3 d is between .2 and .8: it stays, whatever happens after each second visit.
    (TABLE_4, 1, [day + 0.5 for day in range(3, 100, 6)], 1, 33),
]


@pytest.mark.parametrize(("groups", "initial", "changes", "final", "visits"), PATHS)
def test_historic(groups: tuple[RateGroup, ...], initial: int, changes: list[float], final: int, visits: int) -> None:
    """The historic classifier moves a page by one group when its visits are full."""
    found = classified(Historic, groups, np.array([initial]), _truth(100, changes))
    assert (found.group.tolist(), found.visits.tolist()) == ([final], [visits])


def test_bayesian_forgets_the_initial_class() -> None:
    """After one visit a page is in the likeliest group: the first class decides only when that visit is."""
    truth = _truth(100, [], DAILY, [], DAILY)
    found = classified(Bayesian, TABLE_4, np.array([0, 0, 3, 3]), truth)
    assert found.group.tolist() == [3, 0, 3, 0]
    # 1 d, then 96 d after it; every day; on day 96 only; on day 96 and the four days after it.
    assert found.visits.tolist() == [2, 100, 1, 5]


def test_slow_groups_are_visited_at_the_end() -> None:
    """A group that is slower than the window is long gets one visit, on the last day."""
    groups = (RateGroup(days=5, visits=1), RateGroup(days=400, visits=1))
    found = classified(Historic, groups, np.array([1, 1]), _truth(20, [], [3.0]))
    assert (found.group.tolist(), found.visits.tolist()) == ([1, 0], [1, 1])


def test_expected() -> None:
    """A page that is certainly on a level is in the group of its rate; of two levels the mean is that of logarithms."""
    groups = ChangeGroups((2.0, 20.0, 200.0))
    per_day = pooled_activity().per_day
    assert set(groups.of(per_day).tolist()) == {0, 1, 2}
    assert expected(np.eye(len(per_day)), groups).tolist() == groups.of(per_day).tolist()
    belief = np.zeros((1, len(per_day)))
    belief[0, [4, 9]] = 0.5  # 0.006 and 0.94 changes a day: 0.076 in the middle, every 13 days
    assert expected(belief, groups).tolist() == [1]


def test_value_learns_from_any_start() -> None:
    """With a visit a day for each page, `value` finds which one changes daily and which never."""
    truth = _truth(60, DAILY[:60], [])
    start = pooled_activity().start(2)
    found = believed(start, ChangeGroups((1.5, 300.0)), 120.0, truth)
    assert found.group.tolist() == [0, 1]
    assert found.visits.sum() == 120
    assert found.visits[0] == 60
