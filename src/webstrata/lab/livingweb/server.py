"""The living web: many sites on several loopback addresses, all at the moment that one clock shows."""

from __future__ import annotations

import asyncio
import functools
from collections import Counter
from collections.abc import Iterable, Mapping
from email.utils import formatdate
from http import HTTPStatus
from types import TracebackType

from webstrata.errors import UsageError
from webstrata.lab.livingweb.behaviour import SiteBehaviour, behaviour_of, latency_s
from webstrata.lab.livingweb.meter import PolitenessMeter
from webstrata.lab.livingweb.recording import Recording
from webstrata.lab.livingweb.site import ServedResponse, ServedSite
from webstrata.lab.livingweb.wire import ServerConnection
from webstrata.ports import Clock

LATENCY_HEADER = "server-timing"
"""Server-Timing (W3C) tells the visitor how long its request took, on the clock: `living;dur=MILLISECONDS`."""


class LivingWeb:
    """Serves recordings on real sockets. Use it as `async with LivingWeb(recordings, clock) as living:`.

    Each site is the host `SITE.test` on its own or a shared loopback address; names exist only in `hosts()`. `port` 0
    takes a free one on each address. `meter` judges every request by the clock: `minimum_gap_s` is the gap that a host
    without a Crawl-delay wants between request starts, `address_gap_s` the one that an address wants.
    """

    def __init__(
        self,
        recordings: Iterable[Recording],
        clock: Clock,
        *,
        port: int = 0,
        minimum_gap_s: float = 1.0,
        address_gap_s: float = 0.5,
        manners: Mapping[str, SiteBehaviour] | None = None,
    ) -> None:
        chosen = manners or {}
        self._clock = clock
        self._port = port
        self.sites = {
            recording.host: ServedSite(recording, chosen.get(recording.site) or behaviour_of(recording.site))
            for recording in recordings
        }
        self.meter = PolitenessMeter(minimum_gap_s=minimum_gap_s, address_gap_s=address_gap_s)
        self._asked: Counter[tuple[str, str]] = Counter()
        self._ports: dict[str, int] = {}
        self._servers: list[asyncio.Server] = []
        self._conversations: set[ServerConnection] = set()

    async def start(self) -> None:
        loop = asyncio.get_running_loop()
        for address in sorted({site.manners.address for site in self.sites.values()}):
            respond = functools.partial(self._respond, address)
            try:
                server = await loop.create_server(
                    functools.partial(ServerConnection, respond, self._conversations), address, self._port
                )
            except (OSError, OverflowError) as error:  # OverflowError: no port has this number
                await self.close()
                raise UsageError(f"the living web cannot listen on {address}:{self._port}: {error}.") from None
            self._servers.append(server)
            self._ports[address] = server.sockets[0].getsockname()[1]

    async def close(self) -> None:
        """Stop listening and hang up."""
        for server in self._servers:
            server.close()
        for conversation in list(self._conversations):
            conversation.hang_up()
        for server in self._servers:
            await server.wait_closed()
        self._servers.clear()
        await asyncio.sleep(0)  # the closed connections say goodbye

    async def __aenter__(self) -> LivingWeb:
        await self.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    # ── what visitors need to know ──────────────────────────────────────────────────────────────────────────

    def hosts(self) -> dict[str, str]:
        """Where each host name leads: `{"boost.test": "127.0.0.2:40001", …}`."""
        addresses = ((host, site.manners.address) for host, site in self.sites.items())
        return {host: f"{address}:{self._ports[address]}" for host, address in addresses}

    def exceptions(self) -> list[str]:
        """What the address guard must let pass, and no more: `["127.0.0.2/32:40001", …]`."""
        return [f"{address}/32:{port}" for address, port in self._ports.items()]

    def urls(self, at: float | None = None) -> list[str]:
        """Pages that may be visited: all that ever exist, or those that exist at an instant."""
        found: list[str] = []
        for site in self.sites.values():
            recording = site.recording
            paths = recording.pages if at is None else recording.alive_at(at)
            urls = (recording.url(path) for path in paths)
            prefix = len(f"http://{site.host}")
            found += [url for url in urls if site.manners.allows(url[prefix:])]
        return found

    def latency_s(self, host: str, path: str, n: int) -> float:
        """How long, on the clock, the n-th request (from 0) for a path of a host takes."""
        site = self.sites.get(host)
        return latency_s(site.manners, host, path, n) if site else 0.0

    # ── answering ───────────────────────────────────────────────────────────────────────────────────────────

    def _respond(self, address: str, sent_host: str, target: str, headers: Mapping[str, str]) -> ServedResponse:
        at = self._clock.now()
        site = self.sites.get(sent_host.rpartition(":")[0] or sent_host)
        if site is None or site.manners.address != address:
            return _with_headers(ServedResponse(status=HTTPStatus.MISDIRECTED_REQUEST), at, 0.0)
        path = target.partition("?")[0]
        answer = site.answer(target, headers, at)
        n = self._asked[site.host, path]
        if answer.status != HTTPStatus.NOT_FOUND:  # names that exist nowhere may be without number
            self._asked[site.host, path] += 1
        latency = latency_s(site.manners, site.host, path, n)
        self.meter.record(site.host, site.manners, path, at, latency)
        return _with_headers(answer, at, latency)


def _with_headers(answer: ServedResponse, at: float, latency: float) -> ServedResponse:
    general = (
        ("Date", formatdate(int(at), usegmt=True)),
        ("Server", "living-web"),
        ("Server-Timing", f"living;dur={latency * 1000:.3f}"),
    )
    return ServedResponse(status=answer.status, headers=general + answer.headers, body=answer.body)
