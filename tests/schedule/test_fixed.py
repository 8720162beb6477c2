from __future__ import annotations

from collections.abc import Callable

from webstrata.schedule.fixed import Fixed
from webstrata.schedule.policy import Bounds


def test_the_same_interval_for_ever(play: Callable[..., list[float]]) -> None:
    """Whatever visits see, the interval is the one that was set, within the bounds."""
    assert play(Fixed(Bounds(start_days=3)), "0110") == [3.0] * 4
    assert play(Fixed(Bounds(start_days=300)), "01") == [180.0] * 2
