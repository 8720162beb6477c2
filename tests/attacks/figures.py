"""The figures of an attack, computed from what the hosts saw, and the invariant that they must satisfy."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import pairwise
from statistics import median

from msgspec import Struct

from tests.attacks.events import ConnectionEvent, Event, ForbiddenEvent, RequestEvent, SentEvent

MAX_MEDIAN_DELAY_S = 2.0
MAX_DELAY_S = 10.0
MAX_MAIN_MB = 1000
"""Peak resident memory of the main process."""
MAX_TOTAL_MB = 2500
"""Peak resident memory of the main process and its parser processes together."""
MAX_STOP_S = 15.0
"""From the signal to the end of the process."""

GAP_TOLERANCE_S = 0.1
"""A gap that is shorter than promised by less than this is not counted: sending and arriving are not one instant."""
EARLY_S = 0.2
"""A request that arrives this much before its scheduled time is a request for that time."""


class WatchedPage(Struct, frozen=True, kw_only=True):
    """A healthy page and the grid of times at which it is to be visited."""

    host: str
    path: str
    first_at: float
    every_s: float

    def scheduled(self, start: float, end: float) -> list[float]:
        first = max(0, int((start - self.first_at) // self.every_s))
        times = [self.first_at + n * self.every_s for n in range(first, first + int((end - start) / self.every_s) + 3)]
        return [at for at in times if start <= at < end]


class HealthyFigures(Struct, frozen=True, kw_only=True):
    """How one healthy host, or all of them together, were visited."""

    host: str
    scheduled: int
    """Times at which a page of the host was to be visited."""
    visits: int
    delays: tuple[float, ...]
    """For each scheduled time: how long after it the page was requested; if it was not, the time to the end."""

    @property
    def median_s(self) -> float:
        return median(self.delays) if self.delays else 0.0

    @property
    def max_s(self) -> float:
        return max(self.delays, default=0.0)


class ShortGap(Struct, frozen=True, kw_only=True):
    """Two requests to a host that were closer to each other than promised."""

    host: str
    at: float
    gap_s: float
    promised_s: float


class GapFigures(Struct, frozen=True, kw_only=True):
    """The gaps between requests, as counted by the hosts."""

    counted: int
    short: tuple[ShortGap, ...]
    least_share: float
    """The shortest gap as a share of what was promised."""


def healthy_figures(
    pages: Iterable[WatchedPage], events: Sequence[Event], start: float, end: float
) -> list[HealthyFigures]:
    """For each healthy host.

    A rhythm leaves out a time that is less than half an interval after a visit, so such times are not counted; neither
    are times in the last seconds for which no visit came yet.
    """
    arrived: dict[tuple[str, str], list[float]] = defaultdict(list)
    for event in events:
        if isinstance(event, RequestEvent) and not event.is_answer and event.at < end:
            arrived[event.host, event.path].append(event.at)
    hosts: dict[str, list[WatchedPage]] = defaultdict(list)
    for page in pages:
        hosts[page.host].append(page)
    figures = []
    for host, own in hosts.items():
        delays: list[float] = []
        for page in own:
            visits = sorted(arrived[page.host, page.path])
            for at in page.scheduled(start, end):
                if any(at - page.every_s / 2 < visit < at - EARLY_S for visit in visits):
                    continue
                visited_at = next((visit for visit in visits if visit >= at - EARLY_S), None)
                if visited_at is not None:
                    delays.append(max(0.0, visited_at - at))
                elif end - at > MAX_DELAY_S:
                    delays.append(end - at)
        visits_made = sum(start - EARLY_S <= at for page in own for at in arrived[page.host, page.path])
        figures.append(HealthyFigures(host=host, scheduled=len(delays), visits=visits_made, delays=tuple(delays)))
    return figures


def together(figures: Iterable[HealthyFigures]) -> HealthyFigures:
    """All healthy hosts as one."""
    rows = list(figures)
    return HealthyFigures(
        host="all",
        scheduled=sum(row.scheduled for row in rows),
        visits=sum(row.visits for row in rows),
        delays=tuple(delay for row in rows for delay in row.delays),
    )


def gap_figures(
    events: Sequence[Event], promised_s: dict[str, float], tolerance_s: float = GAP_TOLERANCE_S
) -> GapFigures:
    """The gaps between the arrivals of all requests of each host, requests for robots.txt too.

    After a response with Retry-After, the promise is the longer of this time and the host's gap.
    """
    by_host: dict[str, list[RequestEvent]] = defaultdict(list)
    holds: dict[tuple[str, float], float] = {}
    for event in events:
        if isinstance(event, RequestEvent) and event.host in promised_s:
            if event.is_answer:
                holds[event.host, event.at] = event.hold_s
            else:
                by_host[event.host].append(event)
    counted, least_share = 0, float("inf")
    short: list[ShortGap] = []
    for host, requests in by_host.items():
        times = sorted(request.at for request in requests)
        for before, at in pairwise(times):
            promise = max(promised_s[host], holds.get((host, before), 0.0))
            counted += 1
            least_share = min(least_share, (at - before) / promise)
            if at - before < promise - tolerance_s:
                short.append(ShortGap(host=host, at=before, gap_s=at - before, promised_s=promise))
    return GapFigures(counted=counted, short=tuple(short), least_share=least_share if counted else 1.0)


def met(events: Iterable[Event]) -> set[str]:
    """The hosts to which the crawler connected."""
    return {event.host for event in events if isinstance(event, ConnectionEvent)}


def forbidden(events: Iterable[Event]) -> list[str]:
    """The connections to forbidden addresses."""
    return [event.address for event in events if isinstance(event, ForbiddenEvent)]


def sent_bytes(events: Iterable[Event]) -> int:
    return sum(event.count for event in events if isinstance(event, SentEvent))
