"""Connections carry several requests and never mix their responses."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable

import pytest

from tests.fetch.conftest import Conversation, PlayedServer, answering, with_web
from webstrata.clock import RealClock
from webstrata.fetch.http.client import HttpWeb
from webstrata.records import Exchange, FailureKind

Play = Callable[..., PlayedServer]


def response(text: bytes) -> bytes:
    return b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(text) + text


def bodies(server: PlayedServer, count: int, host: str = "site.test", pause_s: float = 0.0) -> list[bytes]:
    """The bodies of the responses to consecutive requests with one `HttpWeb`; stale requests are sent once more."""

    async def use(web: HttpWeb) -> list[bytes]:
        received = []
        for number in range(count):
            exchange: Exchange = await web.fetch(server.permit(f"/{number}", host=host))
            if exchange.stale:
                exchange = await web.fetch(server.permit(f"/{number}", host=host))
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


def exchanges(server: PlayedServer, count: int) -> list[Exchange]:
    """The outcomes of consecutive requests with one `HttpWeb`."""

    async def use(web: HttpWeb) -> list[Exchange]:
        return [await web.fetch(server.permit(f"/{number}")) for number in range(count)]

    received = with_web(use)
    assert isinstance(received, list)
    return received


def test_closed_on_reuse(play: Play) -> None:
    """If the server closes a kept-alive connection on its next request, the request is stale and not repeated."""

    def script(peer: Conversation) -> None:
        peer.request()
        peer.send(response(b"x"))
        peer.request()

    server = play(script)
    first, second, third = exchanges(server, 3)
    assert (first.body, third.body) == (b"x", b"x")
    assert second.failure is not None
    assert (second.failure.kind, second.stale, second.sent) == (FailureKind.RESET, True, True)
    assert (server.connections, len(server.requests)) == (2, 3)


PARTIAL = [b"H", b"HTTP/1.1 200 OK\r\nContent-Le"]


@pytest.mark.parametrize("start", PARTIAL)
def test_closed_in_the_response(play: Play, start: bytes) -> None:
    """A kept-alive connection that ends after a part of the response is not stale: the server has seen the request."""

    def script(peer: Conversation) -> None:
        peer.request()
        peer.send(response(b"x"))
        peer.request()
        peer.send(start)

    _, second = exchanges(play(script), 2)
    assert second.failure is not None
    assert (second.failure.kind, second.stale, second.sent) == (FailureKind.RESET, False, True)


def test_closed_before_sending(play: Play) -> None:
    """If a kept connection is closed before the request is sent, nothing was sent, and a new connection is used."""
    close_now = threading.Event()

    def script(peer: Conversation) -> None:
        peer.request()
        peer.send(response(b"x"))
        close_now.wait(60)

    server = play(script)

    async def use(web: HttpWeb) -> tuple[Exchange, int]:
        await web.fetch(server.permit("/0"))
        (kept,) = web._pool._idle
        calls = 0

        async def wait_for_the_close() -> None:
            nonlocal calls
            calls += 1
            close_now.set()
            while kept.is_connected:  # noqa: ASYNC110 - the event loop finds out
                await asyncio.sleep(0.01)

        return await web.fetch(server.permit("/1"), before_send=wait_for_the_close), calls

    taken, calls = with_web(use)
    assert (taken.body, taken.sent, taken.stale, calls) == (b"x", True, False, 2)
    assert [head.split(b" ")[1] for head in server.requests] == [b"/0", b"/1"]


def test_a_new_connection_closed_before_sending(play: Play) -> None:
    """If a server closes even a new connection before the request is sent, the exchange fails and nothing was sent."""
    close_now = threading.Event()
    server = play(lambda _: close_now.wait(60) and None)

    async def use(web: HttpWeb) -> Exchange:
        async def wait_for_the_close() -> None:
            close_now.set()
            await asyncio.sleep(0.5)

        return await web.fetch(server.permit(), before_send=wait_for_the_close)

    exchange = with_web(use)
    assert exchange.failure is not None
    assert (exchange.failure.kind, exchange.stale, server.requests) == (FailureKind.RESET, False, [])


def test_times_count_from_sending(play: Play) -> None:
    """`at` is the time of sending: connecting and waiting in `before_send` come before it and are no part of it."""
    server = play(answering(response(b"x")))

    async def use(web: HttpWeb) -> tuple[Exchange, float]:
        permitted_at = 0.0

        async def wait() -> None:
            nonlocal permitted_at
            await asyncio.sleep(0.2)
            permitted_at = RealClock().now()

        return await web.fetch(server.permit(), before_send=wait, total_s=60.0), permitted_at

    exchange, permitted_at = with_web(use)
    assert exchange.sent
    assert exchange.at >= permitted_at
    assert exchange.duration_s >= 0.0


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
