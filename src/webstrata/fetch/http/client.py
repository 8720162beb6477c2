"""`HttpWeb`: the HTTP/1.1 client of the crawl and of every other outgoing request.

It keeps connections alive, sends no cookies, follows no redirects and ignores the environment (proxies). A connection
goes to the literal address of the permit, so no name is resolved for it; the Host header, the TLS server name and the
certificate check use the host of the URL.
"""

from __future__ import annotations

import asyncio
import ssl
from collections import deque
from collections.abc import Mapping, Sequence
from functools import cache

from webstrata.fetch.http.body_memory import BodyMemory
from webstrata.fetch.http.body_spool import BodySpool
from webstrata.fetch.http.connection import HttpConnection
from webstrata.fetch.http.descriptors import connection_limits
from webstrata.fetch.http.failures import ConnectionLost, FetchError, failure_of
from webstrata.fetch.http.guard import AddressGuard
from webstrata.fetch.http.pool import ConnectionPool
from webstrata.fetch.http.request import FetchLimits, HttpRequest, request_of
from webstrata.fetch.http.resolver import HostResolver
from webstrata.ports import BeforeSend, Clock
from webstrata.records import Exchange, Failure, FailureKind, Permit, PostBody, Validators


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
        max_memory: int = 512 * 10**6,
        name_servers: Sequence[str] = (),
        spool: BodySpool | None = None,
    ) -> None:
        """`hosts` maps names to `address` or `address:port` before DNS; `ca_file` holds more trusted certificates.

        `max_memory` bounds the bodies in memory (`BodyMemory`). `name_servers` are asked instead of the system's.
        Bodies that are too large for memory go to the `spool`; without one they are truncated.
        """
        self._clock = clock
        self._guard = guard
        self._limits = limits
        self._names = HostResolver(guard, hosts, limits.connect_s, name_servers)
        allowed = connection_limits(connections)
        self.connections = allowed.active
        """Connections that may be in use at a time: as many as wanted, or as the limit on open files permits."""
        self._in_use = 0
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._spool = spool
        self._memory = BodyMemory(max_memory, min(limits.body_bytes, limits.memory_bytes), allowed.active)
        self._pool = ConnectionPool(guard, limits, tls_context(ca_file), allowed.idle, self._memory, spool)

    async def resolve(self, host: str, port: int) -> tuple[str, int] | Failure:
        """The address and port that a request to this host would connect to, if the guard allows them."""
        with self._clock.working():
            return await self._names.resolve(host, port)

    async def fetch(
        self,
        permit: Permit,
        *,
        accept: str = "*/*",
        validators: Validators | None = None,
        posted: PostBody | None = None,
        before_send: BeforeSend | None = None,
        total_s: float | None = None,
    ) -> Exchange:
        """Send one request and return its outcome. Failures of the network are part of the outcome, not exceptions.

        The time limit of the exchange covers connecting, sending and receiving, and the wait for the memory of a large
        body. A body that goes to a file has the limit of the settings for each part of the size that fits into memory.
        It does not cover the wait in `before_send` and the wait for one of the connections, which is limited to
        the same time: if none becomes free, that is a fault of this machine (`FailureKind.LOCAL`).
        """
        request = request_of(permit, accept, validators, posted)
        if isinstance(request, Failure):
            return self._failed(permit, b"", self._clock.now(), request)
        if not self._guard.allows(permit.address, permit.port):
            detail = f"{permit.address} port {permit.port} is not public"
            blocked = Failure(kind=FailureKind.BLOCKED, detail=detail)
            return self._failed(permit, request.head, self._clock.now(), blocked)
        limit_s = self._limits.total_s if total_s is None else min(total_s, self._limits.total_s)
        at = self._clock.now()
        if self._in_use < self.connections:
            self._in_use += 1
        elif not await self._wait_for_connection(limit_s):
            busy = Failure(kind=FailureKind.LOCAL, detail=f"no free connection in {limit_s:.3g} s")
            return self._failed(permit, request.head, at, busy)
        try:
            return await self._exchange(permit, request, before_send, limit_s)
        finally:
            self._release_connection()

    async def close(self) -> None:
        await self._names.close()
        self._pool.close()
        if self._spool is not None:
            await self._spool.close()
        await asyncio.sleep(0)  # lets the event loop call `connection_lost`

    async def _wait_for_connection(self, limit_s: float) -> bool:
        """Wait until another request hands its connection over; False if none does in time."""
        handed_over: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(handed_over)
        try:
            async with asyncio.timeout(limit_s):
                await handed_over
        except BaseException as problem:
            if handed_over.done() and not handed_over.cancelled():
                self._release_connection()
            if isinstance(problem, TimeoutError):
                return False
            raise
        return True

    def _release_connection(self) -> None:
        while self._waiting:
            handed_over = self._waiting.popleft()
            if not handed_over.done():
                handed_over.set_result(None)
                return
        self._in_use -= 1

    async def _exchange(
        self, permit: Permit, request: HttpRequest, before_send: BeforeSend | None, limit_s: float
    ) -> Exchange:
        """Connect, wait until the request may be sent, and send it.

        If the server closes an idle connection in the meantime, nothing was sent, and another connection is used.
        """
        loop = asyncio.get_running_loop()
        at, ends_at = self._clock.now(), loop.time() + limit_s
        while True:
            try:
                with self._clock.working():
                    connection = await self._pool.take(request.target, ends_at)
            except (FetchError, OSError, ValueError) as error:
                return self._failed(permit, request.head, at, failure_of(error))
            if before_send is not None:
                waits_from = loop.time()
                await _await_or_abort(before_send, connection)
                ends_at += loop.time() - waits_from
            problem = connection.problem()
            if problem is None:
                return await self._send(permit, request, connection, ends_at)
            if not connection.was_used:
                return self._failed(permit, request.head, at, failure_of(problem))

    async def _send(self, permit: Permit, request: HttpRequest, connection: HttpConnection, ends_at: float) -> Exchange:
        at, from_s = self._clock.now(), self._clock.steady()
        try:
            with self._clock.working():
                response = await connection.exchange(request.head + request.body, ends_at, large_body=permit.large_body)
        except (FetchError, OSError, ValueError) as error:
            connection.abort()
            stale = isinstance(error, ConnectionLost) and error.stale
            return self._failed(permit, request.head, at, failure_of(error), sent=True, stale=stale)
        except BaseException:  # cancelled: the rest of a response may still arrive
            connection.abort()
            raise
        exchange = Exchange(
            url=permit.url,
            at=at,
            duration_s=self._clock.steady() - from_s,
            request_head=request.head,
            request_body=request.body,
            address=permit.address,
            status=response.status,
            response_head=response.head,
            headers=response.headers,
            body=response.body,
            large=connection.large,
            truncated=response.truncated,
            failure=response.failure,
        )
        connection.large = None
        if connection.reservation is not None:
            connection.reservation.keep_for(exchange)
            connection.reservation = None
        self._pool.give_back(request.target, connection)
        return exchange

    def _failed(
        self,
        permit: Permit,
        request_head: bytes,
        at: float,
        failure: Failure,
        *,
        sent: bool = False,
        stale: bool = False,
    ) -> Exchange:
        return Exchange(
            url=permit.url,
            at=at,
            duration_s=self._clock.now() - at,
            request_head=request_head,
            address=permit.address,
            failure=failure,
            sent=sent,
            stale=stale,
        )


async def _await_or_abort(before_send: BeforeSend, connection: HttpConnection) -> None:
    try:
        await before_send()
    except BaseException:
        connection.abort()
        raise


@cache
def tls_context(ca_file: str | None) -> ssl.SSLContext:
    """The context of all TLS connections. Raises OSError if the file cannot be read or has no certificates."""
    context = ssl.create_default_context()
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.set_alpn_protocols(["http/1.1"])
    if ca_file:
        context.load_verify_locations(ca_file)
    return context
