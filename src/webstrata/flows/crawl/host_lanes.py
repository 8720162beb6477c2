"""`HostLanes`: one lane per host, in which the pages of the host are visited one after the other.

A lane exists while it has pages. Pages are added to lanes at any time, so a host that is slow delays only its own
pages: neither other lanes nor the next claim wait for it. A lane takes as many pages as its host can serve before the
claim ends; the others are returned at once, each with the time at which the host can serve it.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Awaitable, Callable, Iterable

from msgspec import Struct
from msgspec.structs import replace

from webstrata.clock import STEP_S
from webstrata.flows.crawl.clock_steps import moved
from webstrata.flows.crawl.requests.polite_client import ChooseHandler, PoliteClient
from webstrata.flows.crawl.requests.polite_visit import PoliteVisit
from webstrata.permit.gate import PermitGate
from webstrata.ports import Clock
from webstrata.records import Failure, FailureKind, Page, VisitResult, Wait
from webstrata.schedule.visit_times import allowed_at, open_until

log = logging.getLogger("webstrata.crawl")

_ENDLESS = float("inf")
_SPARE = 100
"""Pages that a lane takes in addition while the robots.txt of its host, which may have a Crawl-delay, is not known."""


class VisitLimits(Struct, frozen=True, kw_only=True):
    """The limits of one visit, over all its redirects, result pages and sub-requests."""

    max_requests: int = 1000
    visit_s: float = 1800.0
    """From the start of the visit to its end, waits for permits included."""
    total_s: float = 300.0
    """For the responses to one request and its redirects together (real time)."""
    large_s: float = 0.0
    """In addition, for a body that goes to a file: the page must stay leased as long."""

    @property
    def longest_s(self) -> float:
        """How long a visit can take."""
        return self.visit_s + self.large_s


class LanePage(Struct, frozen=True):
    """A page in a lane. Its visit starts before `ends_at`, and waits at most `patience_s` for its first permit."""

    page: Page
    ends_at: float
    patience_s: float


class _Lane:
    """The pages of one host that wait, and the tasks that visit them."""

    def __init__(self) -> None:
        self.waiting: deque[LanePage] = deque()
        self.tasks: set[asyncio.Task[None]] = set()


class HostLanes:
    """Visits pages and delivers the results. The caller leases pages before, and releases those that are returned."""

    def __init__(
        self,
        *,
        client: PoliteClient,
        gate: PermitGate,
        choose: ChooseHandler,
        clock: Clock,
        limits: VisitLimits,
        tasks_per_host: int,
        deliver: Callable[[VisitResult], Awaitable[None]],
        give_back: Callable[[Page, float | None], None],
        on_empty: Callable[[str], None],
        on_problem: Callable[[BaseException], None],
    ) -> None:
        """`deliver` receives each result; `give_back` each page that is not visited, with its next time if that is
        known; `on_empty` the host whose lane ended; `on_problem` an error of `deliver`."""
        self._client = client
        self._gate = gate
        self._choose = choose
        self._clock = clock
        self._limits = limits
        self._tasks_per_host = tasks_per_host
        self._deliver = deliver
        self._give_back = give_back
        self._on_empty = on_empty
        self._on_problem = on_problem
        self._lanes: dict[str, _Lane] = {}
        self._visits: dict[asyncio.Task[None], PoliteVisit] = {}
        self._is_closed = False

    def __len__(self) -> int:
        """The number of hosts that have pages."""
        return len(self._lanes)

    def waiting(self, host: str) -> int:
        """The number of pages of a host that wait for their visit."""
        lane = self._lanes.get(host)
        return len(lane.waiting) if lane is not None else 0

    def add(self, pages: Iterable[Page], *, ends_at: float, patience_s: float) -> None:
        """Visit these pages. What a host cannot serve before `ends_at` is given back at once."""
        by_host: dict[str, list[Page]] = {}
        for page in pages:
            by_host.setdefault(page.host, []).append(page)
        for host, host_pages in by_host.items():
            room = self._room(host, host_pages[0].url, ends_at, len(host_pages))
            lane = self._lanes.setdefault(host, _Lane())
            lane.waiting.extend(LanePage(page, ends_at, patience_s) for page in host_pages[:room])
            self._return_later(host, host_pages[room:], after=len(lane.waiting))
            for _ in range(min(self._tasks_per_host - len(lane.tasks), len(lane.waiting))):
                task = asyncio.create_task(self._visit_pages(host, lane))
                lane.tasks.add(task)

    def shift(self, seconds: float) -> None:
        """The clock was set by so much: the visits that wait or are under way have as much time left as before."""
        for lane in self._lanes.values():
            lane.waiting = deque(
                LanePage(moved(entry.page, seconds), entry.ends_at + seconds, entry.patience_s)
                for entry in lane.waiting
            )
        for visit in self._visits.values():
            visit.shift(seconds)

    async def stop(self, grace_s: float) -> None:
        """Start no more visits. Visits that have sent nothing end at once, the others within `grace_s` (real time)."""
        self._is_closed = True
        tasks = {task for lane in self._lanes.values() for task in lane.tasks}
        for task in tasks:
            visit = self._visits.get(task)
            if visit is None or not visit.has_sent:
                task.cancel()
        if tasks:
            _, open_tasks = await asyncio.wait(tasks, timeout=grace_s)
            for task in open_tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        for host in list(self._lanes):  # lanes of which no task had started
            self._end(host)

    def _room(self, host: str, url: str, ends_at: float, count: int) -> int:
        """How many of `count` more pages a host can serve before `ends_at`."""
        gap_s = self._gate.gap_s(url)
        if ends_at == _ENDLESS or gap_s <= 0:
            return count
        now = self._clock.now()
        crawl_delay_s, _, free_at = self._gate.constraints(url, now)
        spare = _SPARE if crawl_delay_s is None else 1
        return max(spare, int((ends_at - free_at) // gap_s) + spare - self.waiting(host))

    async def _visit_pages(self, host: str, lane: _Lane) -> None:
        """Visit the pages of one host, one after the other, until none waits or the host requires a long wait."""
        task = asyncio.current_task()
        assert task is not None
        try:
            while lane.waiting and not self._is_closed:
                if lane.waiting[0].ends_at <= self._clock.now():
                    self._return_waiting(host, lane)
                    return
                entry = lane.waiting.popleft()
                wait = await self._visit(entry, task)
                if wait is not None:
                    lane.waiting.appendleft(entry)  # only its page counts, which is given back
                    self._return_waiting(host, lane, until=wait.until)
                    return
        except Exception as problem:  # only `deliver` raises: the store or the archive failed
            self._on_problem(problem)
        finally:
            self._visits.pop(task, None)
            lane.tasks.discard(task)
            if not lane.tasks:
                self._end(host)

    async def _visit(self, entry: LanePage, task: asyncio.Task[None]) -> Wait | None:
        """Visit one page and deliver the result; a `Wait` if its host cannot be visited in time."""
        page, now, began_s = entry.page, self._clock.now(), self._clock.steady()
        if (opens_at := allowed_at(page, now)) > now:
            self._give_back(page, opens_at)
            return None
        closes_at = open_until(page, now)
        visit = self._visits[task] = PoliteVisit(
            self._client,
            patience_until=min(entry.ends_at, now + entry.patience_s, closes_at - 1.0),
            ends_at=now + self._limits.visit_s,
            max_requests=self._limits.max_requests,
            total_s=self._limits.total_s,
            large_bodies=True,
        )
        try:
            result = await self._choose(page).visit(page, visit)
        except asyncio.CancelledError:
            self._give_back(page, None)
            raise
        except Exception as problem:  # the error of one page must not end its lane
            log.exception("the visit of %s failed with an internal error", page.url)
            failure = Failure(kind=FailureKind.INTERNAL, detail=f"{type(problem).__name__}: {problem}")
            result = VisitResult(page=page, at=self._clock.now(), failure=failure)
        if isinstance(result, Wait):
            if result.until < closes_at:
                return result
            self._give_back(page, allowed_at(page, result.until))
            return None
        await self._deliver(self._at_present_clock(result, visit, began_s))
        return None

    def _at_present_clock(self, result: VisitResult, visit: PoliteVisit, began_s: float) -> VisitResult:
        """The result with the times of the clock as it is set now, if it was set during the visit."""
        if not visit.shifted_s:
            return result
        now, took_s = self._clock.now(), self._clock.steady() - began_s
        is_old = not now - took_s - STEP_S <= result.at <= now + STEP_S
        at = result.at + visit.shifted_s if is_old else result.at
        return replace(result, page=moved(result.page, visit.shifted_s), at=at)

    def _return_waiting(self, host: str, lane: _Lane, until: float = 0.0) -> None:
        """Give back the pages that wait; the host can be visited at `until`."""
        pages = [entry.page for entry in lane.waiting]
        lane.waiting.clear()
        self._return_later(host, pages, until=until)

    def _return_later(self, host: str, pages: Iterable[Page], *, until: float = 0.0, after: int = 0) -> None:
        """Give back pages, each with the time at which the host can serve it, `after` other ones."""
        free_at = max(until, self._gate.free_at(host, self._clock.now()))
        for index, page in enumerate(pages, start=after):
            self._give_back(page, free_at + index * self._gate.gap_s(page.url))

    def _end(self, host: str) -> None:
        lane = self._lanes.pop(host, None)
        if lane is not None:
            self._return_waiting(host, lane)
            self._on_empty(host)
