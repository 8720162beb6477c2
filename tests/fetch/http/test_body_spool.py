"""A body that is too large for memory goes to a file without a name while it is received."""

from __future__ import annotations

import asyncio
import base64
import gzip
import hashlib
import os
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from tests.fetch.conftest import Conversation, PlayedServer, with_web
from webstrata.archive.warc.room import free_bytes
from webstrata.fetch.http.body_spool import BodySpool
from webstrata.fetch.http.client import HttpWeb
from webstrata.fetch.http.request import FetchLimits
from webstrata.records import Exchange, FailureKind, LargeBody

Play = Callable[..., PlayedServer]

OK = b"HTTP/1.1 200 OK\r\n"
MEMORY_BYTES = 300_000
BODY = os.urandom(1 << 16) * 40
LIMITS = FetchLimits(body_bytes=10_000_000, memory_bytes=MEMORY_BYTES, connect_s=20.0, first_byte_s=60.0)


def fetch_large(
    server: PlayedServer,
    folder: Path,
    *,
    limits: FetchLimits = LIMITS,
    free: Callable[[Path], int] = free_bytes,
    **changes: Any,
) -> Exchange:
    """One exchange whose body may go to a file in `folder`."""
    spool = BodySpool(folder, reserve=1_000_000, free=free)

    async def use(web: HttpWeb) -> Exchange:
        return await web.fetch(server.permit(**{"large_body": True, **changes}))

    exchange = with_web(use, limits=limits, spool=spool)
    assert isinstance(exchange, Exchange)
    return exchange


def content(body: LargeBody | None) -> bytes:
    assert body is not None
    return b"".join(body.pieces())


def chunked(body: bytes) -> bytes:
    pieces = [body[at : at + 50_000] for at in range(0, len(body), 50_000)]
    return b"".join(b"%x\r\n%s\r\n" % (len(piece), piece) for piece in [*pieces, b""])


@pytest.mark.parametrize(
    "answer",
    [
        OK + b"Content-Length: %d\r\n\r\n" % len(BODY) + BODY,
        OK + b"Transfer-Encoding: chunked\r\n\r\n" + chunked(BODY),
        OK + b"Connection: close\r\n\r\n" + BODY,
    ],
    ids=["length", "chunked", "close"],
)
def test_large_body_goes_to_a_file(answer: bytes, play: Play, tmp_path: Path) -> None:
    """However its end is announced, the file has the body, and its digests are known; it has no name in the folder."""
    exchange = fetch_large(play(answer), tmp_path)
    assert (exchange.body, exchange.truncated, exchange.failure) == (b"", None, None)
    assert content(exchange.large) == BODY
    assert exchange.large is not None
    assert exchange.large.sha256 == hashlib.sha256(BODY).hexdigest()
    assert exchange.large.payload == "sha1:" + base64.b32encode(hashlib.sha1(BODY).digest()).decode()
    assert exchange.body_bytes == exchange.large.size == len(BODY)
    assert list(tmp_path.iterdir()) == []


def test_content_coding_is_kept(play: Play, tmp_path: Path) -> None:
    """The file has the bytes as sent."""
    coded = gzip.compress(BODY)
    head = OK + b"Content-Encoding: gzip\r\nContent-Length: %d\r\n\r\n" % len(coded)
    exchange = fetch_large(play(head + coded), tmp_path, limits=LIMITS)
    assert content(exchange.large) == coded


@pytest.mark.parametrize("size", [1, MEMORY_BYTES - 1, MEMORY_BYTES])
def test_smaller_body_stays_in_memory(size: int, play: Play, tmp_path: Path) -> None:
    """A body up to the limit is held in memory, as if there was no spool."""
    for framing in (b"Content-Length: %d\r\n\r\n" % size, b"Connection: close\r\n\r\n"):
        exchange = fetch_large(play(OK + framing + BODY[:size]), tmp_path)
        assert (exchange.body, exchange.large, exchange.truncated) == (BODY[:size], None, None)


@pytest.mark.parametrize(
    ("status", "allowed"), [(b"404 Not Found", True), (b"302 Found", True), (b"200 OK", False)], ids=str
)
def test_other_bodies_are_cut_at_the_memory_limit(status: bytes, allowed: bool, play: Play, tmp_path: Path) -> None:
    """Only a successful response to a request that allows it has a large body."""
    answer = b"HTTP/1.1 " + status + b"\r\nContent-Length: %d\r\n\r\n" % len(BODY) + BODY
    exchange = fetch_large(play(answer), tmp_path, large_body=allowed)
    assert (exchange.body, exchange.large, exchange.truncated) == (BODY[:MEMORY_BYTES], None, "length")


@pytest.mark.parametrize("framing", [b"Transfer-Encoding: chunked\r\n\r\n", b"Connection: close\r\n\r\n"])
def test_endless_body_is_cut_at_the_limit(framing: bytes, play: Play, tmp_path: Path) -> None:
    """A body without end is archived up to exactly `body_bytes`."""
    sent = threading.Event()

    def script(peer: Conversation) -> None:
        peer.request()
        peer.send(OK + framing)
        is_chunked = b"chunked" in framing
        while True:
            sent.set()
            peer.send(b"%x\r\n%s\r\n" % (65536, BODY[:65536]) if is_chunked else BODY[:65536])

    limits = FetchLimits(body_bytes=3_333_333, memory_bytes=MEMORY_BYTES, first_byte_s=60.0)
    exchange = fetch_large(play(script), tmp_path, limits=limits)
    assert sent.is_set()
    assert exchange.truncated == "length"
    assert content(exchange.large) == (BODY[:65536] * 60)[:3_333_333]


def test_disconnect_keeps_what_arrived(play: Play, tmp_path: Path) -> None:
    """If the server closes the connection in the middle, the file has what arrived, and the body is marked."""
    head = OK + b"Content-Length: %d\r\n\r\n" % (2 * len(BODY))
    exchange = fetch_large(play(head + BODY), tmp_path)
    assert (content(exchange.large), exchange.truncated) == (BODY, "disconnect")


def test_announced_body_that_does_not_fit(play: Play, tmp_path: Path) -> None:
    """A body that is announced as too large for the disk is given up at once; a body needs its size twice."""
    began = threading.Event()

    def script(peer: Conversation) -> None:
        peer.request()
        peer.send(OK + b"Content-Length: 9000000\r\n\r\n" + BODY[:MEMORY_BYTES])
        began.set()
        peer.wait_for_close()  # the rest is never sent

    exchange = fetch_large(play(script), tmp_path, free=lambda folder: 18_999_999)
    assert began.is_set()
    assert exchange.failure is not None
    assert exchange.failure.kind is FailureKind.HANDLER
    assert "archive.reserve" in exchange.failure.detail
    assert (exchange.body, exchange.large, exchange.truncated) == (b"", None, "length")


def test_disk_fills_up_while_receiving(play: Play, tmp_path: Path) -> None:
    """A body whose length is not announced ends when only the reserve and the room for its copy are left."""
    left = [4_000_000]

    def free(folder: Path) -> int:
        left[0] -= 100_000
        return left[0]

    def script(peer: Conversation) -> None:
        peer.request()
        peer.send(OK + b"Connection: close\r\n\r\n")
        while True:
            peer.send(BODY[:65536])

    exchange = fetch_large(play(script), tmp_path, free=free)
    assert exchange.failure is not None
    assert "too little space" in exchange.failure.detail
    assert exchange.large is None


def test_two_bodies_share_the_space(tmp_path: Path) -> None:
    """The room for the copy of one body is not given to another one."""
    spool = BodySpool(tmp_path, reserve=0, free=lambda folder: 5_000_000)

    async def use() -> list[str]:
        writers = [spool.open(2_000_000, 1_000_000, lambda: None) for _ in range(2)]
        for writer in writers:
            writer.add([bytes(2_000_000)])
            await asyncio.wait({asyncio.ensure_future(writer.finish())})
        await spool.close()
        return [writer.problem for writer in writers]

    first, second = asyncio.run(use())
    assert first == ""
    assert "too little space" in second


def test_slow_disk_stops_the_reading(play: Play, tmp_path: Path) -> None:
    """While the disk does not take what arrived, nothing more is read: the server cannot send on."""
    may_write, sent = threading.Event(), [0]
    body_bytes = 60_000_000

    def script(peer: Conversation) -> None:
        peer.request()
        peer.send(OK + b"Content-Length: %d\r\n\r\n" % body_bytes)
        while sent[0] < body_bytes:
            peer.send(BODY[:100_000])
            sent[0] += 100_000
            if sent[0] == 20_000_000:
                reached.set()

    reached = threading.Event()

    def free(folder: Path) -> int:  # asked before each write
        may_write.wait(60)
        return 10**12

    server = play(script)
    spool = BodySpool(tmp_path, reserve=0, free=free)
    limits = FetchLimits(body_bytes=body_bytes, memory_bytes=MEMORY_BYTES, first_byte_s=60.0)

    async def use(web: HttpWeb) -> Exchange:
        task = asyncio.create_task(web.fetch(server.permit(large_body=True)))
        assert not await asyncio.to_thread(reached.wait, 1.0), "20 MB were taken while nothing was written"
        may_write.set()
        return await task

    exchange = with_web(use, limits=limits, spool=spool, connections=10, max_memory=40_000_000)
    assert (exchange.truncated, exchange.body_bytes) == (None, body_bytes)


def test_two_large_bodies_at_once(play: Play, tmp_path: Path) -> None:
    """Two bodies that are received at the same time do not mix."""
    both = threading.Barrier(2)

    def script(peer: Conversation) -> None:
        fill = b"a" if b"/a" in peer.request() else b"b"
        peer.send(OK + b"Content-Length: %d\r\n\r\n" % 4_000_000)
        peer.send(fill * 1_000_000)
        both.wait(60)
        for _ in range(30):
            peer.send(fill * 100_000)

    server = play(script)
    spool = BodySpool(tmp_path, reserve=0, free=free_bytes)

    async def use(web: HttpWeb) -> list[Exchange]:
        permits = [server.permit(path, large_body=True) for path in ("/a", "/b")]
        return list(await asyncio.gather(*[web.fetch(permit) for permit in permits]))

    first, second = with_web(use, limits=LIMITS, spool=spool)
    assert content(first.large) == b"a" * 4_000_000
    assert content(second.large) == b"b" * 4_000_000


def test_cancelled_body_leaves_nothing(play: Play, tmp_path: Path) -> None:
    """If the request is cancelled while the body arrives, its space is free again."""
    arrived = threading.Event()

    def script(peer: Conversation) -> None:
        peer.request()
        peer.send(OK + b"Content-Length: 9000000\r\n\r\n" + BODY)
        arrived.set()
        peer.wait_for_close()

    server = play(script)
    spool = BodySpool(tmp_path, reserve=0, free=free_bytes)

    async def use(web: HttpWeb) -> None:
        task = asyncio.create_task(web.fetch(server.permit(large_body=True)))
        await asyncio.to_thread(arrived.wait, 60)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)

    with_web(use, limits=LIMITS, spool=spool)
    assert not [file for file in open_files() if file.startswith(str(tmp_path))]
    assert list(tmp_path.iterdir()) == []


def open_files() -> list[str]:
    """The files that this process has open."""
    names: list[str] = []
    for descriptor in Path("/proc/self/fd").iterdir():
        with suppress(OSError):  # that of the listing itself
            names.append(str(descriptor.readlink()))
    return names


def test_time_limit_begins_anew_with_each_part(play: Play, tmp_path: Path) -> None:
    """Every `memory_bytes` of a large body may take the time of a whole exchange."""
    part = BODY[:MEMORY_BYTES]

    def script(peer: Conversation) -> None:
        peer.request()
        peer.send(OK + b"Content-Length: %d\r\n\r\n" % (6 * len(part)) + part)
        for _ in range(5):
            if not peer.pause(1.8):
                return
            peer.send(part)

    limits = FetchLimits(body_bytes=10_000_000, memory_bytes=MEMORY_BYTES, first_byte_s=60.0, total_s=8.0)
    exchange = fetch_large(play(script), tmp_path, limits=limits)
    assert exchange.duration_s > limits.total_s
    assert (exchange.truncated, content(exchange.large)) == (None, part * 6)


def test_slow_large_body_is_cut(play: Play, tmp_path: Path) -> None:
    """A large body that stays below the rate is cut by time, and what arrived is kept."""

    def script(peer: Conversation) -> None:
        peer.request()
        peer.send(OK + b"Content-Length: 9000000\r\n\r\n" + BODY)
        while peer.pause(0.2):
            peer.send(b"x")

    limits = FetchLimits(body_bytes=10_000_000, memory_bytes=5_000_000, first_byte_s=60.0, total_s=3.0)
    exchange = fetch_large(play(script), tmp_path, limits=limits)
    assert exchange.truncated == "time"
    received = content(exchange.large)
    assert (BODY + b"x" * 1000).startswith(received)
    assert exchange.body_bytes == len(received)
