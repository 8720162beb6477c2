"""Bodies in flight share a bound of memory; small ones never wait for it."""

from __future__ import annotations

import asyncio
import json
import sys
import threading
from collections.abc import Callable
from typing import Any

import pytest

from tests.fetch import endless_bodies
from tests.fetch.conftest import Conversation, PlayedServer, with_web
from tests.fetch.namespace import run_child
from webstrata.fetch.http import connection
from webstrata.fetch.http.body_memory import BodyMemory
from webstrata.fetch.http.client import HttpWeb
from webstrata.fetch.http.request import FetchLimits
from webstrata.records import Exchange

Play = Callable[..., PlayedServer]

OK = b"HTTP/1.1 200 OK\r\n"
PIECE = b"x" * 65536


def exchange_of(size: int) -> Exchange:
    return Exchange(url="http://a.test/", at=0.0, duration_s=0.0, request_head=b"", body=b"x" * size)


def in_loop(use: Callable[[BodyMemory], Any], max_bytes: int = 40_000_000) -> None:
    """Call a function with a memory of which 30 MB are common (10 connections with 1 MB each)."""

    async def main() -> None:
        result = use(BodyMemory(max_bytes, body_bytes=20_000_000, connections=10))
        if result is not None:
            await result

    asyncio.run(main())


def test_first_come_first_served() -> None:
    """Memory is granted in the order of the requests; a smaller request does not overtake a larger one."""

    def use(memory: BodyMemory) -> None:
        granted: list[str] = []
        a, b, c, d = (
            memory.reserve(size, lambda name=name: granted.append(name))  # type: ignore[misc]
            for name, size in (("a", 20_000_000), ("b", 10_000_000), ("c", 20_000_000), ("d", 1))
        )
        assert granted == ["a", "b"]
        assert memory.is_short
        b.release()
        assert granted == ["a", "b"]
        a.release()
        assert granted == ["a", "b", "c", "d"]
        assert not memory.is_short
        c.release()
        d.release()
        d.release()
        assert memory.reserved_bytes == 0

    in_loop(use)


def test_a_request_that_no_longer_waits() -> None:
    """A body that ends while it waits lets the next one pass."""

    def use(memory: BodyMemory) -> None:
        memory.reserve(20_000_000, lambda: None)
        waiting = memory.reserve(20_000_000, lambda: None)
        next_one = memory.reserve(5_000_000, lambda: None)
        assert not next_one.is_granted
        waiting.release()
        assert next_one.is_granted

    in_loop(use)


@pytest.mark.parametrize("in_thread", [False, True])
def test_the_memory_belongs_to_the_exchange(in_thread: bool) -> None:
    """What a body does not need is freed when it is complete; the rest when its exchange is dropped, by any thread."""

    async def use(memory: BodyMemory) -> None:
        kept = [exchange_of(3_000_000)]
        memory.reserve(20_000_000, lambda: None).keep_for(kept[0])
        assert memory.reserved_bytes == 3_000_000
        if in_thread:
            await asyncio.to_thread(kept.clear)
        kept.clear()
        await asyncio.sleep(0)
        assert memory.reserved_bytes == 0

    in_loop(use)


def test_the_smallest_bound() -> None:
    """However small the bound is, each connection has 1 MB, and one body of the largest size fits."""

    def use(memory: BodyMemory) -> None:
        assert memory.free_bytes == 1_000_000
        assert memory.reserve(20_000_000, lambda: None).is_granted

    in_loop(use, max_bytes=1)


def test_an_exchange_dropped_after_the_event_loop() -> None:
    """An exchange may outlive the event loop."""
    kept: list[Exchange] = []

    def use(memory: BodyMemory) -> None:
        kept.append(exchange_of(10))
        memory.reserve(100, lambda: None).keep_for(kept[0])

    in_loop(use)
    kept.clear()


# ── with servers ────────────────────────────────────────────────────────────────────────────────────────────


def test_endless_bodies(play: Play) -> None:
    """24 endless bodies stay within the bound, and small bodies arrive while they wait.

    The process may grow by the bound and 40 MB, for parts that arrive before reading stops and for what the allocator
    keeps. Without the bound it grows by more than 250 MB.
    """
    release = threading.Event()

    def script(peer: Conversation) -> None:
        while head := peer.request():
            if head.startswith(b"GET /endless"):
                peer.send(OK + b"\r\n" + PIECE * 40)
                release.wait(100)
                while True:
                    peer.send(PIECE)
            elif head.startswith(b"GET /release"):
                release.set()
            peer.send(OK + b"Content-Length: 1000\r\n\r\n" + b"y" * 1000)

    server = play(script)
    try:
        result = json.loads(run_child(sys.executable, "-m", "tests.fetch.endless_bodies", str(server.port)))
    finally:
        release.set()
    assert result["small"] == [1000] * endless_bodies.SMALL
    assert result["ended_before"] == 0
    assert {truncated for _, truncated in result["ends"]} <= {"length", "time"}
    assert max(size for size, _ in result["ends"]) == endless_bodies.BODY_BYTES
    assert result["grown_bytes"] < endless_bodies.MAX_MEMORY + 40_000_000
    assert result["reserved_bytes"] == 0


def test_slow_bodies_give_way(play: Play, monkeypatch: pytest.MonkeyPatch) -> None:
    """A large body that arrives too slowly is truncated when another one waits, which is then received completely."""
    monkeypatch.setattr(connection, "RATE_WINDOW_S", 0.5)
    started = threading.Event()

    def script(peer: Conversation) -> None:
        if peer.request().startswith(b"GET /slow"):
            peer.send(OK + b"\r\n" + PIECE * 40)
            started.set()
            while peer.pause(0.05):
                peer.send(b"x")
        peer.send(OK + b"Content-Length: %d\r\n\r\n" % (40 * len(PIECE)) + PIECE * 40)
        peer.wait_for_close()

    server = play(script)

    async def use(web: HttpWeb) -> tuple[Exchange, Exchange]:
        slow = asyncio.create_task(web.fetch(server.permit("/slow")))
        await asyncio.to_thread(started.wait)
        while not web._memory.reserved_bytes:  # noqa: ASYNC110 - nothing tells
            await asyncio.sleep(0.01)
        return await asyncio.gather(slow, web.fetch(server.permit("/whole")))

    limits = FetchLimits(body_bytes=10_000_000, first_byte_s=60.0, total_s=200.0)  # one body, and what is kept of it
    slow, whole = with_web(use, limits=limits, connections=2, max_memory=1)
    assert slow.truncated == "time"
    assert slow.duration_s < limits.first_byte_s
    assert len(slow.body) >= 40 * len(PIECE)
    assert (whole.truncated, len(whole.body)) == (None, 40 * len(PIECE))


def test_waiting_ends_with_the_time_of_the_exchange(play: Play) -> None:
    """A body that waits for memory until the time of its exchange is over is truncated."""

    def script(peer: Conversation) -> None:
        peer.request()
        peer.send(OK + b"\r\n" + PIECE * 40)
        peer.wait_for_close()

    server = play(script)

    async def use(web: HttpWeb) -> tuple[Exchange, int]:
        holder = web._memory.reserve(5_000_000, lambda: None)
        exchange = await web.fetch(server.permit(), total_s=1.0)
        holder.release()
        return exchange, web._memory.reserved_bytes

    limits = FetchLimits(body_bytes=5_000_000, first_byte_s=60.0, total_s=200.0)
    exchange, reserved_bytes = with_web(use, limits=limits, connections=2, max_memory=1)
    assert exchange.truncated == "time"
    assert 0 < len(exchange.body) < 40 * len(PIECE)
    assert reserved_bytes == 0
