"""A process that visits pages with the leases of hosts, for tests that run two of them or kill one."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from multiprocessing.connection import Connection

from msgspec import Struct

from webstrata.clock import RealClock
from webstrata.fetch.http.client import HttpWeb
from webstrata.fetch.http.guard import AddressGuard
from webstrata.fetch.http.request import FetchLimits
from webstrata.flows.crawl.requests.host_leases import HostLeases
from webstrata.flows.crawl.requests.polite_client import PoliteClient
from webstrata.flows.crawl.requests.polite_visit import PoliteVisit
from webstrata.permit.gate import PermitGate
from webstrata.permit.spacing import PolitenessRules
from webstrata.records import Wait
from webstrata.remember.engine import open_store
from webstrata.remember.homes.store_home import StoreHome


class Plan(Struct, frozen=True, kw_only=True):
    """What the process does."""

    store_url: str
    home: StoreHome | None = None
    port: int
    hosts: Sequence[str]
    visits: int = 1
    """Visits of each host."""
    delay_s: float = 0.3
    lease_s: float = 1.5
    patience_s: float = 60.0


def visit(plan: Plan, pipe: Connection) -> None:
    """Visit the hosts at the same time. Sends "sent" after each response, the end of each wait, and "done"."""

    async def main() -> None:
        clock = RealClock()
        store = open_store(plan.store_url, clock, home=plan.home)
        web = HttpWeb(
            clock,
            AddressGuard((f"127.0.0.1/32:{plan.port}",)),
            FetchLimits(connect_s=20.0, first_byte_s=20.0, total_s=60.0),
            hosts=dict.fromkeys(plan.hosts, f"127.0.0.1:{plan.port}"),
        )
        rules = PolitenessRules(
            agent="webstrata", token="webstrata", delay_s=plan.delay_s, delay_factor=0.0, address_delay_s=0.0
        )
        gate = PermitGate(rules)
        gate.restore(*await store.queue.politeness())
        leases = HostLeases(
            store=store.hosts, gate=gate, clock=clock, node_name="n", clock_difference_s=0.0, lease_s=plan.lease_s
        )
        client = PoliteClient(web, gate, clock, leases=leases)

        async def visit_host(host: str) -> None:
            for number in range(plan.visits):
                result = await PoliteVisit(client, patience_until=clock.now() + plan.patience_s).get(
                    f"http://{host}/{number}", accept="*/*"
                )
                pipe.send(result.until if isinstance(result, Wait) else "sent")

        try:
            await asyncio.gather(*map(visit_host, plan.hosts))
        finally:
            await client.close()
            await leases.close()
            await web.close()
            await store.close()
        pipe.send("done")

    asyncio.run(main())
