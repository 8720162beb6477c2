"""The origin server, a separate process with very little work per request, so that it does not limit the contenders.

It prints its port and serves until its standard input ends. `/pages/N.html` is a real page followed by the stamp N.
"""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import cast

import uvloop

from bench.pages import ROBOTS, STAMP, real_pages

_HEAD = b"HTTP/1.1 %s\r\nDate: Sun, 15 Nov 2026 08:30:00 GMT\r\nServer: bench\r\nContent-Type: %s\r\n"
_LENGTH = b"Content-Length: %d\r\n"
_REQUEST_END = b"\r\n\r\n"


class Origin(asyncio.Protocol):
    """One connection. Requests may arrive in pieces or several at once."""

    def __init__(self, pages: list[bytes]) -> None:
        self._pages = pages
        self._buffer = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)

    def data_received(self, data: bytes) -> None:
        requests = (self._buffer + data).split(_REQUEST_END)
        self._buffer = requests.pop()
        for request in requests:
            self._respond(request.split(b" ", 2)[1])

    def _respond(self, path: bytes) -> None:
        if path == b"/robots.txt":
            self._transport.write((_HEAD + _LENGTH) % (b"200 OK", b"text/plain", len(ROBOTS)) + b"\r\n" + ROBOTS)
        elif path.startswith(b"/pages/"):
            number = int(path[7:13])
            body = self._pages[number % len(self._pages)]
            stamp = STAMP % number
            head = (_HEAD + _LENGTH) % (b"200 OK", b"text/html; charset=utf-8", len(body) + len(stamp))
            self._transport.writelines((head, b'ETag: "%d"\r\n\r\n' % number, body, stamp))
        else:
            self._transport.write((_HEAD + _LENGTH) % (b"404 Not Found", b"text/plain", 0) + b"\r\n")


async def _serve() -> None:
    pages = real_pages()
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: Origin(pages), "0.0.0.0", 0, backlog=1024)
    size = sum(map(len, pages)) // len(pages)
    print(server.sockets[0].getsockname()[1], len(pages), size, flush=True)
    await loop.run_in_executor(None, sys.stdin.read)


@contextmanager
def serving() -> Iterator[tuple[int, int, int]]:
    """Run the origin server: (port, number of different pages, their mean size in bytes)."""
    process = subprocess.Popen(
        [sys.executable, "-m", "bench.origin"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        port, pages, size = map(int, process.stdout.readline().split())
        yield port, pages, size
    finally:
        process.stdin.close()
        process.wait(timeout=10)
        process.stdout.close()


if __name__ == "__main__":
    uvloop.run(_serve())
