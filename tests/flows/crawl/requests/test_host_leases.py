"""`HostLeases`: no gap is too short as the origin counts it, with two processes and after a crash."""

from __future__ import annotations

import asyncio
import multiprocessing
import sqlite3
import time
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

import pytest

from tests.flows.crawl.requests.counting_origin import TOLERANCE_S, Arrival, CountingOrigin, response, without_robots
from tests.flows.crawl.requests.visiting_process import Plan, visit
from tests.remember.conftest import postgres, postgres_database, postgres_url, sqlite_url, store_url  # noqa: F401 - fixtures
from webstrata.clock import RealClock
from webstrata.flows.crawl.requests.host_leases import HostLeases
from webstrata.permit.gate import PermitGate
from webstrata.permit.spacing import PolitenessRules
from webstrata.records import HostLease
from webstrata.remember.engine import open_store
from webstrata.remember.homes.store_home import StoreHome
from webstrata.remember.store import SqlStore

HOSTS = ("a.test", "b.test", "c.test")
PATIENCE_S = 120.0


@contextmanager
def visiting(plan: Plan) -> Iterator[tuple[BaseProcess, Connection]]:
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["tests.flows.crawl.requests.visiting_process"])
    ours, theirs = context.Pipe(duplex=False)
    process = context.Process(target=visit, args=(plan, theirs))
    process.start()
    theirs.close()
    try:
        yield process, ours
    finally:
        process.kill()
        process.join()


def receive(pipe: Connection) -> object:
    assert pipe.poll(PATIENCE_S), "the process is silent"
    return pipe.recv()


def until_done(pipe: Connection) -> list[object]:
    notes = [receive(pipe)]
    while notes[-1] != "done":
        notes.append(receive(pipe))
    return notes[:-1]


def test_two_processes_keep_the_gap_of_each_host(store_url: str) -> None:  # noqa: F811
    """Both visit the same hosts at the same time; both come to an end, and no gap is too short."""
    with CountingOrigin() as origin:
        plan = Plan(store_url=store_url, port=origin.port, hosts=HOSTS, visits=5)
        with visiting(plan) as (_, one), visiting(plan) as (_, two):
            assert until_done(one) == until_done(two) == ["sent"] * 15
        for host in HOSTS:
            gaps = origin.gaps_s(host)
            assert len(gaps) >= 10
            assert min(gaps) >= plan.delay_s - TOLERANCE_S


def _plans_of_two_homes(url: str, origin: CountingOrigin, **fields: Any) -> list[Plan]:
    return [
        Plan(store_url=url, port=origin.port, home=StoreHome(node=node, schema=f"webstrata_{node}"), **fields)
        for node in ("one", "two")
    ]


def test_two_homes_keep_the_gap_of_each_host(postgres_database: str) -> None:  # noqa: F811
    """The same with a process of each of two homes, whose tables are in schemas of their own."""
    with CountingOrigin() as origin:
        first, second = _plans_of_two_homes(postgres_database, origin, hosts=HOSTS, visits=5)
        with visiting(first) as (_, one), visiting(second) as (_, two):
            assert until_done(one) == until_done(two) == ["sent"] * 15
        for host in HOSTS:
            assert min(origin.gaps_s(host)) >= first.delay_s - TOLERANCE_S


def test_a_running_home_learns_of_a_refusal_by_the_other(postgres_database: str) -> None:  # noqa: F811
    """A host that told one home to wait tells the other nothing, although that one was running already."""
    with CountingOrigin(_refusing_b) as origin:
        first, second = _plans_of_two_homes(postgres_database, origin, hosts=("a.test", "b.test"), patience_s=120.0)
        with visiting(first) as (_, one), visiting(second) as (_, two):
            notes = [*until_done(one), *until_done(two)]
        refusals = [arrival for arrival in origin.arrivals if (arrival.host, arrival.path) == ("b.test", "/0")]
        (refused,) = refusals
        (until,) = [note for note in notes if note != "sent"]
        assert isinstance(until, float)
        assert until >= refused.at + 3600 - TOLERANCE_S


def _refusing_b(arrival: Arrival) -> bytes | None:
    is_refused = arrival.host == "b.test" and arrival.path != "/robots.txt"
    return response(b"", 503, "Retry-After: 3600") if is_refused else without_robots(arrival)


def _slow_host(arrival: Arrival) -> bytes | None:
    return response(b"User-agent: *\nCrawl-delay: 2\n") if arrival.path == "/robots.txt" else response()


def _wait_for_robots(store_url: str) -> None:  # noqa: F811
    ends_at = time.monotonic() + PATIENCE_S
    with closing(sqlite3.connect(store_url.removeprefix("sqlite:///"), timeout=PATIENCE_S)) as database:
        while not database.execute("SELECT count(*) FROM robots").fetchone()[0]:
            assert time.monotonic() < ends_at
            time.sleep(0.01)


@pytest.mark.parametrize("killed_after", ["/robots.txt", "/0", "/1"])
def test_a_killed_process_leaves_the_gap(sqlite_url: str, killed_after: str) -> None:  # noqa: F811
    """After SIGKILL the next process waits, although the killed one has committed no visit."""
    with CountingOrigin(_slow_host) as origin:
        plan = Plan(store_url=sqlite_url, port=origin.port, hosts=("a.test",), visits=2)
        with visiting(plan) as (process, pipe):
            origin.wait_for(1, path=killed_after)
            if killed_after == "/robots.txt":
                _wait_for_robots(sqlite_url)  # from then on it knows the Crawl-delay
            process.kill()
            process.join()
            pipe.close()
        before = len(origin.arrivals)
        with visiting(plan) as (_, pipe):
            assert until_done(pipe) == ["sent", "sent"]
        assert len(origin.arrivals) >= before + 2
        assert min(origin.gaps_s()) >= 2.0 - TOLERANCE_S


def _refusing(arrival: Arrival) -> bytes | None:
    is_robots = arrival.path == "/robots.txt"
    return response(status=404) if is_robots else response(b"", 503, "Retry-After: 60")


def test_a_killed_process_leaves_the_back_off(sqlite_url: str) -> None:  # noqa: F811
    """SIGKILL right after the process has received Retry-After: the next process obeys it."""
    with CountingOrigin(_refusing) as origin:
        plan = Plan(store_url=sqlite_url, port=origin.port, hosts=("a.test",), patience_s=20.0)
        with visiting(plan) as (process, pipe):
            assert receive(pipe) == "sent"
            process.kill()
            process.join()
        refused_at = origin.arrivals[-1].at
        with visiting(plan) as (_, pipe):
            (until,) = until_done(pipe)
        assert isinstance(until, float)
        assert until >= refused_at + 60 - TOLERANCE_S
        assert [arrival.path for arrival in origin.arrivals] == ["/robots.txt", "/0"]


# ── the leases themselves ───────────────────────────────────────────────────────────────────────────────────────


def _gate() -> PermitGate:
    return PermitGate(PolitenessRules(agent="a", token="a", delay_s=1.0, address_delay_s=0.0, obey_robots=False))


def _leases(store: SqlStore, gate: PermitGate, **options: float) -> HostLeases:
    return HostLeases(store=store.hosts, gate=gate, clock=RealClock(), node_name="n", clock_difference_s=0.0, **options)


def test_an_orderly_end_leaves_no_wait(sqlite_url: str) -> None:  # noqa: F811
    """After `close` another process can take the host at once, with the exact next permitted time."""

    async def scenario() -> None:
        clock = RealClock()
        store = open_store(sqlite_url, clock)
        gate, later_gate = _gate(), _gate()
        leases = _leases(store, gate)
        assert await leases.hold("a.test", 1.0) is None
        permit = gate.request("http://a.test/", "127.0.0.1", 80, sent_at := clock.now())
        gate.sent(permit, sent_at)  # type: ignore[arg-type]
        later = _leases(store, later_gate)
        assert await later.hold("a.test", 1.0) is not None
        await leases.close()
        assert await later.hold("a.test", 1.0) is None
        assert later_gate.free_at("a.test", sent_at) == sent_at + 1.0
        await later.close()
        await store.close()

    asyncio.run(scenario())


def test_many_hosts_are_taken_in_one_transaction(sqlite_url: str) -> None:  # noqa: F811
    """5,000 hosts are leased with one call of the store, and then need no further one."""

    async def scenario() -> None:
        store = open_store(sqlite_url, RealClock())
        counted = _CountingHosts(store)
        leases = HostLeases(
            store=counted, gate=_gate(), clock=RealClock(), node_name="n", clock_difference_s=0.0, lease_s=600.0
        )
        hosts = [f"h{number}.test" for number in range(5000)]
        await leases.hold_many(hosts)
        assert [await leases.hold(host, 1.0) for host in hosts] == [None] * 5000
        assert counted.calls == 1
        await leases.close()
        await store.close()

    asyncio.run(scenario())


class _CountingHosts:
    """The store's hosts, with the number of transactions that lease."""

    def __init__(self, store: SqlStore) -> None:
        self._hosts = store.hosts
        self.calls = 0
        self.release, self.save, self.wanted = store.hosts.release, store.hosts.save, store.hosts.wanted

    async def lease(self, owner: str, wanted: Mapping[str, float], **times: float) -> dict[str, HostLease]:
        self.calls += 1
        return await self._hosts.lease(owner, wanted, **times)


def test_a_host_without_a_gap_needs_no_lease(tmp_path: Path) -> None:
    """The leases of a killed process must not stop a crawl of one's own server, for which no gap is promised."""

    async def scenario() -> None:
        store = open_store(f"sqlite:///{tmp_path / 'store.db'}", RealClock())
        one, two = _leases(store, _gate()), _leases(store, _gate())
        assert await one.hold("a.test", 0.0) is await two.hold("a.test", 0.0) is None
        assert one.allows("a.test", 0.0)
        assert not one.allows("a.test", 0.1)
        await one.close()
        await two.close()
        await store.close()

    asyncio.run(scenario())
