"""What politeness promised and the store does not know yet: kept until a transaction has taken it.

Settling a batch of visits: read, archive, judge, schedule, remember. The order is the crash safety.

 1. look      every answer is decoded and fingerprinted (in another process)
 2. archive   every exchange goes into the WARC, known payloads as revisit records; synced when this returns
 3. judge     the fingerprint against the page's last one
 4. schedule  the policy learns and gives the next visit
 5. remember  log rows, pages, politeness and discoveries in one transaction, which also ends the leases

While 2 waits for the disk, 3 and 4 are done in memory; 5 begins after all of them. A crash before 5 costs a re-visit,
never a fact.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace

from webstrata.detect.memory import unpack
from webstrata.detect.response_class import StatusClass
from webstrata.detect.response_class import status_class
from webstrata.flows.crawl.discovery import Discovery
from webstrata.flows.crawl.judge import JudgedVisit, finished_visit, is_conditional, judge_visit
from webstrata.flows.crawl.parse import ParsedContent, ParseJob, payload_digest
from webstrata.flows.crawl.parser_pool import ParserPool
from webstrata.flows.crawl.previous_version import with_previous_version
from webstrata.flows.crawl.signals import collect_signals
from webstrata.flows.crawl.value_schedule import ValueSchedule
from webstrata.permit.gate import PermitGate
from webstrata.ports import Archive, Clock, Store
from webstrata.records import (
    AddressState,
    Batch,
    Capture,
    Exchange,
    HostState,
    NewPage,
    Original,
    Page,
    PageRole,
    Position,
    Resource,
    ResourceCapture,
    RobotsState,
    Visit,
    VisitResult,
)
from webstrata.schedule.timer_schedule import NextVisit, SeenPage, TimerSchedule

Changed = tuple[tuple[HostState, ...], tuple[AddressState, ...], tuple[RobotsState, ...]]


class UnsavedPoliteness:
    """Gathers changes of hosts, addresses and robots files; of each the latest counts."""

    def __init__(self) -> None:
        self._hosts: dict[str, HostState] = {}
        self._addresses: dict[str, AddressState] = {}
        self._robots: dict[str, RobotsState] = {}

    def all(self, changed: Changed) -> Changed:
        """All that has to be written: these changes and those of transactions that failed."""
        hosts, addresses, robots = changed
        self._hosts |= {state.host: state for state in hosts}
        self._addresses |= {state.address: state for state in addresses}
        self._robots |= {state.origin: state for state in robots}
        return tuple(self._hosts.values()), tuple(self._addresses.values()), tuple(self._robots.values())


TELLING_HEADERS = frozenset({"cf-mitigated", "x-robots-tag", "server", "location", "content-language"})
"""Headers that say something about the content."""


class DecodeLimits(Struct, frozen=True, kw_only=True):
    """How much of an answer is unpacked."""

    max_decoded: int
    max_ratio: float


class VisitPipeline:
    """Reads and settles batches, one at a time each: the next one is read while the last one is settled."""

    def __init__(
        self,
        *,
        store: Store,
        archive: Archive,
        clock: Clock,
        gate: PermitGate,
        timetable: TimerSchedule | ValueSchedule,
        readers: ParserPool,
        unpacking: DecodeLimits,
        handler_name: Callable[[Page], str],
    ) -> None:
        self._store = store
        self._archive = archive
        self._clock = clock
        self._gate = gate
        self.timetable = timetable
        self._readers = readers
        self._unpacking = unpacking
        self._handler_name = handler_name
        self._promises = UnsavedPoliteness()
        self.paid: Callable[[Sequence[Visit]], tuple[str, tuple[tuple[str, float], ...]]] = lambda visits: ("", ())
        """Who pays for visits, and what they cost each budget."""

    def expect(self, visits: int) -> None:
        """So many visits may come: have readers ready for them."""
        self._readers.start(visits)

    async def settle(
        self,
        batch: Sequence[VisitResult],
        looks: Sequence[ParsedContent | None],
        extras: Sequence[Exchange],
        discovery: Discovery,
    ) -> list[Visit]:
        """Make visits that were read permanent, and archive `extras` (robots.txt) beside them. Returns the log rows."""
        kept = await self._captures(batch, looks, extras)
        writing = asyncio.create_task(self._write(kept))
        try:
            await asyncio.sleep(0)  # the archive has begun
            settled = [judge_visit(visited, found) for visited, found in zip(batch, looks, strict=True)]
            turns = self._schedule(settled)
        finally:
            positions, originals = await writing
        entries = [finished_visit(one, turn, positions) for one, turn in zip(settled, turns, strict=True)]
        await self._meet(settled, discovery)
        pages, wake = _discovered(settled, discovery)
        signals = await collect_signals(settled, self._store, [page.url for page in pages])
        announced = signals.announced
        if announced:
            self.timetable.announced()
        if self.timetable.hears:
            announced = tuple(replace(one, call=()) for one in announced)
        hosts, addresses, robots = self._promises.all(self._gate.changed())
        payer, paid = self.paid([row.visit for row in entries])
        await self._store.visit_log.commit(
            Batch(
                entries=tuple(entries),
                originals=tuple(originals),
                discovered=tuple(pages),
                wake=tuple(wake),
                hosts=hosts,
                addresses=addresses,
                robots=robots,
                announced=announced,
                checked=signals.checked,
                payer=payer,
                paid=paid,
            )
        )
        self._promises = UnsavedPoliteness()
        return [row.visit for row in entries]

    async def _meet(self, settled: Sequence[JudgedVisit], discovery: Discovery) -> None:
        """Tell discovery which of the links ahead are pages already."""
        seen = [(one.visited.page, one.found) for one in settled if one.found is not None and one.change is not None]
        ahead = {link for page, found in seen for link in discovery.met(page, found)}
        if ahead:
            discovery.known(await self._store.pages.known(sorted(ahead)))

    async def read(self, batch: Sequence[VisitResult], discovery: Discovery) -> list[ParsedContent | None]:
        """What is seen in each content; none where there is no content."""
        jobs: list[ParseJob] = []
        of: list[int] = []
        for i, visited in enumerate(batch):
            answer = visited.answer
            if (
                visited.failure is None
                and answer is not None
                and status_class(answer.status or 0) is StatusClass.CONTENT
            ):
                jobs.append(self._job(visited, answer, discovery))
                of.append(i)
        found: list[ParsedContent | None] = [None] * len(batch)
        if jobs:
            pages = [batch[i].page for i in of]
            first = await self._look(jobs)
            seen = await with_previous_version(
                pages, jobs, first, store=self._store, archive=self._archive, read=self._look
            )
            for i, one in zip(of, seen, strict=True):
                found[i] = one
        return found

    async def _look(self, jobs: Sequence[ParseJob]) -> list[ParsedContent]:
        with self._clock.working():
            return await self._readers.look(jobs)

    def _job(self, visited: VisitResult, answer: Exchange, discovery: Discovery) -> ParseJob:
        page, content = visited.page, visited.content
        return ParseJob(
            url=page.url if content is not None else answer.url,
            body=content.body if content is not None else answer.body,
            content_type=content.content_type if content is not None else answer.header("content-type"),
            content_encoding=None if content is not None else answer.header("content-encoding"),
            status=answer.status or 0,
            headers={name: value for name, value in answer.headers if name in TELLING_HEADERS},
            handler=self._handler_name(page),
            page_rules=page.page_rules,
            before=page.fingerprint,
            lines=unpack(page.memory).runs,
            failures=page.failures,
            want_links=discovery.wants_links(page),
            want_requisites=discovery.wants_requisites(page),
            max_decoded=self._unpacking.max_decoded,
            max_ratio=self._unpacking.max_ratio,
        )

    async def _captures(
        self, batch: Sequence[VisitResult], looks: Sequence[ParsedContent | None], extras: Sequence[Exchange]
    ) -> list[tuple[Exchange | Resource, Capture | ResourceCapture]]:
        """All that goes into the archive, with the originals of what was seen before."""
        kept = [one for visited, found in zip(batch, looks, strict=True) for one in _to_keep(visited, found)]
        kept += [(exchange, payload_digest(exchange.body)) for exchange in extras if exchange.response_head]
        known = await self._store.visit_log.originals(list({payload for one, payload in kept if _may_repeat(one)}))
        return [
            (one, _capture(one, payload, known.get(payload) if _may_repeat(one) else None)) for one, payload in kept
        ]

    async def _write(
        self, kept: Sequence[tuple[Exchange | Resource, Capture | ResourceCapture]]
    ) -> tuple[dict[int, Position], list[Original]]:
        """Archive all; positions by the identity of what was archived, and the payloads seen first here."""
        captures = [capture for _, capture in kept]
        written = await self._archive.append(captures) if captures else []
        positions = {id(one): place for (one, _), place in zip(kept, written, strict=True)}
        firsts = {
            capture.payload: _original(capture, place)
            for capture, place in zip(reversed(captures), reversed(written), strict=True)
            if capture.original is None and _is_original(capture)
        }
        return positions, list(firsts.values())

    def _schedule(self, settled: Sequence[JudgedVisit]) -> list[NextVisit | None]:
        """Next visits, in order; none for requisites, which wait for their page."""
        due = [i for i, one in enumerate(settled) if one.visited.page.role is not PageRole.REQUISITE]
        seen = [i for i in due if settled[i].change is not None]
        turns: list[NextVisit | None] = [None] * len(settled)
        batch = [
            SeenPage(page=one.visited.page, at=one.visited.at, changed=one.change.counts)
            for one in (settled[i] for i in seen)
            if one.change is not None
        ]
        for i, turn in zip(seen, self.timetable.after_seen(batch), strict=True):
            turns[i] = turn
        for i in due:
            failure = settled[i].failure
            if failure is not None:
                one = settled[i].visited
                turns[i] = self.timetable.after_failure(one.page, one.at, failure.kind, one.again_at)
        return turns


def _discovered(settled: Sequence[JudgedVisit], discovery: Discovery) -> tuple[list[NewPage], list[tuple[str, float]]]:
    """New pages, and known requisites to be looked at again because their page changed."""
    pages: list[NewPage] = discovery.take_sitemaps()
    wake: list[tuple[str, float]] = []
    for one in settled:
        if one.found is None or one.change is None:
            continue
        page = one.visited.page
        pages += discovery.pages(page, one.found)
        pages += discovery.entries(page, one.found)
        requisites = discovery.requisites(page, one.found)
        pages += requisites
        if one.change.raw:
            wake += [(requisite.url, discovery.wake_at) for requisite in requisites]
    return pages, wake


def _to_keep(visited: VisitResult, found: ParsedContent | None) -> Iterator[tuple[Exchange | Resource, str]]:
    """What goes into the archive of one visit, each with its payload digest."""
    for exchange in visited.exchanges:
        if exchange.response_head:
            is_content = exchange is visited.answer and visited.content is None
            yield exchange, _payload(exchange, visited.page, found if is_content else None)
    for resource in (visited.content, *visited.extras):
        if resource is not None:
            yield resource, payload_digest(resource.body)


def _payload(exchange: Exchange, page: Page, found: ParsedContent | None) -> str:
    if found is not None:
        return found.payload
    if exchange.status == 304 and page.payload is not None and is_conditional(exchange):
        return page.payload
    return payload_digest(exchange.body)


def _may_repeat(one: Exchange | Resource) -> bool:
    """Whether a revisit record may stand for it: a whole body that was seen before, or a 304 that was asked for."""
    if isinstance(one, Resource):
        return bool(one.body)
    if one.status == 304:
        return is_conditional(one)
    return bool(one.body) and one.truncated is None


def _capture(one: Exchange | Resource, payload: str, original: Original | None) -> Capture | ResourceCapture:
    if isinstance(one, Resource):
        return ResourceCapture(resource=one, payload=payload, original=original)
    return Capture(exchange=one, payload=payload, original=original)


def _is_original(capture: Capture | ResourceCapture) -> bool:
    """Whether later revisit records may refer to it."""
    if isinstance(capture, ResourceCapture):
        return bool(capture.resource.body)
    return bool(capture.exchange.body) and capture.exchange.truncated is None


def _original(capture: Capture | ResourceCapture, place: Position) -> Original:
    source = capture.resource if isinstance(capture, ResourceCapture) else capture.exchange
    return Original(
        payload=capture.payload,
        record_id=place.record_id,
        at=source.at,
        url=source.url,
        file=place.file,
        offset=place.offset,
    )
