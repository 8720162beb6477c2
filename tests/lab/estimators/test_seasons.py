from __future__ import annotations

import numpy as np
import pytest

from webstrata.lab.estimators.seasons import profile, seasonal, shares
from webstrata.predict.gamma import bayesian
from webstrata.predict.prior import GammaPrior
from webstrata.predict.visit_history import VisitHistory, visit_history

MONDAY = 4.0
"""1970-01-05."""


def daily(flags: list[bool], start: float = MONDAY) -> VisitHistory:
    at = start + 1 + np.arange(len(flags))
    return visit_history([0, len(flags)], np.ones(len(flags)), flags, at)


WEEKLY = [day == 2 for day in range(7)] * 20
"""Changes on Wednesdays."""


@pytest.mark.parametrize(
    ("begin", "end", "expected"),
    [
        (MONDAY, MONDAY + 1, [1, 0, 0, 0, 0, 0, 0]),
        (MONDAY + 6.5, MONDAY + 7.25, [0.25, 0, 0, 0, 0, 0, 0.5]),
        (MONDAY, MONDAY + 15, [3, 2, 2, 2, 2, 2, 2]),
        (3.0, 3.0, [0] * 7),
    ],
)
def test_days_of_an_interval(begin: float, end: float, expected: list[float]) -> None:
    """An interval's days fall on its weekdays, Monday first."""
    assert shares(np.array([begin]), np.array([end]))[0] == pytest.approx(expected)


def test_a_weekly_page_is_found() -> None:
    """The profile of a page that changes on Wednesdays has its maximum there; the mean is one."""
    found = profile(daily(WEEKLY))
    assert found[0].argmax() == 2
    assert found[0, 2] > 3
    assert found[0].mean() == pytest.approx(1)


def test_few_changes_leave_it_level() -> None:
    """Two changes on one weekday hardly change the profile; intervals of whole weeks do not change it."""
    few = profile(daily([day == 2 for day in range(14)]))
    assert few[0].max() < 1.8
    weeks = profile(visit_history([0, 40], [7.0] * 40, [True, False] * 20))
    assert weeks[0] == pytest.approx(np.ones(7), abs=1e-9)


def test_the_rate_of_a_coming_day() -> None:
    """The overall rate is multiplied by the factor of the weekday."""
    history = daily(WEEKLY)
    overall = bayesian(history, GammaPrior(shape=1, days=30))
    wednesday, friday = (seasonal(history, overall, np.array([MONDAY + 700 + day])) for day in (2.5, 4.5))
    assert wednesday.rate[0] > 5 * friday.rate[0]
