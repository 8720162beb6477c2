"""The loop in rounds: take what is due, visit host by host, settle, and again.

 1. claim     what must be visited and what is worth most within the budget is leased (`allocation`); without one,
              the most overdue pages
 2. lanes     one lane per host: its pages one after the other, each with a permit
 3. intake    finished visits are settled in batches (see `settle`)
 4. give back what the round had no time for, with the time at which its host will be free

A round that fails loses nothing: its leases end, its pages stay due, the next round takes them up.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Collection, Sequence

from msgspec import Struct

from webstrata.errors import ArchiveError, StoreError
from webstrata.flows.crawl.discovery import Discovery
from webstrata.flows.crawl.host_queues import HostQueues
from webstrata.flows.crawl.parse import with_tag_rules
from webstrata.flows.crawl.polite_client import Choose, PoliteClient, visit
from webstrata.flows.crawl.round_selector import RoundRequest, RoundSelector
from webstrata.flows.crawl.slot_fitter import SlotFitter
from webstrata.flows.crawl.visit_batcher import VisitBatcher
from webstrata.flows.crawl.visit_pipeline import VisitPipeline
from webstrata.permit.gate import PermitGate
from webstrata.ports import Clock, Store, Web
from webstrata.records import Failure, FailureKind, Page, Visit, VisitResult, Wait

log = logging.getLogger("webstrata.revisit")

LEASE_MARGIN_S = 3600.0
"""A lease outlives its round by this much: the last visits of a round may take long."""
AFTER_FAILED_ROUND_S = 5.0
CRAWL_PATIENCE_S = 600.0
"""`crawl` does not wait longer than this for one host; its pages stay due for the next time."""


class CrawlOptions(Struct, frozen=True, kw_only=True):
    """How the loop goes."""

    round_s: float = 60.0
    round_pages: int = 5000
    poll_s: float = 2.0
    """How often an idle loop looks for pages that another process added."""
    lanes: int = 1
    """Lanes per host."""
    requests: int = 64
    """On their way at a time, to all hosts together."""
    max_redirects: int = 10


class CrawlProgress:
    """What a round tells while it goes; the terminal's display overrides these."""

    def round_started(self, pages: int, hosts: int) -> None: ...

    def visited(self, visits: Sequence[Visit]) -> None:
        """These visits are permanent now."""

    def lane_ended(self) -> None:
        """One host less is waiting."""

    def round_ended(self, left: int) -> None: ...


class CrawlLoop:
    """Runs rounds until stopped."""

    def __init__(
        self,
        *,
        store: Store,
        web: Web,
        clock: Clock,
        gate: PermitGate,
        settler: VisitPipeline,
        owner: str,
        choose: Choose,
        pace: CrawlOptions,
        progress: CrawlProgress | None = None,
        slots: SlotFitter | None = None,
        allocation: RoundSelector | None = None,
    ) -> None:
        self._store = store
        self._web = web
        self._clock = clock
        self._gate = gate
        self._settler = settler
        self._owner = owner
        self._choose = choose
        self._pace = pace
        self._progress = progress or CrawlProgress()
        self._slots = slots
        self._allocation = allocation
        if allocation is not None:
            settler.paid = allocation.paid
        self._stopping = asyncio.Event()

    def stop(self) -> None:
        """Start no more visits; those in flight are finished and settled."""
        self._stopping.set()

    @property
    def stopping(self) -> bool:
        return self._stopping.is_set()

    async def crawl(self, wanted: Collection[int] = ()) -> int:
        """One pass over all that is due now and what it leads to; returns the visits made.

        `wanted`: pages that are to be visited whatever they are worth; they have been made due.
        """
        started_at = self._clock.now()
        visits = passes = 0
        while not self.stopping and (pages := await self._claim(due_by=started_at, wanted=wanted, only_due=passes > 0)):
            visits += await self._round(pages, started_at, patience_s=CRAWL_PATIENCE_S)
            passes += 1
        return visits

    async def run(self, until: float = float("inf")) -> None:
        """Rounds until stopped (or until an instant of the clock)."""
        failed = False
        while not self.stopping and self._clock.now() < until:
            started_at = self._clock.now()
            try:
                if failed:  # it may have been unable even to give its pages back
                    await self._store.queue.end_leases(self._owner)
                    failed = False
                if self._slots is not None:
                    await self._slots.fit(started_at)
                ends_at = started_at + self._pace.round_s
                if pages := await self._claim(due_by=started_at, ends_at=ends_at):
                    await self._round(pages, started_at, ends_at=ends_at)
                await self._until_due(ends_at, until)
            except (StoreError, ArchiveError, OSError) as problem:
                log.error("this round failed, the next one takes its pages up again: %s", problem)
                failed = True
                if self._allocation is not None:
                    self._allocation.failed()
                await self._pause(self._clock.now() + AFTER_FAILED_ROUND_S, until)

    async def _until_due(self, earliest: float, until: float) -> None:
        """Wait for the next round: not before `earliest`, and not before a page is due."""
        while not self.stopping and (now := self._clock.now()) < until:
            next_at = max(earliest, await self._next_due())
            if next_at > now:
                # Another process may add pages meanwhile: look again now and then.
                await self._pause(min(next_at, now + self._pace.poll_s), until)
            if next_at <= self._clock.now():
                return

    async def _pause(self, at: float, until: float) -> None:
        """Sleep on the clock, but wake when asked to stop."""
        sleep = asyncio.ensure_future(self._clock.sleep_until(min(at, until)))
        stop = asyncio.ensure_future(self._stopping.wait())
        try:
            await asyncio.wait({sleep, stop}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            sleep.cancel()
            stop.cancel()

    async def _next_due(self) -> float:
        if self._allocation is not None:
            return await self._allocation.next_look()
        due = await self._store.queue.next_due()
        return due if due is not None else float("inf")

    async def _claim(
        self,
        due_by: float,
        *,
        ends_at: float = float("inf"),
        wanted: Collection[int] = (),
        only_due: bool = False,
    ) -> list[Page]:
        until = self._clock.now() + self._pace.round_s + LEASE_MARGIN_S
        if self._allocation is None:
            return await self._store.queue.claim(due_by, self._pace.round_pages, until, self._owner)
        return await self._allocation.claim(
            RoundRequest(
                now=due_by,
                ends_at=ends_at,
                lease_until=until,
                owner=self._owner,
                most=self._pace.round_pages,
                only_due=only_due,
                wanted=wanted,
            )
        )

    async def _round(
        self,
        pages: Sequence[Page],
        started_at: float,
        *,
        ends_at: float = float("inf"),
        patience_s: float = float("inf"),
    ) -> int:
        """Visit claimed pages, host by host; what there was no time for is given back."""
        if any(page.tags for page in pages):
            pages = with_tag_rules(pages, await self._store.pages.tag_rules())
        sites = await self._store.pages.sites()
        discovery = Discovery(sites, await self._store.pages.site_sizes() if sites else {}, due_at=started_at)
        unsettled = {page.id for page in pages}
        made = 0

        def settled(visits: Sequence[Visit]) -> None:
            nonlocal made
            made += len(visits)
            unsettled.difference_update(visit.page_id for visit in visits)
            if self._allocation is not None:
                self._allocation.visited(visits)
            self._progress.visited(visits)

        intake = VisitBatcher(
            read=lambda batch: self._settler.read(batch, discovery),
            settle=lambda batch, looks, extras: self._settler.settle(batch, looks, extras, discovery),
            settled=settled,
        )
        door = PoliteClient(
            self._web,
            self._gate,
            self._clock,
            keep=intake.keep,
            listed=discovery.sitemaps_listed,
            requests=self._pace.requests,
        )
        lanes = HostQueues(
            pages,
            visit=self._visitor(door, ends_at, patience_s),
            deliver=intake.put,
            stopping=lambda: self.stopping or self._clock.now() >= ends_at,
            lane_ended=self._progress.lane_ended,
        )
        self._progress.round_started(len(pages), lanes.hosts)
        self._settler.expect(len(pages))
        intake.start()
        try:
            await lanes.run(self._pace.lanes)
        finally:
            await door.close()
            try:
                await intake.stop()
            finally:
                left = dict.fromkeys(unsettled) | dict(lanes.left(self._gate, self._clock.now()))
                if left:
                    await self._store.queue.release(left.items())
                if self._allocation is not None:
                    self._allocation.ended()
                self._gate.forget_idle(self._clock.now())
                self._progress.round_ended(len(left))
        return made

    def _visitor(
        self, door: PoliteClient, ends_at: float, patience_s: float
    ) -> Callable[[Page], Awaitable[VisitResult | Wait]]:
        async def visitor(page: Page) -> VisitResult | Wait:
            try:
                return await visit(
                    page,
                    door=door,
                    clock=self._clock,
                    choose=self._choose,
                    max_redirects=self._pace.max_redirects,
                    patience_until=min(ends_at, self._clock.now() + patience_s),
                )
            except Exception as problem:  # one page's fault must not end the round: it is logged and retried
                log.exception("visit of %s failed inside", page.url)
                failure = Failure(kind=FailureKind.INTERNAL, detail=f"{type(problem).__name__}: {problem}")
                return VisitResult(page=page, at=self._clock.now(), failure=failure)

        return visitor
