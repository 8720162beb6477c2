"""`ConnectionPool`: opens connections to allowed addresses and keeps idle ones for later requests to the same target.

Only requests to the same host at the same address share a connection, so that one host cannot respond for another.
"""

from __future__ import annotations

import asyncio
import errno
import socket
import ssl

from webstrata.fetch.http.body_memory import BodyMemory
from webstrata.fetch.http.body_spool import BodySpool
from webstrata.fetch.http.connection import HttpConnection
from webstrata.fetch.http.failures import AddressBlocked, ConnectTimeout, LocalFault, Unreachable
from webstrata.fetch.http.guard import AddressGuard
from webstrata.fetch.http.receive_time import ReceiveTime
from webstrata.fetch.http.request import ConnectionTarget, FetchLimits

KEEP_ALIVE_S = 15.0

_CLOSING_S = 0.01
"""The event loop closes aborted connections in its next iterations."""
_NO_ROUTE = (errno.ENETUNREACH, errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT)
"""What connecting to an IPv6 address gives on a machine without IPv6."""


class ConnectionPool:
    """The connections of one `HttpWeb`. `take` a connection, use it, and `give_back` it after a complete response."""

    def __init__(
        self,
        guard: AddressGuard,
        limits: FetchLimits,
        tls: ssl.SSLContext,
        max_idle: int,
        memory: BodyMemory,
        spool: BodySpool | None = None,
    ) -> None:
        self._guard = guard
        self._limits = limits
        self._memory = memory
        self._spool = spool
        self._time = ReceiveTime()
        self._tls = tls
        self._max_idle = max_idle
        self._idle_by_target: dict[ConnectionTarget, list[HttpConnection]] = {}
        self._idle: dict[HttpConnection, tuple[ConnectionTarget, float]] = {}
        """Target and start of the idle time of each idle connection, the longest idle first."""
        self._sweep_timer: asyncio.TimerHandle | None = None

    def __len__(self) -> int:
        """The number of idle connections."""
        return len(self._idle)

    async def take(self, target: ConnectionTarget, ends_at: float) -> HttpConnection:
        """An idle or a new connection to the target, before `ends_at` (the event loop's time)."""
        idle = self._idle_by_target.get(target)
        while idle:
            connection = idle[-1]  # the one used last is the least likely to have been closed
            self._forget(connection)
            if connection.is_connected:
                return connection
        connect_by = min(ends_at, asyncio.get_running_loop().time() + self._limits.connect_s)
        try:
            async with asyncio.timeout_at(connect_by):
                return await self._connect(target)
        except TimeoutError as error:
            raise ConnectTimeout(f"no connection in {self._limits.connect_s:g} s") from error

    def give_back(self, target: ConnectionTarget, connection: HttpConnection) -> None:
        """Keep the connection for another request if possible, else abort it."""
        if not connection.reusable or not connection.is_connected:
            connection.abort()
            return
        loop = asyncio.get_running_loop()
        self._idle[connection] = (target, loop.time())
        self._idle_by_target.setdefault(target, []).append(connection)
        if len(self._idle) > self._max_idle:
            self._drop(next(iter(self._idle)))
        if self._sweep_timer is None:
            self._sweep_timer = loop.call_later(KEEP_ALIVE_S, self._sweep)

    def close(self) -> None:
        """Abort the idle connections."""
        if self._sweep_timer is not None:
            self._sweep_timer.cancel()
            self._sweep_timer = None
        for connection in list(self._idle):
            self._drop(connection)

    async def _connect(self, target: ConnectionTarget) -> HttpConnection:
        loop = asyncio.get_running_loop()
        try:
            connecting = self._make_socket(target)
        except LocalFault:
            if not self._idle:
                raise
            self.close()  # for want of file descriptors, rather than keep any
            await asyncio.sleep(_CLOSING_S)
            connecting = self._make_socket(target)
        try:
            connecting.setblocking(False)
            await loop.sock_connect(connecting, (target.address, target.port))
        except BaseException as error:
            connecting.close()
            if isinstance(error, OSError) and error.errno in _NO_ROUTE and not self._is_local(error, target):
                raise Unreachable(str(error)) from error
            raise
        _, connection = await loop.create_connection(
            lambda: HttpConnection(
                loop, self._guard, self._limits, self._memory, self._time, on_lost=self._forget, spool=self._spool
            ),
            sock=connecting,
            ssl=self._tls if target.tls else None,
            server_hostname=target.server_name.rstrip(".") if target.tls else None,
        )
        return connection

    def _make_socket(self, target: ConnectionTarget) -> socket.socket:
        """The only place where the crawl creates sockets; the guard checks the address here."""
        if not self._guard.allows(target.address, target.port):
            raise AddressBlocked(f"{target.address} port {target.port} is not public")
        try:
            return socket.socket(_family(target), socket.SOCK_STREAM)
        except OSError as error:
            kind = Unreachable if error.errno in _NO_ROUTE else LocalFault
            raise kind(f"no socket: {error}") from error

    def _is_local(self, error: OSError, target: ConnectionTarget) -> bool:
        """Whether an address cannot be reached because this machine has no network, rather than no route to it.

        A machine without IPv6 reaches other hosts, so that is not a fault for which all hosts wait. Otherwise a router
        may have reported the error: connecting a datagram socket asks the own routes and sends nothing.
        """
        if ":" in target.address:
            return False
        if error.errno != errno.ENETUNREACH:
            return True
        with socket.socket(_family(target), socket.SOCK_DGRAM) as asking:
            return asking.connect_ex((target.address, target.port)) == errno.ENETUNREACH

    def _forget(self, connection: HttpConnection) -> None:
        """Remove the connection from the idle ones if it is among them."""
        target, _ = self._idle.pop(connection, (None, 0.0))
        if target is None:
            return
        same_target = self._idle_by_target[target]
        same_target.remove(connection)
        if not same_target:
            del self._idle_by_target[target]

    def _drop(self, connection: HttpConnection) -> None:
        self._forget(connection)
        connection.abort()

    def _sweep(self) -> None:
        """Close connections that were idle for too long, and schedule the next sweep."""
        self._sweep_timer = None
        loop = asyncio.get_running_loop()
        oldest_kept = loop.time() - KEEP_ALIVE_S
        for connection, (_, idle_since) in list(self._idle.items()):
            if idle_since > oldest_kept:
                self._sweep_timer = loop.call_at(idle_since + KEEP_ALIVE_S, self._sweep)
                return
            self._drop(connection)


def _family(target: ConnectionTarget) -> socket.AddressFamily:
    return socket.AF_INET6 if ":" in target.address else socket.AF_INET
