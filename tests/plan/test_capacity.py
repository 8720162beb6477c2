"""The capacity of a schedule."""

from __future__ import annotations

import math

import pytest

from webstrata.errors import UsageError
from webstrata.plan.capacity import Capacity, HostDemand, capacity
from webstrata.plan.downloads import DownloadTimes
from webstrata.plan.load import HostLoad, SpacingModel

STEADY = DownloadTimes([(host, 1.0, 1) for host in ("a", "b", "c") for _ in range(200)])


def _demand(host: str, pages: int, per_hour: float, address: str = "") -> HostDemand:
    return HostDemand(load=HostLoad(host=host, docs=pages, asked_s=0, address=address), visits_per_hour=per_hour)


def test_the_fullest_host_decides() -> None:
    """A host with one visit in two seconds has 1800 an hour; if half is used, as many pages fit again."""
    found = capacity([_demand("a", 100, 900), _demand("b", 100, 90)], STEADY, SpacingModel(), threads=64)

    assert found.limited_by == "a"
    assert found.fullest[0].used == pytest.approx(0.5, rel=0.1)
    assert found.more_pages_same_hosts == pytest.approx(200, rel=0.2)
    assert (found.pages, found.visits_per_hour) == (200, 990)


def test_threads_decide_about_new_hosts() -> None:
    """990 seconds of work per hour use a quarter of one thread: three times as many pages on other hosts fit."""
    found = capacity([_demand("a", 100, 900), _demand("b", 100, 90)], STEADY, SpacingModel(), threads=1)

    assert found.more_pages_new_hosts == pytest.approx(200 * (3600 / 990 - 1), rel=0.1)


def test_an_address_may_be_the_narrow_place() -> None:
    """Hosts at one address share its capacity."""
    demands = [_demand(host, 10, 500, "192.0.2.1") for host in "abc"]

    found = capacity(demands, STEADY, SpacingModel(address_gap_s=2), threads=64)

    assert found.limited_by == "address 192.0.2.1"
    assert found.fullest[0].used == pytest.approx(1500 * 2 / 3600)


def test_too_many_are_negative() -> None:
    """If the schedule exceeds the capacity, the number of further pages is negative."""
    assert capacity([_demand("a", 100, 3600)], STEADY, SpacingModel(), threads=64).more_pages_same_hosts < -40


@pytest.mark.parametrize("per_hour", [0.0, math.nan, math.inf, -1.0])
def test_nothing_and_nonsense(per_hour: float) -> None:
    """Hosts without visits, or with invalid numbers, do not count; zero threads are an error."""
    assert capacity([_demand("a", 1, per_hour)], STEADY, SpacingModel(), threads=1) == Capacity()
    with pytest.raises(UsageError):
        capacity([], STEADY, SpacingModel(), threads=0)
