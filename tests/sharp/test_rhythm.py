"""When a site is quiet."""

from __future__ import annotations

import numpy as np
import pytest

from webstrata.clock import DAY_S
from webstrata.errors import UsageError
from webstrata.sharp.rhythm import HOUR_S, best_start, weekly_rhythm

DAYS = np.arange(365)
EVERY_NOON = DAYS * DAY_S + 12.5 * HOUR_S


def test_a_daily_job_is_avoided() -> None:
    """A site rebuilt every noon is best captured before or after it: a capture asked for at 10:00 starts past noon."""
    now = 400 * DAY_S + 10 * HOUR_S
    start = best_start(EVERY_NOON, now, within_s=DAY_S, duration_s=6 * HOUR_S)
    assert now + 3 * HOUR_S <= start.at <= now + DAY_S
    assert start.relative < 0.7


def test_a_quiet_moment_is_taken_at_once() -> None:
    """Where now is as good as any later start, it is now; so for a site without a history."""
    now = 400 * DAY_S + 14 * HOUR_S
    assert best_start(EVERY_NOON, now, DAY_S, 2 * HOUR_S).at == now
    assert best_start([], now, DAY_S, 2 * HOUR_S) == best_start([], now, 0.0, 2 * HOUR_S)


def test_weekends_are_found() -> None:
    """A site edited on working days is quiet on Saturday and Sunday."""
    thursday_first = weekly_rhythm(
        [day * DAY_S + hour * HOUR_S for day in DAYS for hour in (9, 15) if day % 7 not in (2, 3)]
    )
    by_day = thursday_first.reshape(7, 24).sum(axis=1)
    assert set(np.argsort(by_day)[:2].tolist()) == {2, 3}
    assert thursday_first.mean() == pytest.approx(1.0)


def test_few_changes_make_no_rhythm() -> None:
    """Three changes hardly tell the hours apart."""
    assert np.ptp(weekly_rhythm([1e9, 1.1e9, 1.2e9])) < 0.5


@pytest.mark.parametrize(("within", "lasts"), [(-1.0, 1.0), (1.0, 0.0), (float("nan"), 1.0), (1.0, float("inf"))])
def test_bad_questions(within: float, lasts: float) -> None:
    """A look ahead is not negative, a capture has a length."""
    with pytest.raises(UsageError):
        best_start([], 0.0, within, lasts)
    with pytest.raises(UsageError):
        weekly_rhythm([float("nan")])
