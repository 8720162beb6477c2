"""Connections that serve several requests, and never mix their answers."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

from tests.fetch.conftest import Conversation, PlayedServer, answering, with_web
from webstrata.fetch.http.client import HttpWeb
from webstrata.records import Exchange, FailureKind

Play = Callable[..., PlayedServer]


def answer(text: bytes) -> bytes:
    return b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(text) + text


def bodies(server: PlayedServer, count: int, host: str = "site.test", pause_s: float = 0.0) -> list[bytes]:
    """Bodies of requests made one after the other on one web."""

    async def use(web: HttpWeb) -> list[bytes]:
        found = []
        for number in range(count):
            exchange: Exchange = await web.fetch(server.permit(f"/{number}", host=host))
            found.append(exchange.body)
            await asyncio.sleep(pause_s)
        return found

    found = with_web(use)
    assert isinstance(found, list)
    return found


@pytest.mark.parametrize(
    "raw", [answer(b"x"), b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n"]
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
        answer(b"x").replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n"),
    ],
)
def test_no_keep_alive(play: Play, raw: bytes) -> None:
    """A server that does not keep connections gets a new one for each request."""
    server = play(answering(raw))
    assert bodies(server, 3) == [b"x"] * 3
    assert server.connections == 3


def test_hosts_do_not_share_connections(play: Play) -> None:
    """Two hosts at one address each have their own connection: one cannot answer for the other."""
    server = play(answering(answer(b"x")))

    async def use(web: HttpWeb) -> None:
        for host in ("a.test", "b.test", "a.test", "b.test"):
            await web.fetch(server.permit(host=host))

    with_web(use)
    assert server.connections == 2


def test_a_new_address_gets_a_new_connection(play: Play) -> None:
    """A host that moved is visited at its new address although the old connection is still open."""
    old = play(answering(answer(b"old")))
    new = play(answering(answer(b"new")), address="127.0.0.2")

    async def use(web: HttpWeb) -> list[bytes]:
        permits = [server.permit(url="http://site.test/") for server in (old, new, old)]
        return [(await web.fetch(permit)).body for permit in permits]

    assert with_web(use) == [b"old", b"new", b"old"]
    assert (old.connections, new.connections) == (1, 1)


def test_closed_while_idle(play: Play) -> None:
    """A connection that the server closed while it was idle is replaced, and the request succeeds."""

    def script(peer: Conversation) -> None:
        peer.request()
        peer.send(answer(b"x"))

    server = play(script)
    assert bodies(server, 3) == [b"x"] * 3
    assert (server.connections, len(server.requests)) == (3, 3)


def test_closed_in_answer_to_a_reused_connection(play: Play) -> None:
    """A server that drops its kept connections when they are used again is asked once more, on a new one."""

    def script(peer: Conversation) -> None:
        peer.request()
        peer.send(answer(b"x"))
        peer.request()

    server = play(script)
    assert bodies(server, 2) == [b"x"] * 2
    assert (server.connections, len(server.requests)) == (2, 3)


POISON = answer(b"poison")
BEHIND = {
    "in one piece": [answer(b"own") + POISON],
    "with the body's end": [answer(b"own")[:-1], answer(b"own")[-1:] + POISON],
    "with the last chunk": [
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nown\r\n",
        b"0\r\n\r\n" + POISON,
    ],
    "later": [answer(b"own"), POISON],
    "half of it later": [answer(b"own"), POISON[:20]],
    "after no body": [b"HTTP/1.1 204 No Content\r\n\r\n" + POISON],
}


@pytest.mark.parametrize("name", BEHIND)
def test_answers_to_nobody(play: Play, name: str) -> None:
    """Bytes that nobody asked for are never taken for the answer to the next request."""
    pieces = BEHIND[name]

    def script(peer: Conversation) -> None:
        if peer.request().startswith(b"GET /0"):
            for piece in pieces:
                peer.send(piece)
                peer.pause(0.05)
            peer.request()
        peer.send(answer(b"right"))
        peer.wait_for_close()

    found = bodies(play(script), 2, pause_s=0.15)
    assert found in ([b"own", b"right"], [b"", b"right"])


def test_many_at_once(play: Play) -> None:
    """Concurrent requests each get their own answer, over no more connections than allowed."""

    def script(peer: Conversation) -> None:
        while head := peer.request():
            peer.send(answer(head.split(b" ")[1]))

    server = play(script)

    async def use(web: HttpWeb) -> list[Exchange]:
        return await asyncio.gather(*(web.fetch(server.permit(f"/{number}")) for number in range(100)))

    exchanges = with_web(use, connections=8)
    assert [exchange.body for exchange in exchanges] == [b"/%d" % number for number in range(100)]
    assert server.connections <= 8


def test_idle_connections_are_bounded(play: Play) -> None:
    """Visiting many hosts does not keep a connection to each of them."""
    server = play(answering(answer(b"x")))

    async def use(web: HttpWeb) -> int:
        for number in range(20):
            await web.fetch(server.permit(host=f"h{number}.test"))
        return len(web._pool)

    assert with_web(use, connections=2) == 16
    assert server.connections == 20


def test_a_peer_that_is_not_allowed(play: Play) -> None:
    """A connection whose other end turns out to be forbidden is cut before anything is sent."""
    server = play(answering(answer(b"x")))

    async def use(web: HttpWeb) -> Exchange:
        answers = iter((True, True, False))  # the permit, the socket, the peer
        web._guard._cached = lambda address, port: next(answers, False)  # type: ignore[assignment]
        return await web.fetch(server.permit())

    exchange = with_web(use)
    assert exchange.failure is not None
    assert exchange.failure.kind in (FailureKind.BLOCKED, FailureKind.RESET)
    assert server.requests == []
