"""HTTP/1.1: the `Web` that the crawl uses.

Kept-alive connections, no cookies, no redirects, nothing from the environment. A connection goes to the permit's
literal address, so no name is resolved here; Host, server name and certificate check are those of the URL.
"""

from __future__ import annotations

import asyncio
import resource
import ssl
from collections.abc import Mapping
from functools import cache, lru_cache
from typing import Literal, NamedTuple

import aiohttp
from aiohttp.http_exceptions import HttpProcessingError
from aiohttp.http_parser import RawResponseMessage
from aiohttp.streams import StreamReader

from webstrata.fetch.http.failures import ConnectionLost, NotHttp, failure_of
from webstrata.fetch.http.guard import AddressGuard
from webstrata.fetch.http.pool import ConnectionPool
from webstrata.fetch.http.request import FetchLimits, HttpRequest, request_of
from webstrata.fetch.http.resolver import HostResolver
from webstrata.fetch.http.wire import WireProtocol, unread
from webstrata.ports import Clock
from webstrata.records import Exchange, Failure, FailureKind, Permit, PostBody, Validators

_IDLE_PER_SLOT = 8
"""A polite crawl sees many other hosts before it comes back to one; a connection closed too soon is made again then."""


class _Answer(NamedTuple):
    wire: WireProtocol
    head: bytes
    message: RawResponseMessage
    body: StreamReader


class _Body(NamedTuple):
    content: bytes
    truncated: Literal["length", "time", "disconnect"] | None = None
    failure: Failure | None = None


class HttpWeb:
    """All outgoing HTTP. Create and use it in one event loop."""

    def __init__(
        self,
        clock: Clock,
        guard: AddressGuard,
        limits: FetchLimits,
        hosts: Mapping[str, str] = {},
        connections: int = 64,
        ca_file: str | None = None,
    ) -> None:
        """`hosts` answers names before DNS does (`address` or `address:port`); `ca_file` is trusted as well."""
        self._clock = clock
        self._guard = guard
        self._limits = limits
        self._names = HostResolver(guard, hosts, limits.connect_s)
        self._slots = asyncio.Semaphore(connections)
        self._pool = ConnectionPool(guard, limits, _tls_context(ca_file), _most_idle(connections))

    async def resolve(self, host: str, port: int) -> tuple[str, int] | Failure:
        """The address (and port) that a request to this host would connect to, already passed by the guard."""
        with self._clock.working():
            return await self._names.resolve(host, port)

    async def fetch(
        self,
        permit: Permit,
        *,
        accept: str = "*/*",
        validators: Validators | None = None,
        posted: PostBody | None = None,
    ) -> Exchange:
        """One request, one answer, no redirects followed. Never raises for what the network does."""
        request = request_of(permit, accept, validators, posted)
        if isinstance(request, Failure):
            return self._failed(permit, b"", self._clock.now(), request)
        if not self._guard.allows(permit.address, permit.port):
            why = f"{permit.address} port {permit.port} is not public"
            blocked = Failure(kind=FailureKind.BLOCKED, detail=why)
            return self._failed(permit, request.head, self._clock.now(), blocked)
        async with self._slots:
            with self._clock.working():
                return await self._exchange(permit, request)

    async def close(self) -> None:
        await self._names.close()
        self._pool.close()
        await asyncio.sleep(0)  # the loop hears of the ends that were just made

    async def _exchange(self, permit: Permit, request: HttpRequest) -> Exchange:
        at = self._clock.now()
        ends_at = asyncio.get_running_loop().time() + self._limits.total_s
        try:
            async with asyncio.timeout_at(ends_at):
                answer = await self._answer(request)
        except (aiohttp.ClientError, HttpProcessingError, OSError, ValueError) as error:
            return self._failed(permit, request.head, at, failure_of(error))
        wire, message = answer.wire, answer.message
        whole = False
        try:
            failure = _refuse(answer)
            body = await self._read(answer, ends_at) if failure is None else _Body(b"", failure=failure)
            whole = answer.body.is_eof()
        finally:
            if whole:
                self._pool.give_back(request.target, wire)
            else:
                wire.abort()
        return Exchange(
            url=permit.url,
            at=at,
            duration_s=self._clock.now() - at,
            request_head=request.head,
            request_body=request.body,
            address=permit.address,
            status=message.code,
            response_head=answer.head,
            headers=tuple([(_name(name), _text(value)) for name, value in message.raw_headers]),
            body=body.content,
            truncated=body.truncated,
            failure=body.failure,
        )

    async def _answer(self, request: HttpRequest) -> _Answer:
        """Send, and read the answer's head. A connection that the server closed while idle is replaced once."""
        try:
            return await self._send(request)
        except ConnectionLost as error:
            if not error.stale:
                raise
        return await self._send(request)

    async def _send(self, request: HttpRequest) -> _Answer:
        wire = await self._pool.take(request.target)
        try:
            message, body = await wire.ask(request.head + request.body)
        except BaseException:  # cancelled too: nobody knows what is still to come on it
            wire.abort()
            raise
        return _Answer(wire, wire.keeper.head, message, body)

    async def _read(self, answer: _Answer, ends_at: float) -> _Body:
        limit = self._limits.body_bytes
        parts: list[bytes] = []
        truncated: Literal["length", "time", "disconnect"] | None = None
        try:
            if answer.body.is_eof():  # the usual case: it came with its head
                parts.append(await answer.body.readany())
            else:
                async with asyncio.timeout_at(ends_at):
                    await _collect(answer.body, parts, limit)
        except TimeoutError:
            truncated = "time"
            parts.append(unread(answer.body))
        except (aiohttp.ClientError, HttpProcessingError, OSError) as error:
            parts.append(unread(answer.body))
            if not _is_end(error):
                return _Body(b"".join(parts)[:limit], failure=failure_of(error))
            truncated = "disconnect"
        content = parts[0] if len(parts) == 1 else b"".join(parts)
        if len(content) > limit:
            return _Body(content[:limit], "length")
        if truncated is None and answer.wire.broken and not _has_length(answer.message):
            truncated = "disconnect"
        return _Body(content, truncated)

    def _failed(self, permit: Permit, request_head: bytes, at: float, failure: Failure) -> Exchange:
        return Exchange(
            url=permit.url,
            at=at,
            duration_s=self._clock.now() - at,
            request_head=request_head,
            address=permit.address,
            failure=failure,
        )


async def _collect(body: StreamReader, parts: list[bytes], limit: int) -> None:
    """Read to the end, or until there is more than `limit`."""
    size = 0
    while size <= limit and (part := await body.readany()):
        parts.append(part)
        size += len(part)


def _most_idle(connections: int) -> int:
    """Kept-alive connections, of which half the files that the system lets us open are never passed."""
    open_files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return max(connections, min(_IDLE_PER_SLOT * connections, open_files // 2))


@cache
def _tls_context(ca_file: str | None) -> ssl.SSLContext:
    context = ssl.create_default_context()
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.set_alpn_protocols(["http/1.1"])
    if ca_file:
        context.load_verify_locations(ca_file)
    return context


def _refuse(answer: _Answer) -> Failure | None:
    """Answers that the parser lets pass and that are none to a GET over HTTP/1."""
    status, version, head = answer.message.code, answer.message.version, answer.head
    if status < 200:
        return failure_of(NotHttp(f"status {status} to a request that asked for no upgrade"))
    if version.major != 1:
        return failure_of(NotHttp(f"protocol version {version}"))
    if not head.startswith(b"HTTP/1.") or head[9:12] != b"%d" % status or b"\0" in head:
        return failure_of(NotHttp("head that can be read in two ways"))
    return None


def _has_length(message: RawResponseMessage) -> bool:
    return any(name.lower() in (b"content-length", b"transfer-encoding") for name, _ in message.raw_headers)


def _is_end(error: BaseException) -> bool:
    """Whether a body broke off because the connection did, not because its bytes make no sense."""
    return not isinstance(error, HttpProcessingError)


@lru_cache(maxsize=1024)
def _name(raw: bytes) -> str:
    return _text(raw).lower()


def _text(raw: bytes) -> str:
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        return raw.decode("latin-1")
