"""The figures of an attack: delays against a rhythm, and gaps against promises, from made-up events."""

from __future__ import annotations

import pytest

from tests.attacks.events import Event, RequestEvent
from tests.attacks.figures import WatchedPage, gap_figures, healthy_figures, together

PAGE = WatchedPage(host="a.test", path="/", first_at=0.0, every_s=20.0)


def requests(*times: float, path: str = "/") -> list[Event]:
    return [RequestEvent(at=at, host="a.test", path=path) for at in times]


DELAYS = {
    "visits in time": ((100.0, 120.1, 140.0), [0.0, 0.1, 0.0]),
    "a late visit": ((100.0, 127.0, 140.0), [0.0, 7.0, 0.0]),
    "a visit that serves two times": ((100.0, 140.5), [0.0, 20.5, 0.5]),
    "no visit at all": ((), [60.0, 40.0, 20.0]),
    "a rhythm leaves out a time soon after a visit": ((100.0, 133.0, 155.0), [0.0, 13.0]),
    "a visit before the first time": ((92.0, 120.0, 140.0), [0.0, 0.0]),
}


@pytest.mark.parametrize("name", DELAYS)
def test_delays(name: str) -> None:
    """Each scheduled time has the delay of the first request at or after it."""
    times, expected = DELAYS[name]
    (figures,) = healthy_figures([PAGE], requests(*times), 100.0, 160.0)
    assert figures.delays == pytest.approx(expected)


def test_last_times_may_be_open() -> None:
    """A time shortly before the end for which no visit came yet is not counted."""
    (figures,) = healthy_figures([PAGE], requests(100.0), 100.0, 125.0)
    assert figures.delays == (0.0,)
    assert together([figures]).visits == 1


def test_gaps() -> None:
    """Requests for pages and robots.txt are counted together, and a gap below the promise is reported."""
    events = requests(10.0, 12.0, path="/robots.txt") + requests(13.0, 15.0)
    figures = gap_figures(events, {"a.test": 2.0})
    assert figures.counted == 3
    assert [(gap.gap_s, gap.promised_s) for gap in figures.short] == [(1.0, 2.0)]
    assert figures.least_share == 0.5


def test_retry_after_is_a_promise() -> None:
    """After a response with Retry-After the next request must wait that long."""
    pause = RequestEvent(at=10.0, host="a.test", path="/", hold_s=30.0, is_answer=True)
    figures = gap_figures([*requests(10.0, 25.0, 27.0), pause], {"a.test": 2.0})
    assert [(gap.at, gap.promised_s) for gap in figures.short] == [(10.0, 30.0)]
