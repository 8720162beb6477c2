"""Latency on the clock: the real fetch adapter against the living web on the jumping clock."""

from __future__ import annotations

import asyncio
import time
from contextlib import AsyncExitStack

from tests.lab.livingweb.recordings import DAY, T0, boost, make_recording
from webstrata.clock import JumpingClock
from webstrata.fetch.http.client import HttpWeb
from webstrata.fetch.http.guard import AddressGuard
from webstrata.fetch.http.request import FetchLimits
from webstrata.lab.livingweb.paced import PacedWeb
from webstrata.lab.livingweb.server import LivingWeb
from webstrata.records import Exchange, FailureKind, Permit, Validators


class World:
    """A living web, the real fetch adapter and a pace, all on one jumping clock."""

    def __init__(self) -> None:
        self.clock = JumpingClock(T0)
        other = make_recording("llvm", {"index.html": [(-1, "llvm")]})
        self.living = LivingWeb([boost(), other], self.clock)
        self._stack = AsyncExitStack()

    async def __aenter__(self) -> World:
        await self._stack.enter_async_context(self.living)
        real = HttpWeb(self.clock, AddressGuard(self.living.exceptions()), FetchLimits(), self.living.hosts())
        self.web = PacedWeb(real, self.clock, self.living)
        self._stack.push_async_callback(self.web.close)
        return self

    async def __aexit__(self, *problem: object) -> None:
        await self._stack.aclose()

    async def get(self, url: str, validators: Validators | None = None) -> Exchange:
        host = url.split("/")[2]
        found = await self.web.resolve(host, 80)
        assert isinstance(found, tuple)
        permit = Permit(
            url=url,
            origin=f"http://{host}",
            host=host,
            address=found[0],
            port=found[1],
            agent="test",
            granted_at=self.clock.now(),
        )
        return await self.web.fetch(permit, validators=validators)


def test_a_request_takes_its_declared_latency() -> None:
    """Start, duration and end of each exchange are the clock's, and equal what the living web declares."""

    async def scenario() -> None:
        async with World() as world:
            for n in range(5):
                start_at = world.clock.now()
                exchange = await world.get("http://boost.test/users/")
                assert (exchange.status, exchange.body) == (200, b"<p>users")
                assert exchange.at == start_at
                assert exchange.duration_s == world.living.latency_s("boost.test", "/users/", n)
                assert world.clock.now() == start_at + exchange.duration_s
                await world.clock.sleep_until(start_at + 2)

    asyncio.run(scenario())


def test_requests_to_two_hosts_run_side_by_side() -> None:
    """Two requests at once end each at its own time, and the clock has passed only the longer."""

    async def scenario() -> None:
        async with World() as world:
            both = await asyncio.gather(world.get("http://boost.test/"), world.get("http://llvm.test/"))
            assert {exchange.at for exchange in both} == {T0}
            assert world.clock.now() == T0 + max(exchange.duration_s for exchange in both)

    asyncio.run(scenario())


def test_a_month_of_visits_sees_what_was_there() -> None:
    """A visitor that comes daily gets each day's version, 304 between changes, and no violation, in no real time."""

    async def scenario() -> None:
        async with World() as world:
            began = time.monotonic()
            seen: list[tuple[int | None, bytes]] = []
            validators = None
            for day in range(7):
                await world.clock.sleep_until(T0 + day * DAY)
                await world.get("http://boost.test/robots.txt")
                await world.clock.sleep_until(world.clock.now() + 5)
                exchange = await world.get("http://boost.test/news/a%20b.html", validators)
                validators = Validators(etag=exchange.header("etag"), last_modified=exchange.header("last-modified"))
                seen.append((exchange.status, exchange.body if exchange.status == 200 else b""))
            assert seen == [
                (200, b"<p>one"),
                (200, b"<p>two"),
                (404, b""),
                (404, b""),
                (200, b"<p>three"),
                (304, b""),
                (304, b""),
            ]
            assert world.living.meter.violations() == []
            assert time.monotonic() - began < 5

    asyncio.run(scenario())


def test_a_request_without_answer_takes_time_too() -> None:
    """Where the server is gone the failure comes after the latency of the path's first request."""

    async def scenario() -> None:
        async with World() as world:
            await world.living.close()
            exchange = await world.get("http://boost.test/users/")
            assert exchange.failure is not None
            assert exchange.failure.kind is FailureKind.REFUSED
            assert world.clock.now() == T0 + world.living.latency_s("boost.test", "/users/", 0)

    asyncio.run(scenario())
