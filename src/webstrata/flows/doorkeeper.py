"""Waits at the host's door: turns a URL into a `Permit` through robots.txt, spacing and back-off.

The gate (pure) decides; this flow does what the gate asks for: sleeps on the clock, resolves names, fetches
robots.txt once however many pages wait for it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

from webstrata import urls
from webstrata.permit.gate import Gate
from webstrata.permit.robots import Robots
from webstrata.permit.robots_fetch import RobotsAnswer, robots_step, robots_url
from webstrata.ports import Clock, Web
from webstrata.records import (
    Exchange,
    Failure,
    FailureKind,
    NeedRobots,
    Permit,
    Refusal,
    RobotsState,
    Wait,
)


class Doorkeeper:
    """Asks for permits on behalf of visits.

    `keep` is handed every robots.txt exchange (for the archive), `listed` the sitemaps that an origin names.
    """

    def __init__(
        self,
        web: Web,
        gate: Gate,
        clock: Clock,
        *,
        keep: Callable[[Exchange], None],
        listed: Callable[[str, Sequence[str]], None],
    ) -> None:
        self._web = web
        self._gate = gate
        self._clock = clock
        self._keep = keep
        self._listed = listed
        self._fetching: dict[str, asyncio.Task[None]] = {}

    async def permit(self, url: str, patience_until: float) -> Permit | Failure | Wait:
        """Leave to fetch `url` now; a `Wait` where it would take past `patience_until`."""
        found = await self._web.resolve(urls.host_of(url), urls.port_of(url))
        if isinstance(found, Failure):
            return found
        address, port = found
        while True:
            match self._gate.ask(url, address, port, self._clock.now()):
                case Permit() as permit:
                    return permit
                case Refusal(why=why):
                    return Failure(kind=FailureKind.ROBOTS, detail=why)
                case NeedRobots(origin=origin):
                    await self._learn_robots(origin)
                case Wait(until=until) as wait:
                    if until > patience_until:
                        return wait
                    await self._clock.sleep_until(until)

    def finished(self, permit: Permit, exchange: Exchange) -> None:
        self._gate.finished(permit, exchange, self._clock.now())

    async def _learn_robots(self, origin: str) -> None:
        task = self._fetching.get(origin)
        if task is None:
            task = asyncio.create_task(self._fetch_robots(origin))
            self._fetching[origin] = task
            task.add_done_callback(lambda _: self._fetching.pop(origin, None))
        await asyncio.shield(task)

    async def _fetch_robots(self, origin: str) -> None:
        url, hops = robots_url(origin), 0
        while not isinstance(
            step := robots_step(await self._robots_exchange(origin, url), url=url, hops=hops), RobotsAnswer
        ):
            url, hops = step, hops + 1
        self._gate.learn_robots(
            origin, RobotsState(origin=origin, at=self._clock.now(), status=step.status, body=step.body)
        )
        if sitemaps := Robots.parse(step.body, step.status).sitemaps:
            self._listed(origin, sitemaps)

    async def _robots_exchange(self, origin: str, url: str) -> Exchange | Failure:
        found = await self._web.resolve(urls.host_of(url), urls.port_of(url))
        if isinstance(found, Failure):
            return found
        while isinstance(asked := self._gate.ask_robots(origin, *found, self._clock.now(), url=url), Wait):
            await self._clock.sleep_until(asked.until)
        exchange = await self._web.fetch(asked, accept="text/plain, */*;q=0.5")
        self._gate.finished(asked, exchange, self._clock.now())
        self._keep(exchange)
        return exchange
