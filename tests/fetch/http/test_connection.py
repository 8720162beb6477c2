"""Connections carry several requests and never mix their responses."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

from tests.fetch.conftest import Conversation, PlayedServer, answering, with_web
from webstrata.fetch.http.client import HttpWeb
from webstrata.records import Exchange, FailureKind

Play = Callable[..., PlayedServer]


def response(text: bytes) -> bytes:
    return b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(text) + text


def bodies(server: PlayedServer, count: int, host: str = "site.test", pause_s: float = 0.0) -> list[bytes]:
    """The bodies of the responses to consecutive requests with one `HttpWeb`."""

    async def use(web: HttpWeb) -> list[bytes]:
        received = []
        for number in range(count):
            exchange: Exchange = await web.fetch(server.permit(f"/{number}", host=host))
            received.append(exchange.body)
            await asyncio.sleep(pause_s)
        return received

    received = with_web(use)
    assert isinstance(received, list)
    return received


@pytest.mark.parametrize(
    "raw", [response(b"x"), b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n"]
)
def test_keep_alive(play: Play, raw: bytes) -> None:
    """Requests to one host share a connection."""
    server = play(answering(raw))
    assert bodies(server, 5) == [b"x"] * 5
    assert server.connections == 1


@pytest.mark.parametrize(
    "raw",
    [
        b"HTTP/1.0 200 OK\r\nContent-Length: 1\r\n\r\nx",
        response(b"x").replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n"),
    ],
)
def test_no_keep_alive(play: Play, raw: bytes) -> None:
    """A server that closes its connections gets a new connection for each request."""
    server = play(answering(raw))
    assert bodies(server, 3) == [b"x"] * 3
    assert server.connections == 3


def test_hosts_do_not_share_connections(play: Play) -> None:
    """Two hosts at one address have separate connections, so that one cannot respond for the other."""
    server = play(answering(response(b"x")))

    async def use(web: HttpWeb) -> None:
        for host in ("a.test", "b.test", "a.test", "b.test"):
            await web.fetch(server.permit(host=host))

    with_web(use)
    assert server.connections == 2


def test_a_new_address_gets_a_new_connection(play: Play) -> None:
    """A host with a new address is requested there, although the old connection is still open."""
    old = play(answering(response(b"old")))
    new = play(answering(response(b"new")), address="127.0.0.2")

    async def use(web: HttpWeb) -> list[bytes]:
        permits = [server.permit(url="http://site.test/") for server in (old, new, old)]
        return [(await web.fetch(permit)).body for permit in permits]

    assert with_web(use) == [b"old", b"new", b"old"]
    assert (old.connections, new.connections) == (1, 1)


def test_closed_while_idle(play: Play) -> None:
    """A connection that the server closed while idle is replaced, and the request succeeds."""

    def script(peer: Conversation) -> None:
        peer.request()
        peer.send(response(b"x"))

    server = play(script)
    assert bodies(server, 3) == [b"x"] * 3
    assert (server.connections, len(server.requests)) == (3, 3)


def test_closed_on_reuse(play: Play) -> None:
    """If the server closes a kept-alive connection on its next request, the request is repeated on a new one."""

    def script(peer: Conversation) -> None:
        peer.request()
        peer.send(response(b"x"))
        peer.request()

    server = play(script)
    assert bodies(server, 2) == [b"x"] * 2
    assert (server.connections, len(server.requests)) == (2, 3)


POISON = response(b"poison")
EXCESS = {
    "in one piece": [response(b"own") + POISON],
    "with the body's end": [response(b"own")[:-1], response(b"own")[-1:] + POISON],
    "with the last chunk": [
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nown\r\n",
        b"0\r\n\r\n" + POISON,
    ],
    "later": [response(b"own"), POISON],
    "half of it later": [response(b"own"), POISON[:20]],
    "after a response without body": [b"HTTP/1.1 204 No Content\r\n\r\n" + POISON],
}


@pytest.mark.parametrize("name", EXCESS)
def test_unsolicited_bytes(play: Play, name: str) -> None:
    """Unsolicited bytes never become the response to the next request."""
    pieces = EXCESS[name]

    def script(peer: Conversation) -> None:
        if peer.request().startswith(b"GET /0"):
            for piece in pieces:
                peer.send(piece)
                peer.pause(0.05)
            peer.request()
        peer.send(response(b"right"))
        peer.wait_for_close()

    received = bodies(play(script), 2, pause_s=0.15)
    assert received in ([b"own", b"right"], [b"", b"right"])


def test_concurrent_requests(play: Play) -> None:
    """Concurrent requests get their own responses, with no more connections than allowed."""

    def script(peer: Conversation) -> None:
        while head := peer.request():
            peer.send(response(head.split(b" ")[1]))

    server = play(script)

    async def use(web: HttpWeb) -> list[Exchange]:
        return await asyncio.gather(*(web.fetch(server.permit(f"/{number}")) for number in range(100)))

    exchanges = with_web(use, connections=8)
    assert [exchange.body for exchange in exchanges] == [b"/%d" % number for number in range(100)]
    assert server.connections <= 8


def test_idle_connections_are_limited(play: Play) -> None:
    """The number of idle connections is limited."""
    server = play(answering(response(b"x")))

    async def use(web: HttpWeb) -> int:
        for number in range(20):
            await web.fetch(server.permit(host=f"h{number}.test"))
        return len(web._pool)

    assert with_web(use, connections=2) == 16
    assert server.connections == 20


def test_forbidden_peer(play: Play) -> None:
    """A connection whose peer address is forbidden is aborted before anything is sent."""
    server = play(answering(response(b"x")))

    async def use(web: HttpWeb) -> Exchange:
        decisions = iter((True, True, False))  # the permit, the socket, the peer
        web._guard._cached = lambda address, port: next(decisions, False)  # type: ignore[assignment]
        return await web.fetch(server.permit())

    exchange = with_web(use)
    assert exchange.failure is not None
    assert exchange.failure.kind in (FailureKind.BLOCKED, FailureKind.RESET)
    assert server.requests == []
