"""`VisitPipeline`: parses, archives, judges, schedules and commits batches of visits, in a crash-safe order.

 1. parse     every content is decoded and fingerprinted, in a parser process; a body that is not in memory is archived
 2. archive   every exchange is written to the WARC file, known payloads as revisit records; synced when this returns
 3. judge     the fingerprint is compared with the page's last one
 4. schedule  the policy learns and sets the next visit
 5. commit    log rows, pages, politeness and discoveries in one transaction, which also ends the leases

While 2 waits for the disk, 3 and 4 run in memory; 5 starts after all of them. A crash before 5 costs a repeated visit,
never a committed fact.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence

from msgspec.structs import replace

from webstrata.detect.error_pages.blocks import BLOCK_HEADERS
from webstrata.detect.memory import unpack
from webstrata.detect.response_class import StatusClass, status_class
from webstrata.flows.crawl.archive_entries import BatchEntries, VisitPositions, new_originals
from webstrata.flows.crawl.discovery import Discovery
from webstrata.flows.crawl.first_visits import copies_changed
from webstrata.flows.crawl.judge import JudgedVisit, download_size, finished_visit
from webstrata.flows.crawl.large_bodies import LargeBodies
from webstrata.flows.crawl.parse import ParsedContent, ParseJob
from webstrata.flows.crawl.previous_version import has_edited_rules, with_previous_version
from webstrata.flows.crawl.requests.polite_client import ChooseHandler
from webstrata.flows.crawl.selection.round_selector import RoundSelector
from webstrata.flows.crawl.signals import collect_signals
from webstrata.flows.crawl.site_templates import SiteTemplates
from webstrata.flows.crawl.source_checks import check_sources
from webstrata.flows.parsers.parser_pool import ParserPool
from webstrata.permit.gate import PermitGate
from webstrata.ports import Archive, Clock, Store
from webstrata.records import (
    AddressState,
    Batch,
    Capture,
    ContentFacts,
    Exchange,
    HostState,
    NewPage,
    PageRole,
    Position,
    ResourceCapture,
    RobotsState,
    Visit,
    VisitResult,
)
from webstrata.schedule.next_visit import NextVisit, SeenPage
from webstrata.schedule.schedule import Schedule
from webstrata.schedule.visit_times import with_visit_times

PolitenessChanges = tuple[tuple[HostState, ...], tuple[AddressState, ...], tuple[RobotsState, ...]]

OnWritten = Callable[[Sequence[VisitPositions]], object]

PARSED_HEADERS = frozenset({"x-robots-tag", "server", "location", "content-language", "last-modified", *BLOCK_HEADERS})
"""Response headers that the parser needs, besides type and coding."""


class UnsavedPoliteness:
    """Collects changes of hosts, addresses and robots.txt files until a transaction has stored them."""

    def __init__(self) -> None:
        self._hosts: dict[str, HostState] = {}
        self._addresses: dict[str, AddressState] = {}
        self._robots: dict[str, RobotsState] = {}

    def add(self, changes: PolitenessChanges) -> PolitenessChanges:
        """All unsaved changes: these and those of failed transactions; of each host the latest."""
        hosts, addresses, robots = changes
        self._hosts |= {state.host: state for state in hosts}
        self._addresses |= {state.address: state for state in addresses}
        self._robots |= {state.origin: state for state in robots}
        return tuple(self._hosts.values()), tuple(self._addresses.values()), tuple(self._robots.values())


class VisitPipeline:
    """Parses and commits batches. One batch may be parsed while another one is being committed."""

    def __init__(
        self,
        *,
        store: Store,
        archive: Archive,
        clock: Clock,
        gate: PermitGate,
        schedule: Schedule,
        parsers: ParserPool,
        choose: ChooseHandler,
        max_decoded: int,
        selector: RoundSelector | None = None,
    ) -> None:
        """`max_decoded`: limit in bytes for a decoded content. The `selector` holds the budgets that pay for the
        visits; without it visits cost nothing."""
        self._store = store
        self._archive = archive
        self._clock = clock
        self._gate = gate
        self._schedule = schedule
        self._parsers = parsers
        self._choose = choose
        self._max_decoded = max_decoded
        self._selector = selector
        self._large = LargeBodies(store=store, archive=archive, max_decoded=max_decoded)
        self._politeness = UnsavedPoliteness()
        self._templates = SiteTemplates()

    def start_parsers(self, visits: int) -> None:
        """Start enough parser processes for this number of visits."""
        self._parsers.start(visits)

    # ── parse ───────────────────────────────────────────────────────────────────────────────────────────────────

    async def parse(self, batch: Sequence[VisitResult], discovery: Discovery) -> list[ParsedContent | None]:
        """Parse the content of each visit; none for visits without content."""
        return await asyncio.gather(*[self.parse_visit(result, discovery) for result in batch])

    async def parse_visit(self, result: VisitResult, discovery: Discovery) -> ParsedContent | None:
        """Parse the content of a visit, in the lane of its host; none if it has no content.

        Raises ParserError if no parser process works: the visit must be repeated, and the page is not to blame.
        """
        response = result.answer
        if result.failure is not None or response is None:
            return None
        if status_class(response.status or 0) is not StatusClass.CONTENT:
            return None
        if response.large is not None and result.content is None:
            with self._clock.working():
                return await self._large.parse(result, response, response.large)
        page = result.page
        await self._templates.load({page.host}, self._store)
        job = self._parse_job(result, response, discovery)
        with self._clock.working():
            content = await self._parsers.submit(job, lane=page.host)
            return await with_previous_version(
                page, job, content, store=self._store, archive=self._archive, parsers=self._parsers
            )

    async def parse_layers(self, response: Exchange) -> ParsedContent:
        """Parse a response that is not the content of a visited page, with its layers."""
        job = ParseJob(
            url=response.url,
            body=response.body,
            content_type=response.header("content-type"),
            content_encoding=response.header("content-encoding"),
            status=response.status or 0,
            want_layers=True,
            max_decoded=self._max_decoded,
        )
        with self._clock.working():
            return await self._parsers.submit(job)

    def _parse_job(self, result: VisitResult, response: Exchange, discovery: Discovery) -> ParseJob:
        page, content = result.page, result.content
        return ParseJob(
            url=page.url if content is not None else response.url,
            body=content.body if content is not None else response.body,
            content_type=content.content_type if content is not None else response.header("content-type"),
            content_encoding=None if content is not None else response.header("content-encoding"),
            status=response.status or 0,
            requested=page.url,
            address=response.url,
            headers={name: value for name, value in response.headers if name in PARSED_HEADERS},
            handler=self._choose(page).name,
            page_rules=page.page_rules,
            before=page.fingerprint,
            lines=b"" if has_edited_rules(page) else unpack(page.memory).runs,
            want_template=self._templates.wants(page),
            failures=page.failures,
            want_links=discovery.wants_links(page),
            want_requisites=discovery.wants_requisites(page),
            want_layers=discovery.wants_layers(page),
            max_decoded=self._max_decoded,
        )

    # ── archive, judge, schedule, commit ────────────────────────────────────────────────────────────────────────

    async def commit(
        self,
        batch: Sequence[VisitResult],
        parsed: Sequence[ParsedContent | None],
        robots: Sequence[Exchange],
        discovery: Discovery,
        *,
        on_written: OnWritten = lambda positions: None,
    ) -> list[Visit]:
        """Archive and commit parsed visits, and archive `robots` (exchanges of robots.txt). Returns the log rows.

        `on_written` receives the positions of the visits' records.
        """
        if self._selector is None:
            return await self._commit(batch, parsed, robots, discovery, on_written)
        async with self._selector.memory:
            return await self._commit(batch, parsed, robots, discovery, on_written)

    async def _commit(
        self,
        batch: Sequence[VisitResult],
        parsed: Sequence[ParsedContent | None],
        robots: Sequence[Exchange],
        discovery: Discovery,
        on_written: OnWritten,
    ) -> list[Visit]:
        # In a thread: digests of large bodies would block the event loop.
        with self._clock.working():
            entries = await asyncio.to_thread(BatchEntries, batch, parsed, robots)
        captures = entries.captures(await self._store.visit_log.originals(entries.repeatable_payloads()))
        writing = asyncio.create_task(self._write(captures, entries.archived))
        try:
            await asyncio.sleep(0)  # lets the archive start
            await self._templates.load({result.page.host for result in batch}, self._store)
            judged = [self._templates.judge(*visit) for visit in zip(batch, parsed, strict=True)]
            checks = await check_sources(judged, self._store, self._schedule)
            next_visits = self._next_visits(judged, await copies_changed(judged, self._store, self._schedule))
        finally:
            written = await writing
        all_positions = entries.positions(written)
        on_written(all_positions)
        finished = [
            finished_visit(verdict, next_visit, positions)
            for verdict, next_visit, positions in zip(judged, next_visits, all_positions, strict=True)
        ]
        visits = [row.visit for row in finished]
        politeness = self._gate.take_changes()
        for state in politeness[2]:
            discovery.add_sitemaps(state.origin, self._gate.sitemaps(state.origin, state.at))
        await self._find_known_links(judged, discovery)
        pages, wake = _discovered(judged, discovery)
        announced = await collect_signals(judged, self._store, [page.url for page in pages], checks.during_visit)
        if any(one.signals or one.dropped for one in announced):
            self._schedule.announced()
        if announced or checks.checked:
            self._schedule.checked()
        if self._schedule.weighs_announcements:
            announced = tuple(replace(announcement, visit_soon=()) for announcement in announced)
        hosts, addresses, robots_states = self._politeness.add(politeness)
        payer, paid = self._selector.paid(visits) if self._selector is not None else ("", ())
        await self._store.visit_log.commit(
            Batch(
                entries=tuple(finished),
                originals=tuple(new_originals(captures, written)),
                contents=tuple(_content_facts(judged)),
                discovered=tuple(pages),
                finds=discovery.take_finds(),
                wake=tuple(wake),
                hosts=hosts,
                addresses=addresses,
                robots=robots_states,
                templates=self._templates.unsaved(),
                announced=announced,
                checked=checks.checked,
                payer=payer,
                paid=paid,
            )
        )
        self._politeness = UnsavedPoliteness()
        self._templates.saved()
        if self._selector is not None:
            self._selector.visited(visits)
        return visits

    async def _write(
        self, captures: Sequence[Capture | ResourceCapture], archived: Mapping[int, Position]
    ) -> list[Position]:
        """Append the captures that are not archived yet; returns the positions of all."""
        new = [capture for index, capture in enumerate(captures) if index not in archived]
        written = iter(await self._archive.append(new) if new else ())
        return [archived[index] if index in archived else next(written) for index in range(len(captures))]

    def _next_visits(self, judged: Sequence[JudgedVisit], changed_copies: Mapping[int, bool]) -> list[NextVisit | None]:
        """The next visits, in order; none for requisites, which are visited with their page."""
        next_visits: list[NextVisit | None] = [None] * len(judged)
        scheduled = [i for i, verdict in enumerate(judged) if verdict.result.page.role is not PageRole.REQUISITE]
        seen: dict[int, SeenPage] = {}
        for i in scheduled:
            change, result = judged[i].change, judged[i].result
            if change is not None:
                size, answers_304 = download_size(judged[i])
                parsed = judged[i].parsed if result.page.last_seen_at is None else None
                seen[i] = SeenPage(
                    page=result.page,
                    at=result.at,
                    changed=change.counts,
                    copy_changed=changed_copies.get(result.page.id),
                    features={} if parsed is None else parsed.features,
                    full_bytes=size,
                    answers_304=answers_304,
                )
        for i, next_visit in zip(seen, self._schedule.after_seen(list(seen.values())), strict=True):
            next_visits[i] = with_visit_times(seen[i].page, seen[i].at, next_visit, failed=False)
        for i in scheduled:
            result, failure = judged[i].result, judged[i].failure
            if failure is not None:
                again = self._schedule.after_failure(result.page, result.at, failure.kind, result.again_at)
                next_visits[i] = with_visit_times(result.page, result.at, again, failed=True)
        return next_visits

    async def _find_known_links(self, judged: Sequence[JudgedVisit], discovery: Discovery) -> None:
        """Tell discovery which of the links that it has not met before are pages already, not only of a capture; and
        how many pages their sites have by which sources."""
        read = [
            (verdict.result.page, verdict.parsed)
            for verdict in judged
            if verdict.parsed is not None and verdict.change is not None
        ]
        links = set(discovery.new_sitemaps()).union(*(discovery.new_links(*pair) for pair in read))
        if links:
            discovery.add_known(await self._store.pages.settled(sorted(links)))
        if keys := discovery.robots_keys().union(*(discovery.keys(*pair) for pair in read)):
            discovery.add_finds(await self._store.pages.finds(sorted(keys)))


def _content_facts(judged: Sequence[JudgedVisit]) -> list[ContentFacts]:
    """What the first and changed versions say. Requisites are left out: nothing is learned from them."""
    return [
        ContentFacts(
            page_id=verdict.result.page.id,
            at=verdict.result.at,
            features=verdict.parsed.features,
            links=verdict.parsed.seen_links,
        )
        for verdict in judged
        if verdict.parsed is not None
        and verdict.parsed.features
        and verdict.change is not None
        and verdict.result.page.role is not PageRole.REQUISITE
    ]


def _discovered(judged: Sequence[JudgedVisit], discovery: Discovery) -> tuple[list[NewPage], list[tuple[str, float]]]:
    """New pages, and known requisites that are due because their page changed."""
    pages: list[NewPage] = discovery.take_sitemaps()
    wake: list[tuple[str, float]] = []
    for verdict in judged:
        if verdict.parsed is None or verdict.change is None:
            continue
        page = verdict.result.page
        pages += discovery.pages(page, verdict.parsed)
        pages += discovery.entries(page, verdict.parsed)
        requisites = discovery.requisites(page, verdict.parsed)
        pages += requisites
        if verdict.change.raw:
            wake += [(requisite.url, discovery.due_at) for requisite in requisites]
    return pages, wake
