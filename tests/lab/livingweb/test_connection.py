"""HTTP on real sockets: valid requests, and statuses for invalid ones."""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Mapping

import pytest

from tests.lab.livingweb.plain_client import Client
from webstrata.lab.livingweb.connection import ServerConnection
from webstrata.lab.livingweb.site import ServedResponse


def _echo(host: str, target: str, headers: Mapping[str, str]) -> ServedResponse:
    return ServedResponse(status=304 if target == "/304" else 200, headers=(("X-Host", host),), body=target.encode())


async def _exchange(sent: bytes, *, pieces: int = 1) -> bytes:
    """All bytes that the server sends in response, until it closes the connection or the client sends EOF."""
    loop = asyncio.get_running_loop()
    connections: set[ServerConnection] = set()
    server = await loop.create_server(functools.partial(ServerConnection, _echo, connections), "127.0.0.1", 0)
    reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname())
    size = -(-len(sent) // pieces)
    for start in range(0, len(sent), size):
        writer.write(sent[start : start + size])
        await asyncio.sleep(0.001 if pieces > 1 else 0)
    writer.write_eof()
    received = await asyncio.wait_for(reader.read(), 5)
    writer.close()
    server.close()
    await server.wait_closed()
    assert not connections
    return received


REQUEST = b"GET /a HTTP/1.1\r\nHost: x.test\r\n\r\n"

STATUSES = [
    (REQUEST, 200),
    (b"GET http://x.test/a HTTP/1.1\r\nHost: x.test\r\n\r\n", 200),
    (b"GET /a HTTP/1.0\r\nHost: x.test\r\n\r\n", 200),
    (b"GET /a HTTP/1.1\r\n\r\n", 400),
    (b"GET /a\r\nHost: x\r\n\r\n", 400),
    (b"GET a HTTP/1.1\r\nHost: x\r\n\r\n", 400),
    (b"GET /a HTTP/3.0\r\nHost: x\r\n\r\n", 400),
    (b"GET /a HTTP/1.1\r\nHost x\r\n\r\n", 400),
    (b"GET /a HTTP/1.1\r\nHost : x\r\n\r\n", 400),
    (b"\x16\x03\x01\x02\x00\x01\x00\r\n\r\n", 400),
    (b"POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc", 405),
    (b"GET /a HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc", 413),
    (b"GET /a HTTP/1.1\r\nHost: x\r\nX: " + b"y" * 20_000, 431),
    (b"GET /a HTTP/1.1\r\nHost: x\r\nX: " + b"y" * 20_000 + b"\r\n\r\n", 431),
]


@pytest.mark.parametrize(("sent", "status"), STATUSES)
def test_every_request_gets_a_status(sent: bytes, status: int) -> None:
    """Any bytes get one status; after an invalid request the connection is closed."""
    received = asyncio.run(_exchange(sent))
    assert received.startswith(f"HTTP/1.1 {status} ".encode())
    if status >= 400:
        assert b"Connection: close" in received
        assert received.count(b"HTTP/1.1") == 1


@pytest.mark.parametrize("pieces", [1, 7, 60])
def test_pipelined_and_split_requests(pieces: int) -> None:
    """Requests sent together or in small pieces are answered in order."""
    sent = b"".join(REQUEST.replace(b"/a", f"/{n}".encode()) for n in range(5))
    received = asyncio.run(_exchange(sent, pieces=pieces))
    assert [part.partition(b"\r\n\r\n")[2] for part in received.split(b"HTTP/1.1 200 OK")[1:]] == [
        f"/{n}".encode() for n in range(5)
    ]


def test_head_and_304_have_no_body() -> None:
    """A HEAD request gets the length without the body; a 304 has neither."""
    received = asyncio.run(_exchange(REQUEST.replace(b"GET", b"HEAD")))
    assert b"Content-Length: 2\r\n" in received
    assert received.endswith(b"\r\n\r\n")
    assert b"Content-Length" not in asyncio.run(_exchange(REQUEST.replace(b"/a", b"/304")))


def test_connection_close() -> None:
    """After a request with `Connection: close` no further request is answered."""
    closing = REQUEST.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n")
    assert asyncio.run(_exchange(closing + REQUEST)).count(b"200 OK") == 1


def test_slow_readers_do_not_fill_memory() -> None:
    """While a client does not read, its further requests wait, even those already sent, and are answered later."""
    big = b"x" * 300_000

    async def scenario() -> None:
        answered = 0

        def respond(host: str, target: str, headers: Mapping[str, str]) -> ServedResponse:
            nonlocal answered
            answered += 1
            return ServedResponse(status=200, body=big)

        loop = asyncio.get_running_loop()
        server = await loop.create_server(functools.partial(ServerConnection, respond, set()), "127.0.0.1", 0)
        reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname(), limit=1000)
        writer.write(REQUEST * 100)
        await asyncio.sleep(0.05)
        assert answered < 50
        client = Client(reader, writer)
        for _ in range(100):
            assert (await client.read()).body == big
        writer.close()
        server.close()
        await server.wait_closed()

    asyncio.run(asyncio.wait_for(scenario(), 20))
