"""The pace of the loop, from the timings of its rounds."""

from __future__ import annotations

import pytest

from webstrata.plan.downloads import DownloadTimes
from webstrata.plan.estimate import estimate
from webstrata.plan.load import HostLoad, SpacingModel
from webstrata.plan.pace import LoopPace, loop_pace
from webstrata.records import RoundTiming


def _round(visits: int, seconds: float, limited_s: float) -> RoundTiming:
    return RoundTiming(at=0.0, visits=visits, seconds=seconds, limited_s=limited_s)


CASES = [
    ("nothing is known", [], 0.0),
    ("the machine decided", [_round(5000, 10.0, 9.0)], 0.002),
    ("hosts decided: the loop was idle for nine tenths", [_round(1000, 80.0, 8.0)], 0.01),
    ("large rounds count more", [_round(100, 0.4, 0.4), _round(4900, 9.6, 9.6)], 0.002),
    ("a crawl takes the sum of its rounds: their mean, also of two", [_round(5000, n, n) for n in (9.0, 11.0)], 0.002),
    ("a disturbed round counts as three", [_round(1000, n, n) for n in (2.0, 3.0, 4.0, 60.0, 2.0)], 0.004),
    ("rounds without visits or time say nothing", [_round(0, 5.0, 5.0), _round(5, 0.0, 0.0)], 0.0),
]


@pytest.mark.parametrize(("rounds", "visit_s"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_the_cost_of_a_visit(rounds: list[RoundTiming], visit_s: float) -> None:
    """A round that the machine limited gives the cost of a visit; an idle loop could have made more visits."""
    assert loop_pace(rounds).visit_s == pytest.approx(visit_s)


def test_a_crawl_takes_at_least_the_time_of_the_machine() -> None:
    """With quick hosts the pace of the loop decides; with slow hosts it changes nothing."""
    quick = DownloadTimes([(f"{n}", 0.01, 1) for n in range(40) for _ in range(50)])
    loads = [HostLoad(host=f"{n}", docs=2500, asked_s=0) for n in range(40)]
    no_delay = SpacingModel(delay_s=0, delay_factor=0, address_gap_s=0)
    pace = LoopPace(visit_s=0.002, spread=0.05)

    found = estimate(loads, quick, no_delay, 64, pace)
    assert found.median_s == pytest.approx(100_000 * 0.002, rel=0.02)
    assert found.low_s < found.median_s < found.high_s < 1.2 * found.median_s
    assert found.machine_is_slowest
    assert estimate(loads, quick, no_delay, 64).median_s < 0.3 * found.median_s

    slow = estimate(loads, quick, SpacingModel(), 64, pace)
    assert slow.median_s == estimate(loads, quick, SpacingModel(), 64).median_s
    assert slow.machine_s == pytest.approx(200)
    assert not slow.machine_is_slowest
