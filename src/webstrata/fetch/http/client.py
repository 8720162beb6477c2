"""`HttpWeb`: the HTTP/1.1 client of the crawl and of every other outgoing request.

It keeps connections alive, sends no cookies, follows no redirects and ignores the environment (proxies). A connection
goes to the literal address of the permit, so no name is resolved for it; the Host header, the TLS server name and the
certificate check use the host of the URL.
"""

from __future__ import annotations

import asyncio
import resource
import ssl
from collections.abc import Mapping
from functools import cache

from webstrata.fetch.http.failures import ConnectionLost, FetchError, failure_of
from webstrata.fetch.http.guard import AddressGuard
from webstrata.fetch.http.pool import ConnectionPool
from webstrata.fetch.http.request import FetchLimits, HttpRequest, request_of
from webstrata.fetch.http.resolver import HostResolver
from webstrata.fetch.http.response import Response
from webstrata.ports import Clock
from webstrata.records import Exchange, Failure, FailureKind, Permit, PostBody, Validators

_IDLE_PER_CONNECTION = 8
"""Idle connections kept for each concurrent one: a polite crawl visits many other hosts before it returns to a host."""


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
        """`hosts` maps names to `address` or `address:port` before DNS; `ca_file` holds more trusted certificates."""
        self._clock = clock
        self._guard = guard
        self._limits = limits
        self._names = HostResolver(guard, hosts, limits.connect_s)
        self._slots = asyncio.Semaphore(connections)
        self._pool = ConnectionPool(guard, limits, _tls_context(ca_file), _max_idle(connections))

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
    ) -> Exchange:
        """Send one request and return its outcome. Failures of the network are part of the outcome, not exceptions."""
        request = request_of(permit, accept, validators, posted)
        if isinstance(request, Failure):
            return self._failed(permit, b"", self._clock.now(), request)
        if not self._guard.allows(permit.address, permit.port):
            detail = f"{permit.address} port {permit.port} is not public"
            blocked = Failure(kind=FailureKind.BLOCKED, detail=detail)
            return self._failed(permit, request.head, self._clock.now(), blocked)
        async with self._slots:
            with self._clock.working():
                return await self._exchange(permit, request)

    async def close(self) -> None:
        await self._names.close()
        self._pool.close()
        await asyncio.sleep(0)  # lets the event loop call `connection_lost`

    async def _exchange(self, permit: Permit, request: HttpRequest) -> Exchange:
        at = self._clock.now()
        try:
            response = await self._respond(request)
        except (FetchError, OSError, ValueError) as error:
            return self._failed(permit, request.head, at, failure_of(error))
        return Exchange(
            url=permit.url,
            at=at,
            duration_s=self._clock.now() - at,
            request_head=request.head,
            request_body=request.body,
            address=permit.address,
            status=response.status,
            response_head=response.head,
            headers=response.headers,
            body=response.body,
            truncated=response.truncated,
            failure=response.failure,
        )

    async def _respond(self, request: HttpRequest) -> Response:
        """Send the request; once more if it met a connection that the server had closed while it was idle."""
        ends_at = asyncio.get_running_loop().time() + self._limits.total_s
        try:
            return await self._send(request, ends_at)
        except ConnectionLost as error:
            if not error.stale:
                raise
        return await self._send(request, ends_at)

    async def _send(self, request: HttpRequest, ends_at: float) -> Response:
        connection = await self._pool.take(request.target, ends_at)
        try:
            response = await connection.exchange(request.head + request.body, ends_at)
        except BaseException:  # also when cancelled: the rest of a response may still arrive
            connection.abort()
            raise
        self._pool.give_back(request.target, connection)
        return response

    def _failed(self, permit: Permit, request_head: bytes, at: float, failure: Failure) -> Exchange:
        return Exchange(
            url=permit.url,
            at=at,
            duration_s=self._clock.now() - at,
            request_head=request_head,
            address=permit.address,
            failure=failure,
        )


def _max_idle(connections: int) -> int:
    """The number of idle connections to keep: at most half of the files that the process may open."""
    open_files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return max(connections, min(_IDLE_PER_CONNECTION * connections, open_files // 2))


@cache
def _tls_context(ca_file: str | None) -> ssl.SSLContext:
    context = ssl.create_default_context()
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.set_alpn_protocols(["http/1.1"])
    if ca_file:
        context.load_verify_locations(ca_file)
    return context
