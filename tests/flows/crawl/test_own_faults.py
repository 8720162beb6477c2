"""Faults of this machine: no host and no page is charged with them, and the attempts become rarer."""

from __future__ import annotations

import logging
from collections.abc import Callable

import pytest
from msgspec.structs import replace

from tests.flows.conftest import Archiver
from tests.flows.scripted_servers import reply
from webstrata.flows.crawl.own_faults import FIRST_WAIT_S, MAX_WAIT_S, OwnFaults
from webstrata.ports import BeforeSend, Web
from webstrata.records import Exchange, Failure, FailureKind, Permit, PostBody, Validators

WHAT = "socket: Too many open files"


def test_waits_double_and_end_with_a_committed_visit(caplog: pytest.LogCaptureFixture) -> None:
    """Each fault after the wait for the last one doubles the wait, up to a limit. The same fault is logged once."""
    shown: list[str] = []
    faults = OwnFaults(lambda what, at: shown.append(what))
    at, waits = 0.0, []
    with caplog.at_level(logging.WARNING):
        for _ in range(10):
            waits.append(faults.report(WHAT, at))
            assert faults.report(WHAT, at) == waits[-1], "visits that fail together are one fault"
            at += waits[-1]
    assert waits[:3] == [FIRST_WAIT_S, 2 * FIRST_WAIT_S, 4 * FIRST_WAIT_S]
    assert max(waits) == MAX_WAIT_S
    assert caplog.text.count(WHAT) == 1
    at -= waits[-1]
    faults.committed(at + 1)
    assert shown[-1] == WHAT, "it may occur again in a moment"
    faults.committed(at + MAX_WAIT_S)
    assert shown[-1] == ""
    assert faults.report(WHAT, at + MAX_WAIT_S) == FIRST_WAIT_S


class FaultyWeb:
    """The real web, except that requests to one host fail by a fault of this machine while `is_faulty`."""

    def __init__(self, web: Web, host: str) -> None:
        self._web = web
        self._host = host
        self.is_faulty = True
        self.attempts = 0

    async def resolve(self, host: str, port: int) -> tuple[str, int] | Failure:
        return await self._web.resolve(host, port)

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
        if not self.is_faulty or permit.host != self._host or permit.for_robots:
            return await self._web.fetch(
                permit, accept=accept, validators=validators, posted=posted, before_send=before_send, total_s=total_s
            )
        self.attempts += 1
        failure = Failure(kind=FailureKind.LOCAL, detail=WHAT)
        return Exchange(
            url=permit.url, at=permit.granted_at, duration_s=0.0, request_head=b"", failure=failure, sent=False
        )

    async def close(self) -> None:
        await self._web.close()


def test_a_fault_of_this_machine_touches_no_page(run_scenario: Callable[..., None]) -> None:
    """The page is tried again, rarely; its record and its log stay as they were; `status` can show the fault."""

    async def scenario(archiver: Archiver) -> None:
        webs: list[FaultyWeb] = []

        def wrap(web: Web) -> Web:
            webs.append(FaultyWeb(web, "a.test"))
            return webs[-1]

        for url in ("http://a.test/", "http://b.test/"):
            archiver.servers.serve(url, reply("<p>well"))
        await archiver.watch("http://a.test/", "http://b.test/")
        before = await archiver.page("http://a.test/")
        async with archiver.node.crawling(wrap_web=wrap) as loop:
            await loop.run(archiver.clock.now() + 1200)
        page = await archiver.page("http://a.test/")
        assert replace(page, next_at=before.next_at) == before
        assert await archiver.visits("http://a.test/") == []
        assert await archiver.outcomes("http://b.test/") == ["new"]
        assert 3 <= webs[0].attempts <= 20
        fault = archiver.home.fault()
        assert fault is not None
        assert fault[0] == WHAT
        await archiver.crawl(after_s=3600)
        assert await archiver.outcomes("http://a.test/") == ["new"]

    run_scenario(scenario)
