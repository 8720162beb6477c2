"""Gaps between requests as a server counts them: from the arrival of one request to the arrival of the next."""

from __future__ import annotations

import asyncio
import ssl
import time
from collections.abc import Awaitable, Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

from tests.flows.crawl.requests.counting_origin import TOLERANCE_S, Arrival, CountingOrigin, response, without_robots
from webstrata.clock import RealClock
from webstrata.fetch.http.client import HttpWeb
from webstrata.fetch.http.guard import AddressGuard
from webstrata.fetch.http.request import FetchLimits
from webstrata.flows.crawl.requests.polite_client import PoliteClient
from webstrata.flows.crawl.requests.polite_visit import PoliteVisit
from webstrata.permit.gate import PermitGate
from webstrata.permit.spacing import PolitenessRules
from webstrata.records import FailureKind, FetchResult, PostBody

TLS_DATA = Path(__file__).parents[3] / "data" / "tls"
GAP_S = 0.6


def visits(
    origin: CountingOrigin,
    scenario: Callable[[PoliteClient], Awaitable[None]],
    *,
    secure: CountingOrigin | None = None,
    delay_s: float = GAP_S,
    address_delay_s: float = 0.0,
    connections_per_host: int = 1,
) -> None:
    """Run visits of a.test and b.test, which are at the origin, and of site.test, which may be at another one."""
    hosts = {"a.test": origin.port, "b.test": origin.port, "site.test": (secure or origin).port}

    async def main() -> None:
        clock = RealClock()
        web = HttpWeb(
            clock,
            AddressGuard(tuple(f"127.0.0.1/32:{port}" for port in hosts.values())),
            FetchLimits(connect_s=20.0, first_byte_s=20.0, total_s=60.0),
            hosts={name: f"127.0.0.1:{port}" for name, port in hosts.items()},
            ca_file=str(TLS_DATA / "ca.pem"),
        )
        rules = PolitenessRules(
            agent="webstrata",
            token="webstrata",
            delay_s=delay_s,
            delay_factor=0.0,
            address_delay_s=address_delay_s,
            connections_per_host=connections_per_host,
        )
        client = PoliteClient(web, PermitGate(rules), clock)
        try:
            await scenario(client)
        finally:
            await client.close()
            await web.close()

    asyncio.run(main())


def tls() -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(TLS_DATA / "good.pem")
    return context


async def get(client: PoliteClient, url: str, **limits: Any) -> FetchResult:
    visit = PoliteVisit(client, patience_until=client.now() + 60, **limits)
    result = await visit.get(url, accept="*/*")
    assert isinstance(result, FetchResult)
    return result


def test_slow_handshakes_keep_the_gap_of_the_host() -> None:
    """A request that connects slowly and one that connects fast are sent at least the gap apart."""

    def reply(arrival: Arrival) -> bytes | None:
        time.sleep(0.3)  # the next request gets its permit before this one ends
        return response(b"", 404 if arrival.path == "/robots.txt" else 200, "Connection: close")

    async def scenario(client: PoliteClient) -> None:
        await asyncio.gather(*(get(client, f"https://site.test/{n}") for n in range(4)))

    with CountingOrigin(reply, tls=tls(), handshakes_s=(0.0, 0.5, 0.0, 0.5, 0.0)) as origin:
        visits(origin, scenario, connections_per_host=3)
        assert len(origin.arrivals) == 5
        assert min(origin.gaps_s()) >= GAP_S - TOLERANCE_S


def test_slow_handshakes_keep_the_gap_of_the_address() -> None:
    """Two hosts at one address: the one that connects fast waits after the one that connects slowly has sent."""

    async def scenario(client: PoliteClient) -> None:
        slow = asyncio.create_task(get(client, "https://site.test/"))
        await asyncio.sleep(0.05)
        await asyncio.gather(slow, get(client, "http://a.test/"))

    with CountingOrigin() as fast, CountingOrigin(tls=tls(), handshakes_s=(0.5, 0.0)) as slow:
        visits(fast, scenario, secure=slow, address_delay_s=0.4)
        times = sorted(arrival.at for arrival in (*fast.arrivals, *slow.arrivals))
        assert len(times) == 4
        assert min(later - sooner for sooner, later in pairwise(times)) >= 0.4 - TOLERANCE_S


def test_a_resent_request_waits_for_its_permit() -> None:
    """A kept connection that the server closes without an answer: the request is sent again after the gap, once."""

    def reply(arrival: Arrival) -> bytes | None:
        if arrival.path != "/page":
            return without_robots(arrival)
        return None if len(origin.arrivals) == 2 else response(b"second time")

    results: list[FetchResult] = []

    async def scenario(client: PoliteClient) -> None:
        results.append(await get(client, "http://a.test/page"))

    with CountingOrigin(reply) as origin:
        visits(origin, scenario)
        assert [arrival.path for arrival in origin.arrivals] == ["/robots.txt", "/page", "/page"]
        assert min(origin.gaps_s()) >= GAP_S - TOLERANCE_S
    (result,) = results
    assert result.failure is None
    assert [exchange.body for exchange in result.exchanges] == [b"second time"]


def test_a_request_is_resent_once() -> None:
    """A server that closes every kept connection without an answer gets each request twice."""

    def reply(arrival: Arrival) -> bytes | None:
        is_kept = len(origin.arrivals) > 1 and arrival.path != "/robots.txt"
        return None if is_kept else response(status=404)

    async def scenario(client: PoliteClient) -> None:
        visit = PoliteVisit(client, patience_until=client.now() + 60)
        result = await visit.post("http://a.test/q", PostBody(body=b"q", content_type="text/plain"), accept="*/*")
        assert isinstance(result, FetchResult)
        assert result.failure is not None
        assert result.failure.kind is FailureKind.RESET

    with CountingOrigin(reply) as origin:
        visits(origin, scenario, delay_s=0.2)
        assert [arrival.path for arrival in origin.arrivals] == ["/robots.txt", "/q", "/q"]
        assert min(origin.gaps_s()) >= 0.2 - TOLERANCE_S


def test_crawl_delay_counts_from_the_request_for_robots_txt() -> None:
    """The first page is requested one Crawl-delay after robots.txt, and the second after the first."""

    def reply(arrival: Arrival) -> bytes | None:
        is_robots = arrival.path == "/robots.txt"
        return response(b"User-agent: *\nCrawl-delay: 1\n") if is_robots else response()

    async def scenario(client: PoliteClient) -> None:
        await asyncio.gather(get(client, "http://a.test/1"), get(client, "http://a.test/2"))

    with CountingOrigin(reply) as origin:
        visits(origin, scenario, delay_s=0.1, connections_per_host=2)
        assert len(origin.arrivals) == 3
        assert min(origin.gaps_s()) >= 1.0 - TOLERANCE_S
