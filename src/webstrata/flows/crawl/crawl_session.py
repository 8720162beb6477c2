"""`CrawlSession`: the visits under way. It leases pages, visits them in lanes, commits the results, releases the rest.

Pages are claimed at any time, also while earlier ones are still visited. A session ends when the loop stops, or when
the store or the archive fails; every leased page is then either committed or released.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress

from webstrata.flows.crawl.discovery import Discovery
from webstrata.flows.crawl.host_lanes import HostLanes, VisitLimits
from webstrata.flows.crawl.own_faults import OwnFaults
from webstrata.flows.crawl.requests.host_leases import HostLeases
from webstrata.flows.crawl.requests.polite_client import ChooseHandler, PoliteClient
from webstrata.flows.crawl.round_timer import LEAST_VISITS, RoundTimer
from webstrata.flows.crawl.selection.page_choice import RoundRequest
from webstrata.flows.crawl.selection.round_selector import RoundSelector
from webstrata.flows.crawl.visit_batcher import CrawlProgress, VisitBatcher
from webstrata.flows.crawl.visit_pipeline import VisitPipeline
from webstrata.flows.tag_rules import with_tag_rules
from webstrata.permit.gate import PermitGate
from webstrata.ports import Clock, Store
from webstrata.records import FailureKind, Page, Visit, VisitResult

log = logging.getLogger("webstrata.crawl")

TIMED_S = 60.0
"""A crawl that does not pause is timed in parts of this length (real time)."""
_SITES_S = 60.0
"""How often the watched sites are read again."""


class CrawlSession(CrawlProgress):
    """Call `claim` whenever pages may be due, and `close` at the end. `changed` is set when something has ended."""

    def __init__(
        self,
        *,
        store: Store,
        clock: Clock,
        gate: PermitGate,
        pipeline: VisitPipeline,
        selector: RoundSelector,
        choose: ChooseHandler,
        leases: HostLeases | None,
        faults: OwnFaults,
        progress: CrawlProgress,
        make_client: Callable[[VisitBatcher], PoliteClient],
        limits: VisitLimits,
        tasks_per_host: int,
        whole_batches: bool,
    ) -> None:
        """`whole_batches`: see `VisitBatcher`."""
        self._store = store
        self._clock = clock
        self._gate = gate
        self._pipeline = pipeline
        self._selector = selector
        self._leases = leases
        self._faults = faults
        self._progress = progress
        self._discovery = Discovery((), {}, due_at=0.0)
        self._sites: set[int] = set()
        self._said: set[tuple[int, str]] = set()
        self._sites_read_at = -float("inf")
        self._batcher = VisitBatcher(pipeline, self._discovery, self, whole_batches=whole_batches)
        self._client = make_client(self._batcher)
        self._lanes = HostLanes(
            client=self._client,
            gate=gate,
            choose=choose,
            clock=clock,
            limits=limits,
            tasks_per_host=tasks_per_host,
            deliver=self._deliver,
            give_back=self._give_back,
            on_empty=self._lane_ended,
            on_problem=self._lane_failed,
        )
        self._leased: dict[int, Page] = {}
        self._left: dict[int, float | None] = {}
        self._problem: BaseException | None = None
        self._timed_visits = 0
        self._timed_from = time.monotonic()
        self.changed = asyncio.Event()
        self.behind_until = -float("inf")
        """Until then hosts have pages that had to be given back for lack of time."""
        self._batcher.start()

    @property
    def visits(self) -> int:
        """Visits committed so far."""
        return self._batcher.visits

    @property
    def leased(self) -> int:
        """Pages that are leased now."""
        return len(self._leased)

    @property
    def is_idle(self) -> bool:
        """Nothing is visited, parsed or waiting to be committed."""
        return not len(self._lanes) and self._batcher.is_idle and not self._left

    # ── claim and release ───────────────────────────────────────────────────────────────────────────────────────

    async def claim(self, request: RoundRequest, *, patience_s: float = float("inf")) -> list[Page]:
        """Lease pages and visit them; raises the error of an earlier batch."""
        await self.release_left()
        await self._time_round()
        pages = await self._selector.claim(request)
        if not pages:
            return pages
        if any(page.tags for page in pages):
            pages = with_tag_rules(pages, await self._store.pages.tag_rules())
        self._leased |= {page.id: page for page in pages}
        await self._refresh_sites(pages, request.now)
        if self._leases is not None:
            await self._leases.hold_many({page.host for page in pages})
        self._pipeline.start_parsers(len(pages))
        self._lanes.add(pages, ends_at=request.ends_at, patience_s=patience_s)
        self._progress.claimed(len(pages), len(self._lanes))
        return pages

    async def release_left(self) -> None:
        """Release the pages that were not visited; raises the error of a batch or of a lane."""
        self._raise_problem()
        if self._left:
            left, self._left = self._left, {}
            for id_ in left:
                self._leased.pop(id_, None)
            await self._store.queue.release(left.items())
            self._selector.released(left)
            self._progress.released(len(left))

    async def settle(self) -> None:
        """Commit what is parsed without delay if no host has pages any more, and release what was not visited."""
        if not len(self._lanes):
            self._batcher.hurry()
        await self.release_left()

    async def ended(self, ids: Collection[int], timeout_s: float) -> None:
        """Wait until the visits of these pages are committed or given back, at most `timeout_s` (real time)."""
        with suppress(TimeoutError):
            async with asyncio.timeout(timeout_s):
                while any(id_ in self._leased and id_ not in self._left for id_ in ids):
                    self.changed.clear()
                    self._raise_problem()
                    await self.changed.wait()
        await self.release_left()

    async def drained(self, timeout_s: float | None = None) -> None:
        """Wait until nothing is under way, at most `timeout_s` (real time)."""
        with suppress(TimeoutError):
            async with asyncio.timeout(timeout_s):
                while len(self._lanes):
                    self.changed.clear()
                    self._raise_problem()
                    await self.changed.wait()
                await self._batcher.flush()
        await self.release_left()

    def shift(self, seconds: float) -> None:
        """The clock was set by so much."""
        self.behind_until += seconds
        self._discovery.due_at += seconds
        self._left = {id_: None if at is None else at + seconds for id_, at in self._left.items()}
        self._lanes.shift(seconds)
        self._batcher.shift(seconds)

    async def close(self, grace_s: float) -> None:
        """End the visits within `grace_s` (real time), commit what is finished and release all other pages."""
        ends_at = time.monotonic() + grace_s
        problem: BaseException | None = self._problem
        try:
            await self._lanes.stop(grace_s)
            await self._client.close()
            await self._batcher.stop(max(0.0, ends_at - time.monotonic()))
        except Exception as error:  # the pages must be released whatever failed
            problem = problem or error
        left = {**dict.fromkeys(self._leased), **self._left}
        self._leased.clear()
        self._left.clear()
        self._selector.ended()
        if left:
            await self._store.queue.release(left.items())
            self._progress.released(len(left))
        if problem is not None:
            raise problem
        await self._time_round()
        self._gate.forget_idle(self._clock.now())

    # ── called by lanes and batcher ─────────────────────────────────────────────────────────────────────────────

    async def _deliver(self, result: VisitResult) -> None:
        failure = result.failure
        if failure is not None and failure.kind is FailureKind.LOCAL:
            now = self._clock.now()
            self._give_back(result.page, now + self._faults.report(failure.detail, now))
            return
        await self._batcher.put(result)

    def _give_back(self, page: Page, at: float | None) -> None:
        if page.id in self._leased:
            self._left[page.id] = at
            if at is not None:
                self.behind_until = max(self.behind_until, at)
            self.changed.set()

    def _lane_ended(self, host: str) -> None:
        self._progress.host_ended()
        self.changed.set()

    def _lane_failed(self, problem: BaseException) -> None:
        self._problem = self._problem or problem
        self.changed.set()

    def visited(self, visits: Sequence[Visit]) -> None:
        """These visits are committed: their leases have ended."""
        for visit in visits:
            self._leased.pop(visit.page_id, None)
        self._faults.committed(self._clock.now())
        self._progress.visited(visits)
        self.changed.set()

    def batch_failed(self) -> None:
        """A batch could not be committed; `release_left` raises the error."""
        self.changed.set()

    def _raise_problem(self) -> None:
        if self._problem is not None:
            raise self._problem
        self._batcher.raise_problem()

    # ── sites and timing ────────────────────────────────────────────────────────────────────────────────────────

    async def _refresh_sites(self, pages: Sequence[Page], now: float) -> None:
        """Read the watched sites again from time to time, and when a page belongs to an unknown one."""
        is_unknown = any(page.site_id is not None and page.site_id not in self._sites for page in pages)
        if is_unknown or not 0 <= now - self._sites_read_at < _SITES_S:
            sites = await self._store.pages.sites()
            sizes = await self._store.pages.site_sizes() if sites else {}
            self._discovery = self._batcher.discovery = Discovery(sites, sizes, due_at=now, said=self._said)
            self._sites = {site.id for site in sites}
            self._sites_read_at = now
        self._discovery.due_at = now

    async def _time_round(self) -> None:
        """Store the pace of the loop since the last call, for `plan`, if there were enough visits."""
        visits = self.visits - self._timed_visits
        is_over = self.is_idle or time.monotonic() - self._timed_from >= TIMED_S
        timer = self._batcher.timer
        if timer is not None and visits >= LEAST_VISITS and is_over:
            await self._store.visit_log.add_round(timer.timing(visits, self._clock.now()))
        if timer is None or is_over:
            self._batcher.timer, self._timed_visits, self._timed_from = RoundTimer(), self.visits, time.monotonic()
