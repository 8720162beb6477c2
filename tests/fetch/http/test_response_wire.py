"""Every byte of a response counts, whatever it belongs to: hostile servers deliver only a bounded number of them."""

from __future__ import annotations

import threading
from collections.abc import Callable

import pytest

from tests.fetch.conftest import Conversation, PlayedServer, fetch
from webstrata.fetch.http.request import FetchLimits
from webstrata.records import FailureKind

Play = Callable[..., PlayedServer]

OK = b"HTTP/1.1 200 OK\r\n"
CHUNKED = OK + b"Transfer-Encoding: chunked\r\n\r\n"
LIMITS = FetchLimits(header_bytes=64 * 1024, body_bytes=200_000, first_byte_s=60.0, total_s=120.0)
ALLOWED_BYTES = 2 * (LIMITS.header_bytes + LIMITS.body_bytes)
IN_BUFFERS_BYTES = 16_000_000
"""Sent and not read: what socket buffers and one read of the event loop may hold."""
GIVES_UP_BYTES = 200_000_000

ENDLESS = {
    "a chunk extension": (CHUNKED + b"5;", b"x" * 65536, FailureKind.MALFORMED),
    "extensions between bytes of the body": (CHUNKED, (b"1;" + b"x" * 1000 + b"\r\na\r\n") * 60, FailureKind.MALFORMED),
    "short extensions": (CHUNKED, b"1;xxxxxx\r\na\r\n" * 4000, FailureKind.MALFORMED),
    "zeros of a chunk size": (CHUNKED, b"0" * 65536, FailureKind.MALFORMED),
    "trailers": (CHUNKED + b"5\r\nhello\r\n0\r\n", b"X-Again: and again\r\n" * 3000, FailureKind.MALFORMED),
    "a trailer": (CHUNKED + b"5\r\nhello\r\n0\r\nX: ", b"a" * 65536, FailureKind.MALFORMED),
    "interim responses": (b"", b"HTTP/1.1 100 Continue\r\n\r\n" * 2000, FailureKind.HEADERS_TOO_LARGE),
    "early hints": (b"", b"HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n" * 1000, FailureKind.HEADERS_TOO_LARGE),
    "an unusual interim response": (b"", b"HTTP/1.1 199 \r\n\r\n" * 3000, FailureKind.HEADERS_TOO_LARGE),
    "empty lines": (b"", b"\r\n" * 30_000, FailureKind.HEADERS_TOO_LARGE),
    "a status line": (b"HTTP/1.1 200 ", b"x" * 65536, FailureKind.HEADERS_TOO_LARGE),
}


@pytest.mark.parametrize("name", ENDLESS)
def test_endless(play: Play, name: str) -> None:
    """What does not end is cut after a bounded number of bytes, long before a time limit, and reading stops."""
    start, repeated, kind = ENDLESS[name]
    sent_bytes, ended = 0, threading.Event()

    def script(peer: Conversation) -> None:
        nonlocal sent_bytes
        try:
            peer.request()
            peer.send(start)
            while sent_bytes < GIVES_UP_BYTES:
                peer.send(repeated)
                sent_bytes += len(repeated)
        finally:
            ended.set()

    exchange = fetch(play(script).permit(), limits=LIMITS)
    assert ended.wait(60)
    assert exchange.failure is not None
    assert exchange.failure.kind is kind
    assert exchange.duration_s < LIMITS.first_byte_s
    assert sent_bytes < ALLOWED_BYTES + IN_BUFFERS_BYTES
