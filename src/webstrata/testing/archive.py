"""The contract of the `Archive` port: what every archive must keep, whatever it writes to."""

from __future__ import annotations

import asyncio
import hashlib
from base64 import b32encode
from collections.abc import Callable, Iterator

from msgspec.structs import replace

from webstrata.ports import Archive
from webstrata.records import Capture, Exchange, Original, Position

_AT = 1_790_000_000.125
_HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Encoding: identity\r\n\r\n"
_NOT_MODIFIED = b'HTTP/1.1 304 Not Modified\r\nETag: "x"\r\n\r\n'
_REQUEST = b"GET / HTTP/1.1\r\nHost: example.com\r\n\r\n"
_PIECE = bytes(range(256)) * 100
_BODIES = (b"", b"plain", b"\r\n\r\n", bytes(range(256)) * 40, b"WARC/1.1\r\n\r\n", b"\x1f\x8b\x08not gzip")


def check_archive(make: Callable[[], Archive]) -> None:
    """Raise AssertionError with the broken promise. `make` opens the same place each time it is called."""
    asyncio.run(_check(make))


async def _check(make: Callable[[], Archive]) -> None:
    archive = make()
    await archive.check_writable()
    assert await archive.append([]) == [], "nothing appended, nothing returned"
    captures = [_capture(f"http://example.com/{i}", body, _AT + i) for i, body in enumerate(_BODIES)]
    positions = await archive.append(captures)
    places = {(position.file, position.offset) for position in positions}
    assert len(places) == len(captures), "one position for each capture, each its own"
    assert len({position.record_id for position in positions}) == len(captures), "every record has its own name"
    await _check_read(archive, positions, captures, "while the archive is open")
    revisits = [_revisit(captures[1], positions[1], 200), _revisit(captures[1], positions[1], 304)]
    again = await archive.append(revisits)
    assert [position.kind for position in again] == ["revisit", "revisit"], "a revisit says that it is one"
    await _check_revisits(archive, again, captures[1])
    large = _LargeCapture(_capture("http://example.com/large", b"", _AT + 30))
    place = await archive.append_large(large.capture)
    await _check_large(archive, place, large)
    await archive.close()

    reopened = make()
    await _check_large(reopened, place, large)
    await _check_read(reopened, positions, captures, "after the archive was closed and opened")
    await _check_revisits(reopened, again, captures[1])
    more = await reopened.append(captures[:1])
    assert (more[0].file, more[0].offset) not in places, "what was written is never written over"
    await _check_read(reopened, positions, captures, "after more was appended")
    await reopened.close()


class _LargeCapture:
    """A capture whose body (`records.LargeBody`) is made when it is read."""

    def __init__(self, capture: Capture) -> None:
        self.size = 3 * len(_PIECE)
        self.capture = Capture(exchange=replace(capture.exchange, large=self), payload=self.payload)

    @property
    def content(self) -> bytes:
        return b"".join(self.pieces())

    @property
    def payload(self) -> str:
        return "sha1:" + b32encode(hashlib.sha1(self.content, usedforsecurity=False).digest()).decode()

    @property
    def sha256(self) -> str:
        return hashlib.sha256(self.content).hexdigest()

    def pieces(self) -> Iterator[bytes]:
        yield from (_PIECE, _PIECE, _PIECE)


async def _check_large(archive: Archive, position: Position, large: _LargeCapture) -> None:
    stored = await archive.read(position)
    body = stored.body if stored.large is None else b"".join(stored.large.pieces())
    assert body == large.content, "a body that was not in memory comes back as it was"
    assert (stored.url, stored.at) == (large.capture.exchange.url, large.capture.exchange.at)


async def _check_read(archive: Archive, positions: list[Position], captures: list[Capture], when: str) -> None:
    for position, capture in zip(positions, captures, strict=True):
        stored = await archive.read(position)
        exchange = capture.exchange
        assert stored.body == exchange.body, f"the body comes back as it was, {when}: {exchange.url}"
        assert (stored.url, stored.status) == (exchange.url, exchange.status), f"so do URL and status, {when}"
        assert stored.at == exchange.at, f"so does the instant, {when}"
        assert ("content-type", "text/plain") in stored.headers, f"so do the headers, {when}"


async def _check_revisits(archive: Archive, positions: list[Position], original: Capture) -> None:
    for position in positions:
        stored = await archive.read(position)
        assert stored.body == original.exchange.body, "a revisit gives the original's body"
        assert stored.at == original.exchange.at + 60, "a revisit has its own instant"


def _capture(url: str, body: bytes, at: float) -> Capture:
    exchange = Exchange(
        url=url,
        at=at,
        duration_s=0.01,
        request_head=_REQUEST,
        address="192.0.2.1",
        status=200,
        response_head=_HEAD,
        body=body,
    )
    digest = hashlib.sha1(body, usedforsecurity=False).digest()
    return Capture(exchange=exchange, payload="sha1:" + b32encode(digest).decode())


def _revisit(first: Capture, position: Position, status: int) -> Capture:
    seen = first.exchange
    original = Original(
        payload=first.payload,
        record_id=position.record_id,
        at=seen.at,
        url=seen.url,
        file=position.file,
        offset=position.offset,
    )
    exchange = replace(seen, at=seen.at + 60, status=status)
    if status == 304:
        exchange = replace(exchange, response_head=_NOT_MODIFIED, body=b"")
    return Capture(exchange=exchange, payload=first.payload, original=original)
