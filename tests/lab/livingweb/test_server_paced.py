"""Latency on the clock: the real fetch adapter with the living web on a jumping clock."""

from __future__ import annotations

import asyncio
import time
from contextlib import AsyncExitStack

from tests.lab.livingweb.recordings import DAY, T0, boost, make_recording
from webstrata.clock import JumpingClock
from webstrata.fetch.http.client import HttpWeb
from webstrata.fetch.http.guard import AddressGuard
from webstrata.fetch.http.request import FetchLimits
from webstrata.lab.livingweb.server import LivingWeb, PacedWeb
from webstrata.records import Exchange, FailureKind, Permit, Validators


class World:
    """A living web and the real fetch adapter in a `PacedWeb`, all on one jumping clock."""

    def __init__(self) -> None:
        self.clock = JumpingClock(T0)
        other = make_recording("llvm", {"index.html": [(-1, "llvm")]})
        self.living = LivingWeb([boost(), other], self.clock)
        self._stack = AsyncExitStack()

    async def __aenter__(self) -> World:
        await self._stack.enter_async_context(self.living)
        real = HttpWeb(self.clock, AddressGuard(self.living.exceptions()), FetchLimits(), self.living.hosts())
        self.paced = PacedWeb(real, self.clock, self.living)
        self._stack.push_async_callback(self.paced.close)
        return self

    async def __aexit__(self, *problem: object) -> None:
        await self._stack.aclose()

    async def get(self, url: str, validators: Validators | None = None) -> Exchange:
        host = url.split("/")[2]
        resolved = await self.paced.resolve(host, 80)
        assert isinstance(resolved, tuple)
        permit = Permit(
            url=url,
            origin=f"http://{host}",
            host=host,
            address=resolved[0],
            port=resolved[1],
            agent="test",
            granted_at=self.clock.now(),
        )
        return await self.paced.fetch(permit, validators=validators)


def test_a_request_takes_its_declared_latency() -> None:
    """Start, duration and end of each exchange are times of the clock, with the latency that the server declares."""

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


def test_requests_to_two_hosts_run_in_parallel() -> None:
    """Each of two parallel requests ends after its own latency; the clock advances by the longer one."""

    async def scenario() -> None:
        async with World() as world:
            both = await asyncio.gather(world.get("http://boost.test/"), world.get("http://llvm.test/"))
            assert {exchange.at for exchange in both} == {T0}
            assert world.clock.now() == T0 + max(exchange.duration_s for exchange in both)

    asyncio.run(scenario())


def test_daily_visits_get_the_version_of_the_day() -> None:
    """Daily visits get each day's version, 304 between changes, no violation, and take almost no real time."""

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


def test_a_request_without_response_takes_time() -> None:
    """If the server is closed, the failure comes after the latency of the path's first request."""

    async def scenario() -> None:
        async with World() as world:
            await world.living.close()
            exchange = await world.get("http://boost.test/users/")
            assert exchange.failure is not None
            assert exchange.failure.kind is FailureKind.REFUSED
            assert world.clock.now() == T0 + world.living.latency_s("boost.test", "/users/", 0)

    asyncio.run(scenario())
