"""The living web server, and the `Web` adapter that makes its declared latencies pass on the clock.

Many recorded sites are served on several loopback addresses, all in the version of the clock's current time.
"""

from __future__ import annotations

import asyncio
import functools
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from email.utils import formatdate
from http import HTTPStatus
from types import TracebackType
from urllib.parse import urlsplit

from msgspec.structs import replace

from webstrata.errors import UsageError
from webstrata.lab.livingweb.behaviour import SiteBehaviour, behaviour_of, latency_s
from webstrata.lab.livingweb.connection import ServerConnection
from webstrata.lab.livingweb.faults import ServedFaults
from webstrata.lab.livingweb.meter import PolitenessMeter
from webstrata.lab.livingweb.recording import Recording
from webstrata.lab.livingweb.site import ServedResponse, ServedSite, SitemapEntries
from webstrata.ports import BeforeSend, Clock, Web
from webstrata.records import Exchange, Failure, Permit, PostBody, Validators

_LATENCY_HEADER = "Server-Timing"
"""The W3C header that declares how long the request takes on the clock: `living;dur=MILLISECONDS`."""
_DECLARED = re.compile(r"\bliving;dur=(\d+(?:\.\d+)?)")


class LivingWeb:
    """Serves recordings on real sockets. Use it as `async with LivingWeb(recordings, clock) as web:`.

    Each site is the host `SITE.test` on a loopback address that it may share with others; the names exist only in
    `hosts()`. `port` 0 takes any free port on each address. `meter` checks every request by the clock:
    `minimum_gap_s` is the required time between request starts at a host without a longer Crawl-delay.
    """

    def __init__(
        self,
        recordings: Iterable[Recording],
        clock: Clock,
        *,
        port: int = 0,
        minimum_gap_s: float = 1.0,
        behaviours: Mapping[str, SiteBehaviour] | None = None,
        sitemaps: Mapping[str, SitemapEntries] | None = None,
        faults: ServedFaults | None = None,
    ) -> None:
        """`behaviours` and `sitemaps` of some sites, by their names, instead of those of the table and the truth.
        `faults` answers some requests wrongly."""
        given, entries = behaviours or {}, sitemaps or {}
        self._clock = clock
        self._faults = faults
        self._port = port
        self.sites = {
            recording.host: ServedSite(
                recording, given.get(recording.site) or behaviour_of(recording.site), entries.get(recording.site)
            )
            for recording in recordings
        }
        self.meter = PolitenessMeter(minimum_gap_s=minimum_gap_s)
        self._requests: Counter[tuple[str, str]] = Counter()
        self._ports: dict[str, int] = {}
        self._servers: list[asyncio.Server] = []
        self._connections: set[ServerConnection] = set()

    async def start(self) -> None:
        loop = asyncio.get_running_loop()
        for address in sorted({site.behaviour.address for site in self.sites.values()}):
            respond = functools.partial(self._respond, address)
            try:
                server = await loop.create_server(
                    functools.partial(ServerConnection, respond, self._connections), address, self._port
                )
            except (OSError, OverflowError) as error:  # OverflowError: not a valid port number
                await self.close()
                raise UsageError(f"the living web cannot listen on {address}:{self._port}: {error}.") from None
            self._servers.append(server)
            self._ports[address] = server.sockets[0].getsockname()[1]

    async def close(self) -> None:
        """Stop listening and close all connections."""
        for server in self._servers:
            server.close()
        for connection in list(self._connections):
            connection.close()
        for server in self._servers:
            await server.wait_closed()
        self._servers.clear()
        await asyncio.sleep(0)  # the event loop calls connection_lost of the closed connections

    async def __aenter__(self) -> LivingWeb:
        await self.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    # ── for crawlers ────────────────────────────────────────────────────────────────────────────────────────

    def hosts(self) -> dict[str, str]:
        """The address and port of each host name: `{"boost.test": "127.0.0.2:40001", …}`."""
        addresses = ((host, site.behaviour.address) for host, site in self.sites.items())
        return {host: f"{address}:{self._ports[address]}" for host, address in addresses}

    def exceptions(self) -> list[str]:
        """The addresses and ports that the address guard must allow: `["127.0.0.2/32:40001", …]`."""
        return [f"{address}/32:{port}" for address, port in self._ports.items()]

    def urls(self, at: float | None = None) -> list[str]:
        """Pages that robots.txt allows: all that exist at any time, or those that exist at an instant."""
        allowed: list[str] = []
        for site in self.sites.values():
            recording = site.recording
            paths = recording.pages if at is None else recording.alive_at(at)
            urls = (recording.url(path) for path in paths)
            prefix = len(f"http://{site.host}")
            allowed += [url for url in urls if site.behaviour.allows(url[prefix:])]
        return allowed

    def latency_s(self, host: str, path: str, n: int) -> float:
        """Latency on the clock of the n-th request (from 0) for a path of a host."""
        site = self.sites.get(host)
        return latency_s(site.behaviour, host, path, n) if site else 0.0

    # ── responding ──────────────────────────────────────────────────────────────────────────────────────────

    def _respond(self, address: str, sent_host: str, target: str, headers: Mapping[str, str]) -> ServedResponse:
        at = self._clock.now()
        site = self.sites.get(sent_host.rpartition(":")[0] or sent_host)
        if site is None or site.behaviour.address != address:
            return _with_headers(ServedResponse(status=HTTPStatus.MISDIRECTED_REQUEST), at, 0.0)
        path = target.partition("?")[0]
        fault = self._faults.response(site.host, path, at) if self._faults is not None else None
        response = fault or site.respond(target, headers, at)
        n = self._requests[site.host, path]
        if response.status != HTTPStatus.NOT_FOUND:  # the number of paths that do not exist is unlimited
            self._requests[site.host, path] += 1
        latency = latency_s(site.behaviour, site.host, path, n)
        self.meter.record(site.host, site.behaviour, path, at, latency)
        return _with_headers(response, at, latency)


def _with_headers(response: ServedResponse, at: float, latency: float) -> ServedResponse:
    general = (
        ("Date", formatdate(int(at), usegmt=True)),
        ("Server", "living-web"),
        (_LATENCY_HEADER, f"living;dur={latency * 1000:.3f}"),
    )
    return ServedResponse(status=response.status, headers=general + response.headers, body=response.body)


class PacedWeb:
    """The real `Web` port, with request durations as the living web declares them.

    The clock stands still while the real request runs, then advances by the declared latency, which is also the
    exchange's `duration_s`. A request without a response takes the latency of the first request for its path.
    """

    def __init__(self, web: Web, clock: Clock, living: LivingWeb) -> None:
        self._web = web
        self._clock = clock
        self._living = living

    async def resolve(self, host: str, port: int) -> tuple[str, int] | Failure:
        with self._clock.working():
            return await self._web.resolve(host, port)

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
        if before_send is not None:  # the clock may have to advance, which it does not while a request is open
            await before_send()
        start_at = self._clock.now()
        with self._clock.working():
            exchange = await self._web.fetch(
                permit, accept=accept, validators=validators, posted=posted, total_s=total_s
            )
        latency = self._latency_s(exchange, permit)
        await self._clock.sleep_until(start_at + latency)
        return replace(exchange, at=start_at, duration_s=latency)

    async def close(self) -> None:
        await self._web.close()

    def _latency_s(self, exchange: Exchange, permit: Permit) -> float:
        if declared := _DECLARED.search(exchange.header(_LATENCY_HEADER.lower()) or ""):
            return round(float(declared[1]) / 1000, 6)
        return self._living.latency_s(permit.host, urlsplit(permit.url).path or "/", 0)
