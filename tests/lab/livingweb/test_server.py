"""The living web on real sockets: sites by name and address, at the clock's moment."""

from __future__ import annotations

import asyncio
import random

import pytest

from tests.lab.livingweb.plain_client import Client, connected
from tests.lab.livingweb.recordings import DAY, T0, boost, make_recording
from webstrata.clock import ManualClock
from webstrata.errors import UsageError
from webstrata.fetch.http.guard import AddressGuard
from webstrata.lab.livingweb.behaviour import behaviour_of
from webstrata.lab.livingweb.recording import SHIPPED_WINDOW, load_shipped
from webstrata.lab.livingweb.server import LivingWeb


def test_every_shipped_page_is_served_as_recorded() -> None:
    """Over real sockets, at random instants of two years, every page is byte for byte what was published last."""

    async def scenario() -> None:
        chance = random.Random(7)
        recordings = load_shipped()
        clock = ManualClock(SHIPPED_WINDOW[0])
        async with LivingWeb(recordings, clock) as living:
            hosts = living.hosts()
            instants = sorted(chance.uniform(*SHIPPED_WINDOW) for _ in range(6))
            edges = [at for recording in recordings for at, _ in chance.choice(list(recording.pages.values()))][:6]
            for at in sorted(instants + [edge for edge in edges if edge > SHIPPED_WINDOW[0]]):
                clock.move_to(at)
                for recording in recordings:
                    async with connected(hosts[recording.host]) as client:
                        for path in recording.pages:
                            await _check_page(client, living, recording.site, path, clock.now())

    async def _check_page(client: Client, living: LivingWeb, site: str, path: str, at: float) -> None:
        recording = living.sites[f"{site}.test"].recording
        target = recording.url(path).removeprefix(f"http://{recording.host}")
        reply = await client.get(recording.host, target, accept_encoding="gzip")
        published = [blob for when, blob in recording.pages[path] if when <= at]
        if published and published[-1]:
            assert reply.status == 200
            assert reply.body == recording.contents[published[-1]]
        else:
            assert reply.status == (behaviour_of(site).gone_status if published else 404)

    asyncio.run(scenario())


def test_hosts_live_at_their_address_only() -> None:
    """A host answers at its own address; at another's, or under an unknown name, the request is misdirected."""

    async def scenario() -> None:
        clock = ManualClock(T0)
        other = make_recording("llvm", {"index.html": [(-1, "llvm")]})
        async with LivingWeb([boost(), other], clock) as living:
            hosts = living.hosts()
            assert {host: end.partition(":")[0] for host, end in hosts.items()} == {
                "boost.test": "127.0.0.2",
                "llvm.test": "127.0.0.3",
            }
            async with connected(hosts["llvm.test"]) as client:
                assert (await client.get("llvm.test", "/")).body == b"llvm"
                assert (await client.get("llvm.test:8080", "/")).body == b"llvm"
                assert (await client.get("boost.test", "/")).status == 421
                assert (await client.get("nobody.test", "/")).status == 421

    asyncio.run(scenario())


def test_the_guard_understands_the_exceptions() -> None:
    """The address guard, given the exceptions, allows exactly the addresses and ports that are served."""

    async def scenario() -> None:
        async with LivingWeb([boost()], ManualClock(T0)) as living:
            guard = AddressGuard(living.exceptions())
            address, _, port = living.hosts()["boost.test"].partition(":")
            assert guard.allows(address, int(port))
            assert not guard.allows(address, int(port) + 1)
            assert not guard.allows("127.0.0.3", int(port))

    asyncio.run(scenario())


def test_time_and_latency_are_told() -> None:
    """Each answer carries the clock's date and the latency declared for the n-th request of its path."""

    async def scenario() -> None:
        clock = ManualClock(T0 + 3600)
        async with LivingWeb([boost()], clock) as living, connected(living.hosts()["boost.test"]) as client:
            for n in range(3):
                reply = await client.get("boost.test", "/users/")
                assert reply.headers["date"] == "Sun, 01 Jan 2023 01:00:00 GMT"
                told_ms = float(reply.headers["server-timing"].removeprefix("living;dur="))
                assert told_ms / 1000 == pytest.approx(living.latency_s("boost.test", "/users/", n), abs=1e-9)
            assert living.latency_s("elsewhere.test", "/", 0) == 0.0

    asyncio.run(scenario())


def test_urls_are_those_that_may_be_visited() -> None:
    """The list of pages leaves out what robots.txt forbids and, for an instant, what does not exist."""
    site = make_recording("choldgraf", {"index.html": [(-1, "a")], "pr-preview/x.html": [(-1, "b")], "n": [(9, "c")]})
    living = LivingWeb([site], ManualClock(T0))
    assert living.urls() == ["http://choldgraf.test/", "http://choldgraf.test/n"]
    assert living.urls(T0 + DAY) == ["http://choldgraf.test/"]


@pytest.mark.parametrize("port", [99_999, 1])
def test_a_port_that_cannot_be_had(port: int) -> None:
    """A port that does not exist or is taken is told, and nothing stays open."""

    async def scenario() -> None:
        async with LivingWeb([boost()], ManualClock(T0)) as taken:
            wanted = port if port > 1 else int(taken.hosts()["boost.test"].partition(":")[2])
            with pytest.raises(UsageError, match="cannot listen"):
                await LivingWeb([boost()], ManualClock(T0), port=wanted).start()

    asyncio.run(scenario())
