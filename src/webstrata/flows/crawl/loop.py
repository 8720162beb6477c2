"""`CrawlLoop`: the crawl in rounds.

 1. select    the round selector leases the pages that must be visited and those that are worth most within the budget
 2. visit     one queue per host (`host_queues`): its pages one after the other, each request with a permit
 3. commit    finished visits are parsed, archived and committed in batches (`visit_batcher`, `visit_pipeline`)
 4. release   pages for which the round had no time, with the time at which their host can be visited

The next round starts at once while pages are due; otherwise the loop sleeps (docs/decisions/0045-run-follows-plan.md).

A round that fails loses nothing: its leases end, its pages stay due, and the next round takes them.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence

from msgspec import Struct

from webstrata.errors import ArchiveError, StoreError
from webstrata.flows.crawl.discovery import Discovery
from webstrata.flows.crawl.host_queues import HostQueues
from webstrata.flows.crawl.parse import with_tag_rules
from webstrata.flows.crawl.polite_client import ChooseHandler, PoliteClient
from webstrata.flows.crawl.round_timer import LEAST_VISITS, RoundTimer
from webstrata.flows.crawl.selection.page_choice import RoundRequest
from webstrata.flows.crawl.selection.round_selector import RoundSelector
from webstrata.flows.crawl.slot_fitter import SlotFitter
from webstrata.flows.crawl.visit_batcher import CrawlProgress, VisitBatcher
from webstrata.flows.crawl.visit_pipeline import VisitPipeline
from webstrata.flows.planning import CRAWL_PATIENCE_S
from webstrata.permit.gate import PermitGate
from webstrata.ports import Clock, Store, Web
from webstrata.records import Page

log = logging.getLogger("webstrata.crawl")

ROUND_PAGES = 5000
"""Pages of one round at most."""
LEASE_MARGIN_S = 3600.0
"""A lease is longer than its round by this time: the last visits of a round may take long."""
AFTER_FAILED_ROUND_S = 5.0


class CrawlOptions(Struct, frozen=True, kw_only=True):
    """The settings of the loop."""

    round_s: float = 60.0
    poll_s: float = 2.0
    """How often an idle loop checks for pages that another process added."""
    connections_per_host: int = 1
    max_requests: int = 64
    """Open requests to all hosts together."""
    max_redirects: int = 10
    whole_batches: bool = False
    """The visits of a round are committed together, however long they take."""


class CrawlLoop:
    """Runs rounds until stopped."""

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
        progress: CrawlProgress | None = None,
        slot_fitter: SlotFitter | None = None,
    ) -> None:
        """`owner` is the name under which pages are leased."""
        self._store = store
        self._web = web
        self._clock = clock
        self._gate = gate
        self._pipeline = pipeline
        self._selector = selector
        self._choose = choose
        self._owner = owner
        self._options = options
        self._progress = progress or CrawlProgress()
        self._slot_fitter = slot_fitter
        self._stop = asyncio.Event()
        self._timer = RoundTimer()
        self._behind_until = -float("inf")
        """Until then hosts have pages for which earlier rounds had no time."""

    def stop(self) -> None:
        """Start no more visits; visits in flight are finished and committed."""
        self._stop.set()

    @property
    def stopping(self) -> bool:
        return self._stop.is_set()

    async def crawl(self, requested: Sequence[int] = (), *, due: bool = True) -> int:
        """Visit all pages that are due now and the pages found on them; returns the number of visits.

        `requested`: ids of pages that are visited first, due or not. Without `due`, nothing else is visited.
        """
        started_at = self._clock.now()
        visits, only_due = 0, False
        for first in range(0, len(requested), ROUND_PAGES):
            pages = await self._lease(started_at, requested=requested[first : first + ROUND_PAGES])
            visits += await self._round(pages, started_at, patience_s=CRAWL_PATIENCE_S)
        while due and not self.stopping and (pages := await self._lease(started_at, only_due=only_due)):
            visits += await self._round(pages, started_at, patience_s=CRAWL_PATIENCE_S)
            only_due = not self._selector.has_read_lists  # a pass that read lists knows more than the first one
        return visits

    async def run(self, until: float = float("inf")) -> None:
        """Run rounds until stopped, or until a time of the clock."""
        failed = False
        while not self.stopping and self._clock.now() < until:
            started_at = self._clock.now()
            try:
                if failed:  # the failed round may have been unable to release its pages
                    await self._store.queue.end_leases(self._owner)
                    failed = False
                if self._slot_fitter is not None:
                    await self._slot_fitter.fit(started_at)
                ends_at = started_at + self._options.round_s
                if pages := await self._lease(started_at, ends_at=ends_at):
                    await self._round(pages, started_at, ends_at=ends_at)
                    if self._selector.has_read_lists or await self._selector.has_more(self._clock.now()):
                        continue
                is_behind = bool(pages) and started_at < self._behind_until
                await self._sleep_until_due(started_at if is_behind else ends_at, until)
            except (StoreError, ArchiveError, OSError) as problem:
                log.error("this round failed, its pages stay due for the next one: %s", problem)
                failed = True
                self._selector.failed()
                await self._sleep(self._clock.now() + AFTER_FAILED_ROUND_S, until)

    async def _sleep_until_due(self, earliest: float, until: float) -> None:
        """Wait for the next round: not before `earliest`, and not before a page is due.

        Pages that become due one after the other wait for each other until the end of the round's time, so that an
        almost idle loop makes few rounds; pages that had to wait for their host do not wait any longer.
        """
        while not self.stopping and (now := self._clock.now()) < until:
            next_at = max(earliest, await self._selector.next_round_at())
            if next_at > now:
                # Another process may add pages meanwhile.
                await self._sleep(min(next_at, now + self._options.poll_s), until)
            if next_at <= self._clock.now():
                return

    async def _sleep(self, at: float, until: float) -> None:
        """Sleep on the clock, but wake when the loop is stopped."""
        sleep = asyncio.ensure_future(self._clock.sleep_until(min(at, until)))
        stop = asyncio.ensure_future(self._stop.wait())
        try:
            await asyncio.wait({sleep, stop}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            sleep.cancel()
            stop.cancel()

    async def _lease(
        self,
        due_by: float,
        *,
        ends_at: float = float("inf"),
        requested: Sequence[int] = (),
        only_due: bool = False,
    ) -> list[Page]:
        self._timer = RoundTimer()
        request = RoundRequest(
            now=due_by,
            ends_at=ends_at,
            lease_until=self._clock.now() + self._options.round_s + LEASE_MARGIN_S,
            owner=self._owner,
            max_pages=ROUND_PAGES,
            only_due=only_due,
            requested=requested,
        )
        return await self._selector.claim(request)

    async def _round(
        self,
        pages: Sequence[Page],
        started_at: float,
        *,
        ends_at: float = float("inf"),
        patience_s: float = float("inf"),
    ) -> int:
        """Visit leased pages and release those for which there was no time; returns the number of visits."""
        if any(page.tags for page in pages):
            pages = with_tag_rules(pages, await self._store.pages.tag_rules())
        sites = await self._store.pages.sites()
        discovery = Discovery(sites, await self._store.pages.site_sizes() if sites else {}, due_at=started_at)
        batcher = VisitBatcher(
            self._pipeline,
            discovery,
            self._progress,
            whole_batches=self._options.whole_batches,
            timer=self._timer,
        )
        client = PoliteClient(
            self._web,
            self._gate,
            self._clock,
            robots_log=batcher,
            max_redirects=self._options.max_redirects,
            max_requests=self._options.max_requests,
        )
        queues = HostQueues(
            pages,
            client=client,
            choose=self._choose,
            batcher=batcher,
            clock=self._clock,
            progress=self._progress,
            stop=self._stop,
            ends_at=ends_at,
            patience_s=patience_s,
        )
        self._progress.round_started(len(pages), queues.hosts)
        self._pipeline.start_parsers(len(pages))
        batcher.start()
        try:
            await queues.run(self._options.connections_per_host)
        finally:
            await client.close()
            try:
                await batcher.stop()
            finally:
                uncommitted = dict.fromkeys({page.id for page in pages} - batcher.committed_pages)
                left = uncommitted | dict(queues.left(self._gate, self._clock.now()))
                if left:
                    self._behind_until = max(self._behind_until, *(at for at in left.values() if at is not None), 0.0)
                    await self._store.queue.release(left.items())
                self._selector.ended()
                self._gate.forget_idle(self._clock.now())
                self._progress.round_ended(len(left))
        if batcher.visits >= LEAST_VISITS:
            await self._store.visit_log.add_round(self._timer.timing(batcher.visits, self._clock.now()))
        return batcher.visits
