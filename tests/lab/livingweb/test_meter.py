"""The politeness meter reports each kind of violation, and none for polite requests."""

from __future__ import annotations

import asyncio
import re

import pytest

from tests.lab.livingweb.plain_client import connected
from tests.lab.livingweb.recordings import DAY, T0, boost
from webstrata.clock import ManualClock
from webstrata.lab.livingweb.behaviour import SiteBehaviour
from webstrata.lab.livingweb.meter import PolitenessMeter
from webstrata.lab.livingweb.server import LivingWeb

FREE = SiteBehaviour(address="127.0.0.2", disallow=("/private/",))
SLOW = SiteBehaviour(address="127.0.0.2", crawl_delay_s=10)
HASTY = SiteBehaviour(address="127.0.0.2", crawl_delay_s=0.1)

# (host, behaviour, path, seconds, latency)
Requests = list[tuple[str, SiteBehaviour, str, float, float]]


def robots(
    host: str = "a", behaviour: SiteBehaviour = FREE, at: float = 0.0
) -> tuple[str, SiteBehaviour, str, float, float]:
    return (host, behaviour, "/robots.txt", at, 0.1)


CASES: list[tuple[str, Requests, list[str]]] = [
    ("polite", [robots(), ("a", FREE, "/", 1, 0.1), ("a", FREE, "/x", 2, 0.1)], []),
    ("rounding", [robots(), ("a", FREE, "/", 1, 0.1), ("a", FREE, "/x", 1.9999, 0.1)], []),
    ("too soon", [robots(), ("a", FREE, "/", 1, 0.1), ("a", FREE, "/x", 1.7, 0.1)], ["host-gap"]),
    ("even for robots.txt", [("a", FREE, "/robots.txt", 0, 0.1), robots(at=0.6)], ["host-gap"]),
    ("longer Crawl-delay", [robots("a", SLOW), ("a", SLOW, "/", 9, 0.1)], ["host-gap"]),
    ("shorter Crawl-delay", [robots("a", HASTY), ("a", HASTY, "/", 0.6, 0.1)], ["host-gap"]),
    ("two hosts, one address", [robots("a"), robots("b", at=0.2)], ["address-gap"]),
    ("two hosts in turn", [robots("a"), robots("b", at=0.5)], []),
    ("two addresses", [robots("a"), robots("b", SiteBehaviour(address="127.0.0.3"), at=0.0)], []),
    ("overlap", [robots(), ("a", FREE, "/", 1, 5), ("a", FREE, "/x", 3, 0.1)], ["overlap"]),
    ("two overlaps", [robots(), *[("a", FREE, "/", at, 5 / at) for at in (1.0, 2.0, 3.0)]], ["overlap"] * 2),
    ("disallowed", [robots(), ("a", FREE, "/private/x", 1, 0.1)], ["disallowed"]),
    ("robots.txt not requested", [("a", FREE, "/", 1, 0.1)], ["no-robots"]),
    ("robots.txt of another host", [robots("b", at=0), ("a", FREE, "/", 1, 0.1)], ["no-robots"]),
    ("robots.txt after the page", [("a", FREE, "/", 1, 0.1), robots(at=2)], ["no-robots"]),
    ("robots.txt a day old", [robots(), ("a", FREE, "/", DAY + 0.1, 0.1)], []),
    ("robots.txt older", [robots(), ("a", FREE, "/", DAY + 10, 0.1)], ["old-robots"]),
]


@pytest.mark.parametrize(("requests", "kinds"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_violations(requests: Requests, kinds: list[str]) -> None:
    """For each sequence of requests exactly its violations are reported."""
    meter = PolitenessMeter(minimum_gap_s=1.0)
    for host, behaviour, path, at, latency_s in requests:
        meter.record(host, behaviour, path, 1e9 + at, latency_s)
    assert [violation.kind for violation in meter.violations()] == kinds
    assert meter.count == len(kinds)
    assert meter.requests.total() == len(requests)


def test_all_are_counted_and_the_first_are_stored() -> None:
    """Any number of violations is counted; only the first thousand are stored."""
    meter = PolitenessMeter()
    for _ in range(3000):
        meter.record("a", FREE, "/", 5.0, 0.0)
    assert meter.count == 3 * 3000 - 2
    assert len(meter.violations()) == 1000
    assert re.search("robots", meter.violations()[0].detail)


def test_the_server_reports_impolite_clients() -> None:
    """Requests at one instant over real sockets are violations; spaced requests after robots.txt are not."""

    async def scenario(gap_s: float, *, with_robots: bool) -> set[str]:
        clock = ManualClock(T0)
        async with LivingWeb([boost()], clock) as web, connected(web.hosts()["boost.test"]) as client:
            for target in (["/robots.txt"] if with_robots else []) + ["/", "/users/", "/data.csv"]:
                await client.get("boost.test", target)
                clock.advance(gap_s)
            return {violation.kind for violation in web.meter.violations()}

    assert asyncio.run(scenario(0.0, with_robots=False)) == {"host-gap", "address-gap", "overlap", "no-robots"}
    assert asyncio.run(scenario(5.0, with_robots=True)) == set()
