"""The living web on real sockets: sites by name and address, in the version of the clock's time."""

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
    """Over real sockets, at random instants of two years, every page is byte for byte the last published version."""

    async def scenario() -> None:
        chance = random.Random(7)
        recordings = load_shipped()
        clock = ManualClock(SHIPPED_WINDOW[0])
        async with LivingWeb(recordings, clock) as web:
            hosts = web.hosts()
            instants = sorted(chance.uniform(*SHIPPED_WINDOW) for _ in range(6))
            edges = [at for recording in recordings for at, _ in chance.choice(list(recording.pages.values()))][:6]
            for at in sorted(instants + [edge for edge in edges if edge > SHIPPED_WINDOW[0]]):
                clock.move_to(at)
                for recording in recordings:
                    async with connected(hosts[recording.host]) as client:
                        for path in recording.pages:
                            await _check_page(client, web, recording.site, path, clock.now())

    async def _check_page(client: Client, web: LivingWeb, site: str, path: str, at: float) -> None:
        recording = web.sites[f"{site}.test"].recording
        target = recording.url(path).removeprefix(f"http://{recording.host}")
        reply = await client.get(recording.host, target, accept_encoding="gzip")
        published = [blob for when, blob in recording.pages[path] if when <= at]
        if published and published[-1]:
            assert reply.status == 200
            assert reply.body == recording.contents[published[-1]]
        else:
            assert reply.status == (behaviour_of(site).gone_status if published else 404)

    asyncio.run(scenario())


def test_hosts_respond_at_their_address_only() -> None:
    """A host responds at its own address; a request at another address or for an unknown name gets status 421."""

    async def scenario() -> None:
        clock = ManualClock(T0)
        other = make_recording("llvm", {"index.html": [(-1, "llvm")]})
        async with LivingWeb([boost(), other], clock) as web:
            hosts = web.hosts()
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


def test_the_address_guard_accepts_the_exceptions() -> None:
    """With the exceptions, the address guard allows exactly the addresses and ports that are served."""

    async def scenario() -> None:
        async with LivingWeb([boost()], ManualClock(T0)) as web:
            guard = AddressGuard(web.exceptions())
            address, _, port = web.hosts()["boost.test"].partition(":")
            assert guard.allows(address, int(port))
            assert not guard.allows(address, int(port) + 1)
            assert not guard.allows("127.0.0.3", int(port))

    asyncio.run(scenario())


def test_headers_declare_time_and_latency() -> None:
    """Each response has the clock's date and the latency of the n-th request for its path."""

    async def scenario() -> None:
        clock = ManualClock(T0 + 3600)
        async with LivingWeb([boost()], clock) as web, connected(web.hosts()["boost.test"]) as client:
            for n in range(3):
                reply = await client.get("boost.test", "/users/")
                assert reply.headers["date"] == "Sun, 01 Jan 2023 01:00:00 GMT"
                declared_ms = float(reply.headers["server-timing"].removeprefix("living;dur="))
                assert declared_ms / 1000 == pytest.approx(web.latency_s("boost.test", "/users/", n), abs=1e-9)
            assert web.latency_s("elsewhere.test", "/", 0) == 0.0

    asyncio.run(scenario())


def test_urls_are_those_that_may_be_visited() -> None:
    """The list of pages omits pages that robots.txt disallows and, at an instant, those that do not exist."""
    site = make_recording("choldgraf", {"index.html": [(-1, "a")], "pr-preview/x.html": [(-1, "b")], "n": [(9, "c")]})
    web = LivingWeb([site], ManualClock(T0))
    assert web.urls() == ["http://choldgraf.test/", "http://choldgraf.test/n"]
    assert web.urls(T0 + DAY) == ["http://choldgraf.test/"]


@pytest.mark.parametrize("port", [99_999, 1])
def test_a_port_that_is_not_available(port: int) -> None:
    """A port number that is invalid or in use is an error."""

    async def scenario() -> None:
        async with LivingWeb([boost()], ManualClock(T0)) as taken:
            number = port if port > 1 else int(taken.hosts()["boost.test"].partition(":")[2])
            with pytest.raises(UsageError, match="cannot listen"):
                await LivingWeb([boost()], ManualClock(T0), port=number).start()

    asyncio.run(scenario())
