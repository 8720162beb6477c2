"""A minimal archiving crawler: aiohttp, WARC records compressed with `isal`, links extracted with selectolax.

It has no politeness, robots.txt, index, database or fsync, only one digest per record, and runs in one process.
"""

from __future__ import annotations

import asyncio
import hashlib
import sys
import tempfile
import uuid
from datetime import UTC, datetime
from typing import IO

import aiohttp
import uvloop
from isal import isal_zlib
from selectolax.lexbor import LexborHTMLParser

from bench.contenders.stopwatch import Stopwatch
from bench.pages import urls

CONNECTIONS = 64


def record(url: str, status: int, headers: tuple[tuple[bytes, bytes], ...], body: bytes) -> bytes:
    lines = b"".join(b"%s: %s\r\n" % pair for pair in headers)
    block = b"HTTP/1.1 %d OK\r\n%s\r\n%s" % (status, lines, body)
    head = (
        f"WARC/1.1\r\nWARC-Type: response\r\nWARC-Record-ID: <urn:uuid:{uuid.uuid4()}>\r\n"
        f"WARC-Date: {datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}\r\nWARC-Target-URI: {url}\r\n"
        f"WARC-Payload-Digest: sha1:{hashlib.sha1(body, usedforsecurity=False).hexdigest()}\r\n"
        f"Content-Type: application/http; msgtype=response\r\nContent-Length: {len(block)}\r\n\r\n"
    )
    packed: bytes = isal_zlib.compress(head.encode() + block + b"\r\n\r\n", 1, 31)
    return packed


def links(body: bytes) -> tuple[str, list[str | None]]:
    tree = LexborHTMLParser(body)
    text = tree.body.text() if tree.body is not None else ""
    return text, [node.attributes.get("href") for node in tree.tags("a")]


async def main(port: int, pages: int, warc: IO[bytes]) -> None:
    watch = Stopwatch()
    waiting = iter(urls(pages, port))
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=CONNECTIONS)) as session:

        async def worker() -> None:
            for url in waiting:
                async with session.get(url) as response:
                    body = await response.read()
                    warc.write(record(url, response.status, response.raw_headers, body))
                    links(body)
                watch.finished()

        await asyncio.gather(*(worker() for _ in range(CONNECTIONS)))
    watch.report()


if __name__ == "__main__":
    with tempfile.NamedTemporaryFile(suffix=".warc.gz") as file:
        uvloop.run(main(int(sys.argv[1]), int(sys.argv[2]), file))
