"""Names are resolved by the host table, as literal addresses, or by name servers."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence

import pytest

from tests.fetch.name_server import AAAA, SILENCE, A, NameServer, Query, serving_names, table
from webstrata.errors import BadSettings
from webstrata.fetch.http.guard import AddressGuard
from webstrata.fetch.http.resolver import HostResolver
from webstrata.records import Failure, FailureKind

NAMES: dict[str, Sequence[str] | int] = {
    "one.test": ["93.184.216.34"],
    "six-first.test": ["2606:2800:220:1::1", "93.184.216.34"],
    "six.test": ["2606:2800:220:1::1"],
    "mixed.test": ["93.184.216.34", "10.0.0.1"],
    "inner.test": ["192.168.0.9"],
    "local.test": ["127.0.0.1"],
    "silent.test": SILENCE,
    "empty.test": [],
}


@pytest.fixture(scope="module")
def name_server() -> Iterator[NameServer]:
    with serving_names(table(NAMES)) as server:
        yield server


def resolved(
    host: str, port: int = 80, hosts: dict[str, str] | None = None, name_servers: Sequence[str] = ()
) -> tuple[str, int] | Failure:
    async def main() -> tuple[str, int] | Failure:
        names = HostResolver(AddressGuard(["127.0.0.0/8:8480", "[::1]:8480"]), hosts or {}, 1.0, name_servers)
        try:
            return await names.resolve(host, port)
        finally:
            await names.close()

    return asyncio.run(main())


RESOLVED = [
    ("one.test", ("93.184.216.34", 80)),
    ("ONE.test.", ("93.184.216.34", 80)),
    ("six-first.test", ("93.184.216.34", 80)),
    ("six.test", ("2606:2800:220:1::1", 80)),
    ("93.184.216.34", ("93.184.216.34", 80)),
    ("[2606:2800:220:1::1]", ("2606:2800:220:1::1", 80)),
]


@pytest.mark.parametrize(("host", "endpoint"), RESOLVED)
def test_resolved(name_server: NameServer, host: str, endpoint: tuple[str, int]) -> None:
    """A name is resolved to its first address, IPv4 before IPv6; a literal address to itself."""
    assert resolved(host, name_servers=[name_server.endpoint]) == endpoint


@pytest.mark.parametrize("host", ["mixed.test", "inner.test", "local.test", "10.0.0.1", "::1", "127.0.0.1"])
def test_blocked(name_server: NameServer, host: str) -> None:
    """A host with any forbidden address is blocked."""
    found = resolved(host, name_servers=[name_server.endpoint])
    assert isinstance(found, Failure)
    assert found.kind is FailureKind.BLOCKED


@pytest.mark.parametrize("host", ["absent.test", "silent.test", "empty.test", "a" * 300 + ".test", ""])
def test_not_found(name_server: NameServer, host: str) -> None:
    """No address, or no response in time, is a DNS failure."""
    found = resolved(host, name_servers=[name_server.endpoint])
    assert isinstance(found, Failure)
    assert found.kind is FailureKind.DNS


def test_exceptions_apply_to_names(name_server: NameServer) -> None:
    """Exceptions of the guard apply to resolved names as well."""
    assert resolved("local.test", 8480, name_servers=[name_server.endpoint]) == ("127.0.0.1", 8480)


def test_names_of_this_machine() -> None:
    """Names in /etc/hosts need no name server."""
    assert resolved("localhost", 8480, name_servers=["127.0.0.1:9"]) == ("127.0.0.1", 8480)


TABLE = [
    ({"boost.test": "127.0.0.2:8480"}, "boost.test", ("127.0.0.2", 8480)),
    ({"Boost.test": "127.0.0.2:8480"}, "boost.TEST", ("127.0.0.2", 8480)),
    ({"boost.test": "93.184.216.34"}, "boost.test", ("93.184.216.34", 80)),
    ({"boost.test": "[2606:2800:220:1::1]:81"}, "boost.test", ("2606:2800:220:1::1", 81)),
    ({"boost.test": "2606:2800:220:1::1"}, "boost.test", ("2606:2800:220:1::1", 80)),
]


@pytest.mark.parametrize(("hosts", "host", "endpoint"), TABLE)
def test_host_table(hosts: dict[str, str], host: str, endpoint: tuple[str, int]) -> None:
    """A name in the table is resolved from it, with its port if it has one."""
    assert resolved(host, hosts=hosts) == endpoint


def test_the_guard_applies_to_the_table() -> None:
    """A name in the table with a private address is blocked unless the guard has an exception."""
    found = resolved("boost.test", hosts={"boost.test": "127.0.0.2:9999"})
    assert isinstance(found, Failure)
    assert found.kind is FailureKind.BLOCKED


@pytest.mark.parametrize("text", ["", "example.org", "127.0.0.1:0", "127.0.0.1:x", "127.0.0.1:99999", "::1:80:x"])
def test_bad_tables(text: str) -> None:
    """A table entry that is not an address is a settings error."""
    with pytest.raises(BadSettings, match="not an address"):
        HostResolver(AddressGuard(), {"boost.test": text}, timeout_s=1.0)


def test_bad_name_servers() -> None:
    """A name server that is not an address is a settings error."""
    with pytest.raises(BadSettings, match="not an address"):
        HostResolver(AddressGuard(), {}, 1.0, ["dns.example.org"])


@pytest.mark.parametrize("host", ["one.test", "absent.test"])
def test_one_lookup_for_concurrent_requests(host: str) -> None:
    """Concurrent and repeated requests for a name, found or not, cause one lookup."""

    async def main(endpoint: str) -> None:
        names = HostResolver(AddressGuard(), {}, 5.0, [endpoint])
        await asyncio.gather(*(names.resolve(host, 80) for _ in range(10)))
        await names.resolve(host, 443)
        await names.close()

    with serving_names(table(NAMES)) as server:
        asyncio.run(main(server.endpoint))
    assert sorted(server.queries) == [Query(host, A), Query(host, AAAA)]


def test_cancelled_caller() -> None:
    """Cancelling one of two callers that resolve the same name does not affect the other."""

    async def main(endpoint: str) -> tuple[str, int] | Failure:
        names = HostResolver(AddressGuard(), {}, 5.0, [endpoint])
        first = asyncio.create_task(names.resolve("one.test", 80))
        second = asyncio.create_task(names.resolve("one.test", 80))
        await asyncio.sleep(0)
        first.cancel()
        try:
            return await second
        finally:
            await names.close()

    with serving_names(table(NAMES), delay_s=0.05) as server:
        assert asyncio.run(main(server.endpoint)) == ("93.184.216.34", 80)
