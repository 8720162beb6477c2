"""The limits of a visit, and failures of this machine, which say nothing about a host."""

from __future__ import annotations

import asyncio
import math
import threading
import time

import pytest

from tests.flows.crawl.requests.counting_origin import Arrival, CountingOrigin, response
from tests.flows.crawl.requests.test_polite_client_origin import get, visits
from webstrata.clock import JumpingClock
from webstrata.flows.crawl.requests.polite_client import PoliteClient
from webstrata.flows.crawl.requests.polite_visit import PoliteVisit
from webstrata.permit.gate import PermitGate
from webstrata.permit.spacing import PolitenessRules
from webstrata.ports import BeforeSend
from webstrata.records import Exchange, Failure, FailureKind, FetchResult, Permit, PostBody, Validators, Wait

URL = "http://a.test/0"


def _redirecting(arrival: Arrival) -> bytes | None:
    """Every page redirects to the next one; the body of robots.txt is empty."""
    if arrival.path == "/robots.txt":
        return response(b"")
    return response(b"", 302, f"Location: /{int(arrival.path[1:]) + 1}")


def test_a_visit_has_a_number_of_requests() -> None:
    """Redirects and further requests of the visit count together."""
    results: list[FetchResult] = []

    async def scenario(client: PoliteClient) -> None:
        visit = PoliteVisit(client, patience_until=client.now() + 60, max_requests=3)
        for _ in range(2):
            result = await visit.get(URL, accept="*/*")
            assert isinstance(result, FetchResult)
            results.append(result)

    with CountingOrigin(_redirecting) as origin:
        visits(origin, scenario, delay_s=0.01)
        assert [arrival.path for arrival in origin.arrivals] == ["/robots.txt", "/0", "/1", "/2"]
    for result in results:
        expected = Failure(kind=FailureKind.TIMEOUT_TOTAL, detail="more than 3 requests in one visit")
        assert result.failure == expected
    assert [len(result.exchanges) for result in results] == [3, 0]


def test_redirects_share_the_time_of_the_exchanges() -> None:
    """A server that delays each redirect does not get the whole time for each of them."""

    def reply(arrival: Arrival) -> bytes | None:
        if arrival.path != "/robots.txt":
            time.sleep(0.4)
        return _redirecting(arrival)

    async def scenario(client: PoliteClient) -> None:
        result = await get(client, URL, total_s=1.0)
        assert result.failure is not None
        assert result.failure.kind is FailureKind.TIMEOUT_TOTAL
        assert len(result.exchanges) <= 4

    with CountingOrigin(reply) as origin:
        visits(origin, scenario, delay_s=0.01)


def test_a_request_that_is_ended_for_others_is_a_failure_of_its_page() -> None:
    """A slow request whose slot is needed ends as a failure; the visit is not cancelled, and the client goes on."""
    released = threading.Event()

    def reply(arrival: Arrival) -> bytes | None:
        if arrival.path == "/slow":
            released.wait(30)
        return response(b"")

    async def scenario(client: PoliteClient) -> None:
        slow = asyncio.create_task(get(client, "http://a.test/slow"))
        while not any(arrival.path == "/slow" for arrival in origin.arrivals):  # noqa: ASYNC110
            await asyncio.sleep(0.01)
        (slot,) = client._slots._open
        slot.end()
        result = await slow
        assert result.failure is not None
        assert result.failure.kind is FailureKind.TIMEOUT_TOTAL
        assert "other hosts waited" in result.failure.detail
        assert not client._slots._open
        assert (await get(client, "http://b.test/")).failure is None

    with CountingOrigin(reply) as origin:
        try:
            visits(origin, scenario, delay_s=0.01)
        finally:
            released.set()


def test_no_request_waits_past_the_end_of_the_visit() -> None:
    """After its first request a visit waits for the gap of the host, but not past its end."""
    clock = JumpingClock(1000.0)
    gate = PermitGate(PolitenessRules(agent="a", token="a", delay_s=15.0, address_delay_s=0.0))
    web = ScriptedWeb(clock, [(302, "/1"), (302, "/2"), (302, "/3")])

    async def main() -> None:
        result = await get(PoliteClient(web, gate, clock), URL, ends_at=clock.now() + 40)
        expected = Failure(kind=FailureKind.TIMEOUT_TOTAL, detail="the visit took longer than 40 s")
        assert result.failure == expected
        assert len(result.exchanges) == 2

    asyncio.run(main())
    assert clock.now() <= 1040.0


class ScriptedWeb:
    """Answers 404 for robots.txt, and the scripted outcomes for pages."""

    def __init__(self, clock: JumpingClock, script: list[tuple[int, str] | FailureKind]) -> None:
        self._clock = clock
        self._script = script
        self.resolved: list[tuple[str, int] | Failure] = []
        self.robots: FailureKind | None = None

    async def resolve(self, host: str, port: int) -> tuple[str, int] | Failure:
        return self.resolved.pop(0) if self.resolved else ("192.0.2.1", port)

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
        outcome: tuple[int, str] | FailureKind = self._script.pop(0) if not permit.for_robots else (404, "")
        if permit.for_robots and self.robots is not None:
            outcome = self.robots
        if isinstance(outcome, FailureKind):
            failure = Failure(kind=outcome, detail="no")
            return Exchange(
                url=permit.url, at=self._clock.now(), duration_s=0.0, request_head=b"", failure=failure, sent=False
            )
        assert before_send is not None
        await before_send()
        status, location = outcome
        return Exchange(
            url=permit.url,
            at=self._clock.now(),
            duration_s=0.1,
            request_head=b"",
            status=status,
            headers=(("location", location),) if location else (),
        )

    async def close(self) -> None: ...


def _failed_robots(
    web: ScriptedWeb, gate: PermitGate, clock: JumpingClock
) -> tuple[FetchResult | Wait, list[Exchange]]:
    logged: list[Exchange] = []

    class _Log:
        def add_robots(self, exchange: Exchange) -> None:
            logged.append(exchange)

    async def main() -> FetchResult | Wait:
        client = PoliteClient(web, gate, clock, robots_log=_Log())
        return await PoliteVisit(client, patience_until=math.inf).get(URL, accept="*/*")

    return asyncio.run(main()), logged


@pytest.mark.parametrize("kind", [FailureKind.LOCAL, FailureKind.DNS])
def test_own_faults_are_not_failures_of_robots_txt(kind: FailureKind) -> None:
    """The visit fails with the fault itself; the host keeps its record, and robots.txt is requested again at once."""
    clock = JumpingClock(1000.0)
    gate = PermitGate(PolitenessRules(agent="a", token="a"))
    web = ScriptedWeb(clock, [(200, "")])
    web.robots = kind
    result, logged = _failed_robots(web, gate, clock)
    assert isinstance(result, FetchResult)
    assert result.failure == Failure(kind=kind, detail="no")
    assert logged == []
    assert gate.robots_state("http://a.test") is None
    assert gate.explain(URL, clock.now())["refusals_in_a_row"] == 0
    web.robots = None
    result, logged = _failed_robots(web, gate, clock)
    assert isinstance(result, FetchResult)
    assert result.failure is None
    assert len(logged) == 1


def test_a_name_server_that_fails_is_not_a_failure_of_robots_txt() -> None:
    """The name was resolved for the page, and not a moment later for its robots.txt."""
    clock = JumpingClock(1000.0)
    gate = PermitGate(PolitenessRules(agent="a", token="a"))
    web = ScriptedWeb(clock, [])
    web.resolved = [("192.0.2.1", 80), Failure(kind=FailureKind.DNS, detail="no answer")]
    result, _ = _failed_robots(web, gate, clock)
    assert isinstance(result, FetchResult)
    assert result.failure == Failure(kind=FailureKind.DNS, detail="no answer")
    assert gate.robots_state("http://a.test") is None


def test_own_faults_do_not_change_the_back_off() -> None:
    """A count of refusals stays as it is."""
    clock = JumpingClock(1000.0)
    gate = PermitGate(PolitenessRules(agent="a", token="a"))
    web = ScriptedWeb(clock, [(503, ""), FailureKind.LOCAL, FailureKind.LOCAL, FailureKind.LOCAL])
    counts = []
    for _ in range(4):
        _failed_robots(web, gate, clock)
        counts.append(gate.explain(URL, clock.now())["refusals_in_a_row"])
    assert counts == [1, 1, 1, 1]
