"""Names that are not answered delay no other name, and a failed lookup says whose fault it is."""

from __future__ import annotations

import asyncio
import time

import pytest
import uvloop

from tests.fetch.name_server import NXDOMAIN, REFUSED, SERVFAIL, SILENCE, Answering, Query, serving_names, table
from webstrata.fetch.http.name_lookup import NameAddresses, NameLookup
from webstrata.records import Failure, FailureKind

ADDRESS = "93.184.216.34"
NOBODY = "127.0.0.1:9"
"""No server listens there."""


def looked_up(*names: str, server: str, timeout_s: float = 1.0) -> list[NameAddresses | Failure]:
    """The results of lookups that run at the same time."""

    async def main() -> list[NameAddresses | Failure]:
        lookup = NameLookup([server], timeout_s)
        try:
            return await asyncio.gather(*(lookup.addresses(name) for name in names))
        finally:
            await lookup.close()

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        return runner.run(main())


def kind(found: NameAddresses | Failure) -> FailureKind | None:
    return found.kind if isinstance(found, Failure) else None


def test_addresses() -> None:
    """The addresses of both families come with the time for which they are valid."""
    with serving_names(table({"a.test": ["2606:2800:220:1::1", ADDRESS]})) as server:
        (found,) = looked_up("a.test", server=server.endpoint)
    assert found == NameAddresses((ADDRESS, "2606:2800:220:1::1"), 120)


def test_unanswered_names_delay_no_other() -> None:
    """While a hundred names wait for a response that never comes, another name is resolved."""
    answering = table({"healthy.test": [ADDRESS]}, others=SILENCE)

    async def main(endpoint: str) -> tuple[NameAddresses | Failure, bool, list[NameAddresses | Failure]]:
        lookup = NameLookup([endpoint], 5.0)
        waiting = [asyncio.create_task(lookup.addresses(f"dead{number}.test")) for number in range(100)]
        await asyncio.sleep(0.1)
        found = await lookup.addresses("healthy.test")
        is_first = not any(task.done() for task in waiting)
        failed = await asyncio.gather(*waiting)
        await lookup.close()
        return found, is_first, failed

    with serving_names(answering) as server:
        found, is_first, failed = asyncio.run(main(server.endpoint))
    assert kind(found) is None
    assert is_first
    assert {kind(result) for result in failed} == {FailureKind.DNS}


@pytest.mark.parametrize("code", [NXDOMAIN, SERVFAIL, REFUSED, SILENCE])
def test_a_failure_of_one_name(code: int) -> None:
    """A name that a working name server does not resolve is a failure of its host, also if it is the only name."""
    with serving_names(table({}, others=code)) as server:
        (found,) = looked_up("a.test", server=server.endpoint)
    assert kind(found) is FailureKind.DNS


DEAD: list[Answering] = [lambda _: SILENCE, lambda _: SERVFAIL, lambda _: REFUSED]


@pytest.mark.parametrize("answering", DEAD)
def test_a_name_server_that_answers_nothing(answering: Answering) -> None:
    """If the name server answers no query at all, that is a fault of this machine; one more query finds it out."""
    with serving_names(answering) as server:
        found = looked_up("a.test", "b.test", "c.test", server=server.endpoint)
    assert {kind(result) for result in found} == {FailureKind.LOCAL}
    assert len({query.name for query in server.queries}) == 4
    assert Query("", 2) in server.queries


def test_no_name_server() -> None:
    """If nothing listens at the address of the name server, that is a fault of this machine."""
    (found,) = looked_up("a.test", server=NOBODY)
    assert kind(found) is FailureKind.LOCAL


def test_the_deadline() -> None:
    """A lookup ends after its time and that of the query for the root zone."""
    started_at = time.monotonic()
    with serving_names(lambda _: SILENCE) as server:
        looked_up("a.test", server=server.endpoint, timeout_s=0.5)
    assert time.monotonic() - started_at < 20.0  # c-ares itself would wait for 40 s by default


def test_a_name_server_that_recovers() -> None:
    """Once the name server answers again, names are resolved again."""

    async def main(endpoint: str) -> list[FailureKind | None]:
        lookup = NameLookup([endpoint], 1.0)
        kinds = []
        for answering in (lambda _: SILENCE, table({"a.test": [ADDRESS]})):
            server.answering = answering
            kinds.append(kind(await lookup.addresses("a.test")))
        await lookup.close()
        return kinds

    with serving_names(lambda _: SILENCE) as server:
        assert asyncio.run(main(server.endpoint)) == [FailureKind.LOCAL, None]
