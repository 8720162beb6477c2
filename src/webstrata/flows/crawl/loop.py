"""`CrawlLoop`: claims pages while they are due, and sleeps otherwise.

 1. claim     the round selector leases the pages that must be visited and those that are worth most within the budget
 2. visit     one lane per host (`host_lanes`): its pages one after the other, each request with a permit
 3. commit    finished visits are parsed, archived and committed in batches (`visit_batcher`, `visit_pipeline`)
 4. release   pages for which a host has no time, with the time at which it can serve them

A claim waits neither for the visits of earlier claims nor for their parsing (docs/decisions/0060-continuous-claims.md).

A failure of the store or the archive loses nothing: all leases end, the pages stay due, and the loop tries again after
a wait that doubles.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Sequence
from contextlib import asynccontextmanager
from typing import Any

from msgspec import Struct

from webstrata.errors import ArchiveError, DamagedStore, ParserError, StoreError
from webstrata.flows.crawl.clock_steps import ClockSteps
from webstrata.flows.crawl.crawl_session import CrawlSession
from webstrata.flows.crawl.host_lanes import VisitLimits
from webstrata.flows.crawl.own_faults import OwnFaults
from webstrata.flows.crawl.requests.host_leases import HostLeases
from webstrata.flows.crawl.requests.polite_client import ChooseHandler, PoliteClient
from webstrata.flows.crawl.selection.page_choice import RoundRequest
from webstrata.flows.crawl.selection.round_selector import RoundSelector
from webstrata.flows.crawl.selection.slot_fitter import SlotFitter
from webstrata.flows.crawl.visit_batcher import CrawlProgress, VisitBatcher
from webstrata.flows.crawl.visit_pipeline import VisitPipeline
from webstrata.flows.planning import CRAWL_PATIENCE_S
from webstrata.permit.gate import PermitGate
from webstrata.ports import Clock, Store, Web

log = logging.getLogger("webstrata.crawl")

ROUND_PAGES = 5000
"""Pages of one claim at most."""
OPEN_CLAIMS = 3
"""Claims whose pages may be leased at the same time: more pages are claimed only when earlier ones are visited."""
LEASE_MARGIN_S = 3600.0
"""A lease is longer than the time of its claim and of a visit by this time."""
_LISTS_WAIT_S = 5.0
"""How long the next claim waits for lists that are read, since they may announce changes (real time)."""
_CLAIM_COST = 10.0
"""An idle loop spends at most one part in this many of its time on claims."""
_MAX_CLAIM_INTERVAL_S = 5.0
_ARCHIVE_S = 10.0
"""How often the archive is checked while nothing can be written to it: that costs no request."""


class CrawlOptions(Struct, frozen=True, kw_only=True):
    """The settings of the loop."""

    round_s: float = 60.0
    """Pages are claimed as far as their hosts can serve them within this time."""
    claim_interval_s: float = 1.0
    """Least time between two claims of an idle loop: pages that become due meanwhile are claimed together."""
    poll_s: float = 2.0
    """How often an idle loop checks for pages that another process added."""
    connections_per_host: int = 1
    max_requests: int = 64
    """Open requests to all hosts together, without slow ones."""
    max_open: int | None = None
    """Open requests with slow ones; by default a multiple of `max_requests`."""
    max_redirects: int = 10
    limits: VisitLimits = VisitLimits()
    stop_s: float = 10.0
    """Visits in flight end within this time after `stop` (real time); then they are cancelled."""
    whole_batches: bool = False
    """The visits of a claim are committed together before the next claim, however long they take."""


class CrawlLoop:
    """Runs until stopped."""

    def __init__(
        self,
        *,
        store: Store,
        web: Web,
        clock: Clock,
        gate: PermitGate,
        pipeline: VisitPipeline,
        selector: RoundSelector,
        choose: ChooseHandler,
        owner: str,
        options: CrawlOptions,
        clock_steps: ClockSteps,
        check_archive: Callable[[], Awaitable[None]],
        leases: HostLeases | None = None,
        faults: OwnFaults | None = None,
        progress: CrawlProgress | None = None,
        slot_fitter: SlotFitter | None = None,
    ) -> None:
        """`owner` is the name under which pages are leased; `leases` are those of hosts (`PoliteClient`);
        `check_archive` raises ArchiveError if nothing can be written to the archive."""
        self._store = store
        self._web = web
        self._clock = clock
        self._gate = gate
        self._pipeline = pipeline
        self._selector = selector
        self._choose = choose
        self._owner = owner
        self._options = options
        self._leases = leases
        self._clock_steps = clock_steps
        self._check_archive = check_archive
        self._faults = faults or OwnFaults()
        self._progress = progress or CrawlProgress()
        self._slot_fitter = slot_fitter
        self._stop = asyncio.Event()
        self._claim_took_s = 0.0
        self._stepped_s = 0.0
        """By how much the clock was set since the start."""
        clock_steps.listeners.append(self._stepped)

    def _stepped(self, seconds: float) -> None:
        self._stepped_s += seconds

    def stop(self) -> None:
        """Start no more visits; visits in flight are finished and committed, or cancelled after a while."""
        self._stop.set()

    @property
    def stopping(self) -> bool:
        return self._stop.is_set()

    async def crawl(self, requested: Sequence[int] = (), *, due: bool = True) -> int:
        """Visit all pages that are due now and the pages found on them; returns the number of visits.

        `requested`: ids of pages that are visited first, due or not. Without `due`, nothing else is visited.
        """
        await self._clock_steps.check()
        await self._check_archive()
        started_at = self._clock.now() - self._stepped_s
        async with self._session() as session:
            for first in range(0, len(requested), ROUND_PAGES):
                ids = requested[first : first + ROUND_PAGES]
                await self._wait_for_room(session)
                await session.claim(
                    self._request(started_at + self._stepped_s, requested=ids), patience_s=CRAWL_PATIENCE_S
                )
            if requested:
                await self._drained(session)
            only_due = False
            while due and not self.stopping:
                await self._wait_for_room(session)
                was_idle = session.is_idle
                request = self._request(started_at + self._stepped_s, only_due=only_due)
                if await session.claim(request, patience_s=CRAWL_PATIENCE_S):
                    if self._selector.has_read_lists or self._options.whole_batches:
                        await self._drained(session)
                    only_due = not self._selector.has_read_lists  # a pass that read lists knows more than the first one
                elif was_idle:
                    break
                else:  # visits under way may find pages
                    await self._changed(session)
                    await session.settle()
        return session.visits

    async def run(self, until: float = float("inf")) -> None:
        """Run until stopped, or until a time of the clock."""
        until += self._clock.steady() - self._clock.now()  # the time that is left does not change if the clock is set
        while not self._is_over(until):
            await self._wait_for_archive(until)
            try:
                async with self._session() as session:
                    await self._claim_until(session, until)
            except DamagedStore:
                raise  # it does not heal by waiting
            except (StoreError, ArchiveError, ParserError, OSError) as problem:
                self._selector.failed()
                now = self._clock.now()
                await self._sleep(now + self._faults.report(str(problem), now), until)
                await self._end_leases()

    async def _wait_for_archive(self, until: float) -> None:
        """Wait until the archive can be written; `until` is a time of the steady clock."""
        while not self._is_over(until):
            try:
                await self._check_archive()
                return
            except ArchiveError as problem:
                now = self._clock.now()
                await self._sleep(now + min(self._faults.report(str(problem), now), _ARCHIVE_S), until)

    async def _claim_until(self, session: CrawlSession, until: float) -> None:
        """Claim pages whenever some are due; `until` is a time of the steady clock."""
        options = self._options
        while not self._is_over(until):
            await self._clock_steps.check()
            await self._check_archive()
            started_at = self._clock.now()
            if self._slot_fitter is not None:
                await self._slot_fitter.fit(started_at)
            claiming_from = time.monotonic()
            pages = await session.claim(self._request(started_at, ends_at=started_at + options.round_s))
            self._claim_took_s = time.monotonic() - claiming_from
            if options.whole_batches:
                await self._drained(session)
            elif self._selector.has_read_lists:
                await session.ended(self._selector.lists_read, _LISTS_WAIT_S)
            if pages and (self._selector.has_read_lists or await self._selector.has_more(self._clock.now())):
                await self._wait_for_room(session)
                continue
            await self._sleep_until_due(session, started_at, until, claimed=bool(pages))

    async def _sleep_until_due(self, session: CrawlSession, started_at: float, until: float, *, claimed: bool) -> None:
        """Wait for the next claim: until a page is due, and at least until the interval of claims has passed.

        Pages that become due one after the other wait for each other in that interval. Pages that had to wait for their
        host, and those that the visits of the last claim found, do not wait any longer.
        """
        is_under_way = claimed
        while not self._is_over(until):
            if await self._clock_steps.check():
                return
            session.changed.clear()
            await session.settle()
            if is_under_way and session.is_idle:
                is_under_way = False
                if await self._selector.has_more(self._clock.now()):
                    return
            is_behind = claimed and started_at < session.behind_until
            earliest = started_at if is_behind else started_at + self._claim_interval_s()
            next_at, now = max(earliest, await self._selector.next_round_at()), self._clock.now()
            if next_at <= now and self._has_room(session):
                return
            # Another process may add pages meanwhile; visits under way may find some, or give pages back.
            await self._sleep(min(max(next_at, now), now + self._options.poll_s), until, session)

    def _claim_interval_s(self) -> float:
        """The interval of claims: longer if a claim takes long, as it does with a million pages."""
        return max(self._options.claim_interval_s, min(_CLAIM_COST * self._claim_took_s, _MAX_CLAIM_INTERVAL_S))

    async def _sleep(self, at: float, until: float, session: CrawlSession | None = None) -> None:
        """Sleep on the clock, but wake when the loop is stopped, or when something of the session ended."""
        ends_at = self._clock.now() + (until - self._clock.steady())
        changed = [session.changed.wait()] if session is not None else []
        await self._first_of(self._clock.sleep_until(min(at, ends_at)), *changed)

    async def _changed(self, session: CrawlSession) -> None:
        """Wait until something of the session ended, or the loop is stopped."""
        await self._first_of(session.changed.wait())
        session.changed.clear()

    async def _drained(self, session: CrawlSession) -> None:
        """Wait until nothing is under way, or the loop is stopped."""
        await self._first_of(session.drained())

    async def _first_of(self, *waits: Coroutine[Any, Any, object]) -> None:
        """Wait until one of these ends, or the loop is stopped; raises its error."""
        tasks = [asyncio.create_task(wait) for wait in (self._stop.wait(), *waits)]
        try:
            done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                task.result()
        finally:
            for task in tasks:
                task.cancel()

    async def _wait_for_room(self, session: CrawlSession) -> None:
        while not self._has_room(session) and not self.stopping:
            session.changed.clear()
            await session.release_left()
            if not self._has_room(session):
                await self._changed(session)

    def _has_room(self, session: CrawlSession) -> bool:
        return session.leased <= (OPEN_CLAIMS - 1) * ROUND_PAGES

    def _is_over(self, until: float) -> bool:
        return self.stopping or self._clock.steady() >= until

    async def _end_leases(self) -> None:
        """A session that failed may have been unable to release its pages."""
        try:
            await self._store.queue.end_leases(self._owner)
        except (StoreError, OSError) as problem:
            log.debug("leases could not be ended: %s", problem)

    def _request(
        self,
        due_by: float,
        *,
        ends_at: float = float("inf"),
        requested: Sequence[int] = (),
        only_due: bool = False,
    ) -> RoundRequest:
        options = self._options
        return RoundRequest(
            now=due_by,
            ends_at=ends_at,
            lease_until=self._clock.now() + options.round_s + options.limits.longest_s + LEASE_MARGIN_S,
            owner=self._owner,
            max_pages=ROUND_PAGES,
            only_due=only_due,
            requested=requested,
        )

    @asynccontextmanager
    async def _session(self) -> AsyncIterator[CrawlSession]:
        options = self._options

        def make_client(batcher: VisitBatcher) -> PoliteClient:
            return PoliteClient(
                self._web,
                self._gate,
                self._clock,
                leases=self._leases,
                robots_log=batcher,
                max_redirects=options.max_redirects,
                max_requests=options.max_requests,
                max_open=options.max_open,
            )

        session = CrawlSession(
            store=self._store,
            clock=self._clock,
            gate=self._gate,
            pipeline=self._pipeline,
            selector=self._selector,
            choose=self._choose,
            leases=self._leases,
            faults=self._faults,
            progress=self._progress,
            make_client=make_client,
            limits=options.limits,
            tasks_per_host=options.connections_per_host,
            whole_batches=options.whole_batches,
        )
        grace_s = options.stop_s
        self._clock_steps.listeners.append(session.shift)
        try:
            yield session
        except BaseException:
            grace_s = 0.0  # cancelled, or the store or the archive failed
            raise
        finally:
            self._clock_steps.listeners.remove(session.shift)
            await session.close(grace_s)
