"""HTTP/1.1 over aiohttp: the `Web` that the crawl uses.

One session, kept-alive connections, no cookies, no redirects, nothing from the environment. aiohttp is given the
permit's literal address as its target, so that it never resolves a name; Host, server name and certificate check are
those of the URL. Connections are shared only by requests to the same host at the same address.
"""

from __future__ import annotations

import asyncio
import resource
import socket
import ssl
from collections.abc import Mapping
from functools import cache, lru_cache
from typing import Any, Literal, NamedTuple

import aiohttp
from aiohttp.http_exceptions import HttpProcessingError

from webstrata.fetch.failures import AddressBlocked, ConnectionLost, NotHttp, failure_of
from webstrata.fetch.guard import Guard
from webstrata.fetch.limits import Limits
from webstrata.fetch.names import Names
from webstrata.fetch.request import Request, request_of
from webstrata.fetch.wire import IdleConnections, WireResponse, use_wire_protocol
from webstrata.ports import Clock
from webstrata.records import Exchange, Failure, FailureKind, Permit, Posted, Validators

_KEEP_ALIVE_S = 15.0
_IDLE_PER_SLOT = 8
"""A polite crawl sees many other hosts before it comes back to one; a connection closed too soon is made again then."""


class _Body(NamedTuple):
    content: bytes
    truncated: Literal["length", "time", "disconnect"] | None = None
    failure: Failure | None = None


class HttpWeb:
    """All outgoing HTTP. Create and use it in one event loop."""

    def __init__(
        self,
        clock: Clock,
        guard: Guard,
        limits: Limits,
        hosts: Mapping[str, str] = {},
        connections: int = 64,
        ca_file: str | None = None,
    ) -> None:
        """`hosts` answers names before DNS does (`address` or `address:port`); `ca_file` is trusted as well."""
        self._clock = clock
        self._guard = guard
        self._limits = limits
        self._names = Names(guard, hosts, limits.connect_s)
        self._slots = asyncio.Semaphore(connections)
        self._idle = IdleConnections(_most_idle(connections))
        self._tls = _tls_context(ca_file)
        self._session: aiohttp.ClientSession | None = None

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
        posted: Posted | None = None,
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
        if self._session is not None:
            await self._session.close()

    async def _exchange(self, permit: Permit, request: Request) -> Exchange:
        at = self._clock.now()
        try:
            response = await self._answer(request)
        except (aiohttp.ClientError, HttpProcessingError, OSError, ValueError) as error:
            return self._failed(permit, request.head, at, failure_of(error))
        try:
            failure = _refuse(response)
            body = await self._read(response) if failure is None else _Body(b"", failure=failure)
        finally:
            if not response.content.is_eof():
                response.close()
        return Exchange(
            url=permit.url,
            at=at,
            duration_s=self._clock.now() - at,
            request_head=request.head,
            request_body=request.body or b"",
            address=permit.address,
            status=response.status,
            response_head=response.wire_head,
            headers=tuple([(_name(name), _text(value)) for name, value in response.raw_headers]),
            body=body.content,
            truncated=body.truncated,
            failure=body.failure,
        )

    async def _answer(self, request: Request) -> WireResponse:
        """Send, and read the answer's head. A connection that the server closed while idle is replaced once."""
        try:
            return await self._send(request)
        except ConnectionLost as error:
            if not error.stale:
                raise
        except aiohttp.ClientConnectionResetError:  # closed before anything was written
            pass
        return await self._send(request)

    async def _send(self, request: Request) -> WireResponse:
        session = self._session or self._open()
        response = await session.request(
            request.method,
            request.endpoint,
            headers=request.headers,
            data=request.body,
            server_hostname=request.server_name,
            allow_redirects=False,
        )
        assert isinstance(response, WireResponse)
        return response

    async def _read(self, response: WireResponse) -> _Body:
        limit = self._limits.body_bytes
        parts: list[bytes] = []
        size = 0
        truncated: Literal["length", "time", "disconnect"] | None = None
        try:
            while part := await response.content.readany():
                parts.append(part)
                size += len(part)
                if size > limit:
                    break
        except TimeoutError:
            truncated = "time"
            parts.append(response.unread())
        except (aiohttp.ClientError, HttpProcessingError, OSError) as error:
            parts.append(response.unread())
            if not _is_end(error):
                return _Body(b"".join(parts)[:limit], failure=failure_of(error))
            truncated = "disconnect"
        content = parts[0] if len(parts) == 1 else b"".join(parts)
        if len(content) > limit:
            return _Body(content[:limit], "length")
        if truncated is None and response.wire.broken and not _has_length(response):
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

    def _open(self) -> aiohttp.ClientSession:
        limits = self._limits
        connector = aiohttp.TCPConnector(
            limit=0,  # the slots bound it, outside of any time limit
            ssl=self._tls,
            keepalive_timeout=_KEEP_ALIVE_S,
            happy_eyeballs_delay=None,
            socket_factory=self._make_socket,
        )
        use_wire_protocol(connector, self._guard, limits, self._idle)
        self._session = aiohttp.ClientSession(
            connector=connector,
            response_class=WireResponse,
            cookie_jar=aiohttp.DummyCookieJar(),
            auto_decompress=False,
            trust_env=False,
            timeout=aiohttp.ClientTimeout(
                total=limits.total_s, connect=limits.connect_s, sock_read=limits.first_byte_s
            ),
            # the wire protocol bounds the head as a whole; these must not be the narrower door
            max_line_size=limits.header_bytes,
            max_field_size=limits.header_bytes,
            max_headers=limits.header_count,
        )
        return self._session

    def _make_socket(self, address_info: tuple[Any, ...]) -> socket.socket:
        """Where every socket of the crawl is made: the guard's place."""
        family, kind, protocol, _, peer = address_info
        if not self._guard.allows(peer[0], peer[1]):
            raise AddressBlocked(f"{peer[0]} port {peer[1]} is not public")
        return socket.socket(family, kind, protocol)


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


def _refuse(response: WireResponse) -> Failure | None:
    """Answers that the parser lets pass and that are none to a GET over HTTP/1."""
    version, head = response.version, response.wire_head
    if response.status < 200:
        return failure_of(NotHttp(f"status {response.status} to a request that asked for no upgrade"))
    if version is None or version.major != 1:
        return failure_of(NotHttp(f"protocol version {version}"))
    if not head.startswith(b"HTTP/1.") or head[9:12] != b"%d" % response.status or b"\0" in head:
        return failure_of(NotHttp("head that can be read in two ways"))
    return None


def _has_length(response: WireResponse) -> bool:
    return any(name.lower() in (b"content-length", b"transfer-encoding") for name, _ in response.raw_headers)


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
