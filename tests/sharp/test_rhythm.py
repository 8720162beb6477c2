"""The weekly rhythm of a site and the best start of a capture."""

from __future__ import annotations

import numpy as np
import pytest

from webstrata.clock import DAY_S
from webstrata.errors import UsageError
from webstrata.sharp.rhythm import HOUR_S, best_start, weekly_rhythm

DAYS = np.arange(365)
EVERY_NOON = DAYS * DAY_S + 12.5 * HOUR_S


def test_a_daily_job_is_avoided() -> None:
    """A site rebuilt every noon is captured after noon if the capture is requested at 10:00."""
    now = 400 * DAY_S + 10 * HOUR_S
    start = best_start(EVERY_NOON, now, within_s=DAY_S, duration_s=6 * HOUR_S)
    assert now + 3 * HOUR_S <= start.at <= now + DAY_S
    assert start.relative < 0.7


def test_start_now_if_no_later_start_is_better() -> None:
    """The capture starts now if no later start is better, and if the site has no history."""
    now = 400 * DAY_S + 14 * HOUR_S
    assert best_start(EVERY_NOON, now, DAY_S, 2 * HOUR_S).at == now
    assert best_start([], now, DAY_S, 2 * HOUR_S) == best_start([], now, 0.0, 2 * HOUR_S)


def test_weekends_are_found() -> None:
    """A site edited on working days has its lowest rates on Saturday and Sunday."""
    thursday_first = weekly_rhythm(
        [day * DAY_S + hour * HOUR_S for day in DAYS for hour in (9, 15) if day % 7 not in (2, 3)]
    )
    by_day = thursday_first.reshape(7, 24).sum(axis=1)
    assert set(np.argsort(by_day)[:2].tolist()) == {2, 3}
    assert thursday_first.mean() == pytest.approx(1.0)


def test_few_changes_make_no_rhythm() -> None:
    """Three changes hardly change the rates of single hours."""
    assert np.ptp(weekly_rhythm([1e9, 1.1e9, 1.2e9])) < 0.5


@pytest.mark.parametrize(("within", "lasts"), [(-1.0, 1.0), (1.0, 0.0), (float("nan"), 1.0), (1.0, float("inf"))])
def test_bad_input(within: float, lasts: float) -> None:
    """A negative time ahead and a capture without a duration raise an error."""
    with pytest.raises(UsageError):
        best_start([], 0.0, within, lasts)
    with pytest.raises(UsageError):
        weekly_rhythm([float("nan")])
