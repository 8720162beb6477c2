"""A minimal HTTP client on a real socket, so that tests see the bytes of the server unchanged."""

from __future__ import annotations

import asyncio
import zlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from msgspec import Struct


class Reply(Struct):
    status: int
    headers: dict[str, str]
    body: bytes
    """Content coding removed."""
    wire_bytes: int


class Client:
    """One connection; requests one after another."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self.writer = writer

    async def get(self, host: str, target: str, method: str = "GET", **headers: str) -> Reply:
        lines = [f"{method} {target} HTTP/1.1", f"Host: {host}"]
        lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
        self.writer.write(("\r\n".join(lines) + "\r\n\r\n").encode("latin-1"))
        return await self.read(with_body=method == "GET")

    async def read(self, *, with_body: bool = True) -> Reply:
        head = (await self.reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in head[1:] if line)}
        length = int(headers.get("content-length", 0)) if with_body else 0
        wire = await self.reader.readexactly(length)
        body = zlib.decompress(wire, 31) if headers.get("content-encoding") == "gzip" and wire else wire
        return Reply(status=int(head[0].split(" ")[1]), headers=headers, body=body, wire_bytes=length)


@asynccontextmanager
async def connected(endpoint: str) -> AsyncIterator[Client]:
    address, _, port = endpoint.partition(":")
    reader, writer = await asyncio.open_connection(address, int(port), limit=1 << 22)
    try:
        yield Client(reader, writer)
    finally:
        writer.close()
        await writer.wait_closed()
