from __future__ import annotations

from collections.abc import Callable

from webstrata.schedule.policy import Bounds
from webstrata.schedule.textbook.crawlers import StormCrawler


def test_worked_by_hand(play: Callable[..., list[float]]) -> None:
    """Half-way to the shortest interval after a change, 1.5 times as long without."""
    assert play(StormCrawler(), "1001") == [4.0, 6.0, 9.0, 5.0]


def test_whole_minutes(play: Callable[..., list[float]]) -> None:
    """Minutes are rounded down: 91 minutes become 75, then 112."""
    minute = 1 / 1440
    policy = StormCrawler(Bounds(min_days=60 * minute, start_days=91 * minute))
    assert [round(days * 1440) for days in play(policy, "10")] == [75, 112]


def test_limits_hold(play: Callable[..., list[float]]) -> None:
    """The interval stays within the bounds."""
    assert play(StormCrawler(), "0" * 20)[-1] == 180.0
    assert play(StormCrawler(), "1" * 40)[-1] == 1.0
