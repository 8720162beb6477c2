"""Names are resolved by the host table, as literal addresses, or by the system's resolver."""

from __future__ import annotations

import asyncio
import socket
from typing import Any, ClassVar

import pytest

from webstrata.errors import BadSettings
from webstrata.fetch.http.guard import AddressGuard
from webstrata.fetch.http.resolver import HostResolver
from webstrata.records import Failure, FailureKind


class TableLoop(asyncio.SelectorEventLoop):
    """An event loop with its own name table, which counts lookups."""

    table: ClassVar[dict[str, list[str]]] = {}

    def __init__(self) -> None:
        super().__init__()
        self.lookups = 0

    async def getaddrinfo(self, host: Any, port: Any, **_: Any) -> list[Any]:
        self.lookups += 1
        await asyncio.sleep(0)
        if host == "silent.test":
            await asyncio.sleep(60)
        if host not in TableLoop.table:
            raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
        return [
            (socket.AF_INET6 if ":" in address else socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, 0))
            for address in TableLoop.table[host]
        ]


TableLoop.table = {
    "one.test": ["93.184.216.34"],
    "six-first.test": ["2606:2800:220:1::1", "93.184.216.34"],
    "six.test": ["2606:2800:220:1::1"],
    "mixed.test": ["93.184.216.34", "10.0.0.1"],
    "inner.test": ["192.168.0.9"],
    "local.test": ["127.0.0.1"],
}


def resolved(host: str, port: int = 80, hosts: dict[str, str] | None = None) -> tuple[str, int] | Failure:
    async def main() -> tuple[str, int] | Failure:
        return await HostResolver(AddressGuard(["127.0.0.0/8:8480"]), hosts or {}, timeout_s=0.2).resolve(host, port)

    with asyncio.Runner(loop_factory=TableLoop) as runner:
        return runner.run(main())


RESOLVED = [
    ("one.test", ("93.184.216.34", 80)),
    ("ONE.test.", ("93.184.216.34", 80)),
    ("six-first.test", ("93.184.216.34", 80)),
    ("six.test", ("2606:2800:220:1::1", 80)),
    ("93.184.216.34", ("93.184.216.34", 80)),
    ("[2606:2800:220:1::1]", ("2606:2800:220:1::1", 80)),
]


@pytest.mark.parametrize(("host", "endpoint"), RESOLVED)
def test_resolved(host: str, endpoint: tuple[str, int]) -> None:
    """A name is resolved to its first address, IPv4 before IPv6; a literal address to itself."""
    assert resolved(host) == endpoint


@pytest.mark.parametrize("host", ["mixed.test", "inner.test", "local.test", "10.0.0.1", "::1", "127.0.0.1"])
def test_blocked(host: str) -> None:
    """A host with any forbidden address is blocked."""
    found = resolved(host)
    assert isinstance(found, Failure)
    assert found.kind is FailureKind.BLOCKED


@pytest.mark.parametrize("host", ["absent.test", "silent.test", "a" * 300 + ".test", ""])
def test_not_found(host: str) -> None:
    """No address, or no response in time, is a DNS failure."""
    found = resolved(host)
    assert isinstance(found, Failure)
    assert found.kind is FailureKind.DNS


def test_exceptions_apply_to_names() -> None:
    """Exceptions of the guard apply to resolved names as well."""
    assert resolved("local.test", 8480) == ("127.0.0.1", 8480)


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


def test_one_lookup_for_concurrent_requests() -> None:
    """Concurrent and repeated requests for a name, found or not, cause one lookup."""

    async def main() -> int:
        names = HostResolver(AddressGuard(), {}, timeout_s=1.0)
        for host in ("one.test", "absent.test"):
            await asyncio.gather(*(names.resolve(host, 80) for _ in range(10)))
            await names.resolve(host, 443)
        loop = asyncio.get_running_loop()
        assert isinstance(loop, TableLoop)
        return loop.lookups

    with asyncio.Runner(loop_factory=TableLoop) as runner:
        assert runner.run(main()) == 2


def test_cancelled_caller() -> None:
    """Cancelling one of two callers that resolve the same name does not affect the other."""

    async def main() -> tuple[str, int] | Failure:
        names = HostResolver(AddressGuard(), {}, timeout_s=1.0)
        first = asyncio.create_task(names.resolve("one.test", 80))
        second = asyncio.create_task(names.resolve("one.test", 80))
        await asyncio.sleep(0)
        first.cancel()
        return await second

    with asyncio.Runner(loop_factory=TableLoop) as runner:
        assert runner.run(main()) == ("93.184.216.34", 80)
