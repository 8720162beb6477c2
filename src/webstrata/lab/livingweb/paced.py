"""Latency on the clock: a request to the living web takes as long as the living web says, whatever the socket took."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

from msgspec.structs import replace

from webstrata.lab.livingweb.server import LATENCY_HEADER, LivingWeb
from webstrata.ports import Clock, Web
from webstrata.records import Exchange, Failure, Permit, PostBody, Validators

_DECLARED = re.compile(r"\bliving;dur=(\d+(?:\.\d+)?)")


class PacedWeb:
    """The real `Web` port, with the time that the living web declares.

    The clock stands still while the real request runs, then passes over the declared latency; `duration_s` is that
    latency. A request that got no answer takes the latency of the first request for its path.
    """

    def __init__(self, web: Web, clock: Clock, living: LivingWeb) -> None:
        self._web = web
        self._clock = clock
        self._living = living

    async def resolve(self, host: str, port: int) -> tuple[str, int] | Failure:
        with self._clock.working():
            return await self._web.resolve(host, port)

    async def fetch(
        self,
        permit: Permit,
        *,
        accept: str = "*/*",
        validators: Validators | None = None,
        posted: PostBody | None = None,
    ) -> Exchange:
        start_at = self._clock.now()
        with self._clock.working():
            exchange = await self._web.fetch(permit, accept=accept, validators=validators, posted=posted)
        latency = self._declared(exchange, permit)
        await self._clock.sleep_until(start_at + latency)
        return replace(exchange, at=start_at, duration_s=latency)

    async def close(self) -> None:
        await self._web.close()

    def _declared(self, exchange: Exchange, permit: Permit) -> float:
        if found := _DECLARED.search(exchange.header(LATENCY_HEADER) or ""):
            return round(float(found[1]) / 1000, 6)
        return self._living.latency_s(permit.host, urlsplit(permit.url).path or "/", 0)
