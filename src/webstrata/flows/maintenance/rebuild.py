"""`Rebuild`: makes pages, visits and schedules again from the archived visits, through the pipeline of the crawl.

The visits are parsed, judged, scheduled and committed in the order in which they were made, exactly as when they were
fetched; only the archive, which holds them already, writes nothing (`RecordedArchive`).
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace

from webstrata import urls
from webstrata.errors import BadUrl
from webstrata.flows.crawl.discovery import Discovery
from webstrata.flows.crawl.selection.schedule_input import ScheduleInput
from webstrata.flows.crawl.visit_pipeline import VisitPipeline
from webstrata.flows.maintenance.lost_facts import LostFact
from webstrata.permit.gate import PermitGate
from webstrata.permit.robots_cache import RobotsResponse, robots_step, robots_url
from webstrata.ports import Store
from webstrata.ports.archive import StoredCapture
from webstrata.records import (
    ArchivedVisit,
    Capture,
    Exchange,
    NewPage,
    Page,
    PageState,
    Position,
    ResourceCapture,
    RobotsState,
    VisitResult,
)
from webstrata.schedule.schedule import Schedule

MAX_VISITS = 256
MAX_BYTES = 64 * 2**20
MAX_SPAN_S = 60.0
"""Time between the visits of a batch: a policy learns from all of them as if they were made at the same time."""


class RebuildResult(Struct, kw_only=True):
    """What was rebuilt, and what was left out."""

    pages: int = 0
    visits: int = 0
    robots: int = 0
    """Requests of robots.txt files in the archive."""
    repeated: int = 0
    """Visits that the archive holds twice, or that are older than a visit of the same page before them."""
    unreadable: int = 0
    """Records that could not be read, and revisit records without their original."""
    lost: list[LostFact] = []
    """What the WARC files do not hold."""


class RecordedArchive:
    """The archive port on records that are written already: `append` returns where they are."""

    def __init__(self, read: Callable[[Position], StoredCapture]) -> None:
        self._read = read
        self._positions: dict[int, Position] = {}

    def hold(self, visits: Sequence[ArchivedVisit]) -> None:
        """The positions of the records of the next batch, instead of those of the last one."""
        self._positions.clear()
        for visit in visits:
            for one in visit.exchanges:
                self._positions[id(one.exchange)] = one.position
            for made in (*visit.extras, *(() if visit.content is None else (visit.content,))):
                self._positions[id(made.resource)] = made.position

    async def check_writable(self) -> None:
        """Nothing is written."""

    async def append(self, captures: Sequence[Capture | ResourceCapture]) -> list[Position]:
        return [
            self._positions[id(capture.resource if isinstance(capture, ResourceCapture) else capture.exchange)]
            for capture in captures
        ]

    async def append_large(self, capture: Capture) -> Position:
        return self._positions[id(capture.exchange)]

    async def read(self, position: Position) -> StoredCapture:
        return await asyncio.to_thread(self._read, position)

    async def close(self) -> None:
        """Nothing is open."""


class Rebuild:
    """Commits archived visits to an empty store."""

    def __init__(
        self, *, store: Store, pipeline: VisitPipeline, archive: RecordedArchive, schedule: Schedule, gate: PermitGate
    ) -> None:
        """`pipeline` writes to this archive, and uses this schedule and this gate."""
        self._store = store
        self._input = ScheduleInput(store, schedule)
        self._gate = gate
        self._pipeline = pipeline
        self._archive = archive
        self._last_at: dict[str, float] = {}
        self._discovery = Discovery((), {}, due_at=0.0)
        self.result = RebuildResult()

    async def run(self, visits: Iterable[ArchivedVisit]) -> RebuildResult:
        for batch in self._batches(visits):
            await self._commit(batch)
        await self._input.save_sites()
        self.result.pages = len(self._last_at)
        return self.result

    def _batches(self, visits: Iterable[ArchivedVisit]) -> Iterator[list[ArchivedVisit]]:
        """Batches in which each page is visited once at most: the second visit is compared with the first."""
        batch: list[ArchivedVisit] = []
        pages: set[str] = set()
        size = 0
        for archived in visits:
            visit = self._next_visit(archived) if archived.page else archived
            if visit is None:
                continue
            is_late = bool(batch) and abs(visit.at - batch[0].at) > MAX_SPAN_S
            if visit.page in pages or len(batch) >= MAX_VISITS or size >= MAX_BYTES or is_late:
                yield batch
                batch, size = [], 0
                pages.clear()
            batch.append(visit)
            size += visit.body_bytes
            if visit.page:
                pages.add(visit.page)
        if batch:
            yield batch

    def _next_visit(self, visit: ArchivedVisit) -> ArchivedVisit | None:
        """The visit, if it is later than the last one of its page, and its page one that can be visited."""
        try:
            page = urls.canonical(visit.page)
        except BadUrl:
            return None
        if visit.at <= self._last_at.get(page, 0.0):
            self.result.repeated += 1
            return None
        self._last_at[page] = visit.at
        return visit if page == visit.page else replace(visit, page=page)

    async def _commit(self, batch: Sequence[ArchivedVisit]) -> None:
        visits = [visit for visit in batch if visit.page]
        robots = [one.exchange for visit in batch if not visit.page for one in visit.exchanges]
        pages = await self._pages(visits)
        if visits:
            await self._input.refresh(max(visit.at for visit in visits))
        exchanges = [one.exchange for visit in batch for one in visit.exchanges]
        for exchange in sorted(exchanges, key=lambda one: one.at):
            self._learn_politeness(exchange)
        results = [_result(visit, pages[visit.page]) for visit in visits]
        self._archive.hold(batch)
        parsed = await self._pipeline.parse(results, self._discovery)
        await self._pipeline.commit(results, parsed, robots, self._discovery)
        self.result.visits += len(visits)
        self.result.robots += len(robots)

    def _learn_politeness(self, exchange: Exchange) -> None:
        """Waits that a host asked for, and its robots.txt, hold for the next crawl. A robots.txt behind a redirect is
        requested again."""
        try:
            url = urls.canonical(exchange.url)
        except BadUrl:
            return  # a record of another program
        self._gate.recorded(replace(exchange, url=url))
        origin = urls.origin(url)
        if url == robots_url(origin):
            step = robots_step(exchange, url=url, hops=0)
            if isinstance(step, RobotsResponse):
                state = RobotsState(origin=origin, at=exchange.at, status=step.status, body=step.body)
                self._gate.learn_robots(origin, state)

    async def _pages(self, visits: Sequence[ArchivedVisit]) -> dict[str, Page]:
        """The pages of these visits, by URL; those that are visited for the first time are added."""
        wanted = [visit.page for visit in visits]
        known = await self._store.pages.known(wanted)
        new = [_new_page(visit) for visit in visits if visit.page not in known]
        if new:
            await self._store.pages.add(new, min(visit.at for visit in visits if visit.page not in known))
        return await self._store.pages.by_url(wanted)


def _new_page(visit: ArchivedVisit) -> NewPage:
    return NewPage(
        url=visit.page,
        host=urls.host_of(visit.page),
        role=visit.role,
        state=PageState.CAPTURED if visit.captured else PageState.ACTIVE,
        next_at=visit.at,
    )


def _result(visit: ArchivedVisit, page: Page) -> VisitResult:
    exchanges = tuple(one.exchange for one in visit.exchanges)
    if visit.main == len(exchanges):  # the visit ended with a request that brought no response
        lost = Exchange(url=page.url, at=visit.at, duration_s=0.0, request_head=b"", failure=visit.failure)
        exchanges = (*exchanges, lost)
    return VisitResult(
        page=page,
        at=visit.at,
        exchanges=exchanges,
        failure=visit.failure,
        main=visit.main,
        content=None if visit.content is None else visit.content.resource,
        extras=tuple(one.resource for one in visit.extras),
    )
