"""Permits are used when they are granted, however few requests may be on their way."""

from __future__ import annotations

import asyncio

from webstrata.clock import JumpingClock
from webstrata.flows.crawl.polite_client import PoliteClient
from webstrata.permit.gate import PermitGate, PolitenessRules
from webstrata.records import Exchange, Failure, Permit, PostBody, Validators

ADDRESS_GAP_S = 0.5
ANSWER_S = 3.0


class SlowWeb:
    """Every name has one address; every answer takes three seconds of the clock. Notes when requests really start."""

    def __init__(self, clock: JumpingClock) -> None:
        self._clock = clock
        self.started: list[float] = []
        self.on_their_way = self.most = 0

    async def resolve(self, host: str, port: int) -> tuple[str, int] | Failure:
        return "192.0.2.1", port

    async def fetch(
        self,
        permit: Permit,
        *,
        accept: str = "*/*",
        validators: Validators | None = None,
        posted: PostBody | None = None,
    ) -> Exchange:
        at = self._clock.now()
        self.started.append(at)
        self.on_their_way += 1
        self.most = max(self.most, self.on_their_way)
        await self._clock.sleep_until(at + ANSWER_S)
        self.on_their_way -= 1
        return Exchange(url=permit.url, at=at, duration_s=ANSWER_S, request_head=b"", status=200)

    async def close(self) -> None: ...


def test_few_places_keep_the_gap_of_an_address() -> None:
    """Twenty hosts at one address, three requests at a time: never more, and never two starts too close."""
    clock = JumpingClock(1000.0)
    web = SlowWeb(clock)
    gate = PermitGate(
        PolitenessRules(
            agent="a", token="a", delay_s=1.0, delay_factor=0.0, address_delay_s=ADDRESS_GAP_S, obey_robots=False
        )
    )

    async def visit(door: PoliteClient, host: str) -> None:
        permit = await door.permit(f"http://{host}/", patience_until=1e9)
        assert isinstance(permit, Permit)
        await door.fetch(permit, accept="*/*")

    async def all_of_them() -> None:
        door = PoliteClient(web, gate, clock, keep=lambda _: None, listed=lambda *_: None, requests=3)
        await asyncio.gather(*(visit(door, f"h{n}.example") for n in range(20)))

    asyncio.run(all_of_them())
    gaps = [later - sooner for sooner, later in zip(web.started, web.started[1:], strict=False)]
    assert len(web.started) == 20
    assert web.most == 3
    assert min(gaps) >= ADDRESS_GAP_S
