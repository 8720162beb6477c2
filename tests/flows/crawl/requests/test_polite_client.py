"""`PoliteClient` uses permits when they are granted, however few requests may be open."""

from __future__ import annotations

import asyncio

from webstrata.clock import JumpingClock
from webstrata.flows.crawl.requests.polite_client import PoliteClient
from webstrata.permit.gate import PermitGate
from webstrata.permit.spacing import PolitenessRules
from webstrata.ports import BeforeSend
from webstrata.records import Exchange, Failure, Permit, PostBody, Validators

ADDRESS_GAP_S = 0.5
RESPONSE_S = 3.0


class SlowWeb:
    """All hosts have one address; every response takes three seconds of the clock. Records the starts of requests."""

    def __init__(self, clock: JumpingClock) -> None:
        self._clock = clock
        self.started: list[float] = []
        self.open = self.max_open = 0

    async def resolve(self, host: str, port: int) -> tuple[str, int] | Failure:
        return "192.0.2.1", port

    async def fetch(
        self,
        permit: Permit,
        *,
        accept: str = "*/*",
        validators: Validators | None = None,
        posted: PostBody | None = None,
        before_send: BeforeSend | None = None,
        total_s: float | None = None,
    ) -> Exchange:
        if before_send is not None:
            await before_send()
        at = self._clock.now()
        self.started.append(at)
        self.open += 1
        self.max_open = max(self.max_open, self.open)
        await self._clock.sleep_until(at + RESPONSE_S)
        self.open -= 1
        return Exchange(url=permit.url, at=at, duration_s=RESPONSE_S, request_head=b"", status=200)

    async def close(self) -> None: ...


def test_the_limit_on_requests_keeps_the_gap_of_an_address() -> None:
    """With twenty hosts at one address and three open requests, no two requests start within the address gap."""
    clock = JumpingClock(1000.0)
    web = SlowWeb(clock)
    gate = PermitGate(
        PolitenessRules(
            agent="a", token="a", delay_s=1.0, delay_factor=0.0, address_delay_s=ADDRESS_GAP_S, obey_robots=False
        )
    )

    async def visit(client: PoliteClient, host: str) -> None:
        assert isinstance(await client.request(f"http://{host}/", 1e9, accept="*/*"), Exchange)

    async def visit_all() -> None:
        client = PoliteClient(web, gate, clock, max_requests=3)
        await asyncio.gather(*(visit(client, f"h{n}.example") for n in range(20)))

    asyncio.run(visit_all())
    gaps = [later - sooner for sooner, later in zip(web.started, web.started[1:], strict=False)]
    assert len(web.started) == 20
    assert web.max_open == 3
    assert min(gaps) >= ADDRESS_GAP_S
