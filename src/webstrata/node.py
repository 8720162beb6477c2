"""The one wiring file: reads settings, names the adapters, hands them to the flows.

What only a crawl needs (HTTP, NumPy) is imported where it is wired, so that the commands that look are there at once.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple

from webstrata import __version__
from webstrata.clock import DAY_S, RealClock
from webstrata.coding import decode
from webstrata.errors import BadSettings
from webstrata.home import Home
from webstrata.remember.engine import open_store
from webstrata.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Callable

    from webstrata.archive.index.lookup import Match
    from webstrata.archive.wacz.reader import WaczReader
    from webstrata.archive.warc.check import ArchiveCheck, ArchiveCheckResult
    from webstrata.archive.warc.reader import WarcReader
    from webstrata.fetch.http.client import HttpWeb
    from webstrata.flows.capture.proof import Certify
    from webstrata.flows.capture.service import CaptureService
    from webstrata.flows.crawl.loop import CrawlLoop, CrawlOptions, CrawlProgress
    from webstrata.flows.crawl.round_selector import RoundSelector
    from webstrata.flows.crawl.slot_fitter import SlotFitter
    from webstrata.flows.crawl.value_schedule import ValueSchedule
    from webstrata.flows.crawl.visit_pipeline import VisitPipeline
    from webstrata.permit.gate import PermitGate
    from webstrata.plan.load import SpacingModel
    from webstrata.ports import Clock, Handler, Journal, Store, Web
    from webstrata.records import Exchange, PageRules, Position, Sighting, VisitResult
    from webstrata.remember.store import SqlStore
    from webstrata.schedule.budget import Budget
    from webstrata.schedule.timer_schedule import TimerSchedule
    from webstrata.settings import BudgetSettings

log = logging.getLogger("webstrata.node")

_RESTORE = "restore the database from a backup; the archive is not touched by it"
_MAKE_ANEW = "`webstrata check --repair` makes it anew from the other rows"


def package(path: Path) -> WaczReader:
    """A WACZ file, whoever made it; needs no home."""
    from webstrata.archive.wacz.reader import WaczReader

    return WaczReader(path)


def sightings(path: Path, *, media_type: str | None, on_progress: Callable[[int], object]) -> Iterator[Sighting]:
    """What an archive file saw, whoever made it; needs no home."""
    from webstrata.archive.sightings import sightings

    return sightings(path, media_type=media_type, on_progress=on_progress)


class CrawlParts(NamedTuple):
    """What everything that visits has in its hands."""

    store: SqlStore
    web: Web
    gate: PermitGate
    settler: VisitPipeline


class Node:
    """One archiver: a home, its settings and a clock. Everything else is opened from here."""

    def __init__(
        self,
        home: Home,
        settings: Settings,
        clock: Clock | None = None,
        reread: Callable[[], Settings] | None = None,
    ) -> None:
        """`reread` loads the settings again, for what may be changed while a loop runs."""
        self.home = home
        self.settings = settings
        self.clock: Clock = clock if clock is not None else RealClock()
        self._reread = reread
        self._budget: Budget | None = None
        self._budget_of = self._settings_written()

    @property
    def store_url(self) -> str:
        return self.settings.store.url or f"sqlite:///{self.home.database}"

    @property
    def software(self) -> str:
        return f"webstrata/{__version__}"

    @property
    def agent(self) -> str:
        contact = self.settings.polite.contact or "no contact set"
        return f"{self.settings.polite.robots_token}/{__version__} (web archiving; {contact})"

    @asynccontextmanager
    async def store(self) -> AsyncIterator[SqlStore]:
        store = open_store(self.store_url, self.clock)
        try:
            yield store
        finally:
            await store.close()

    def reader(self) -> WarcReader:
        from webstrata.archive.warc.reader import WarcReader

        return WarcReader(self.home.archive, self.home.index)

    def archived_bytes(self) -> int:
        from webstrata.archive.warc.walk import total_bytes

        return total_bytes(self.home.archive)

    async def check(
        self, *, repair: bool, on_progress: Callable[[int], object] = lambda count: None
    ) -> ArchiveCheckResult:
        """Scrub the archive, its index, and the store's positions against both."""
        from webstrata.archive.warc.check import ArchiveCheck

        with self.home.locked():
            scrub = ArchiveCheck(self.home.archive, self.home.index, repair=repair, on_progress=on_progress)
            scrub.run()
            async with self.store() as store:
                await self._check_store(store, scrub, repair)
                async for position, payload in store.visit_log.positions():
                    scrub.position(position, payload)
        return scrub.result

    async def _check_store(self, store: SqlStore, scrub: ArchiveCheck, repair: bool) -> None:
        """The database by itself: its files, then whether what it holds fits together."""
        sound = await store.maintenance.check_engine()
        for fault in sound.faults:
            scrub.add_store_fault(fault, _RESTORE)
        scrub.result.notes += sound.unchecked
        if sound.faults:
            return  # what such a database says of itself proves nothing
        found = left = await store.maintenance.contradictions()
        if repair and any(one.is_derived for one in found):
            await store.maintenance.recount()
            left = await store.maintenance.contradictions()
        for one in found:
            if one not in left:
                scrub.add_store_repair(one.what)
        for one in left:
            scrub.add_store_fault(one.what, _MAKE_ANEW if one.is_derived else _RESTORE)
        if stale := await store.queue.stale_leases(self.clock.now()):
            scrub.result.notes.append(f"{stale} leases ran out without a visit: the next crawl takes their pages up.")

    def reindex(self, on_progress: Callable[[int], object] = lambda count: None) -> tuple[int, int]:
        """(files, lines) of an index built anew."""
        from webstrata.archive.index.segment import reindex

        with self.home.locked():
            return reindex(self.home.archive, self.home.index, on_progress=on_progress)

    def export(
        self,
        kind: Literal["wacz", "warc", "cdxj"],
        out: Path,
        *,
        url: str | None,
        match: Match,
        since: str,
        until: str,
        on_progress: Callable[[int], object],
    ) -> int:
        """Write a selection of captures; how many."""
        from webstrata.archive.export import OpenArchive, Selection, export_cdxj, export_warc
        from webstrata.archive.wacz.writer import export_wacz

        source = OpenArchive(self.home.archive, self.home.index)
        selection = Selection(url=url, match=match, since=since, until=until)
        if kind == "cdxj":
            return export_cdxj(source, selection, out)
        write = export_wacz if kind == "wacz" else export_warc
        return write(source, selection, out, software=self.software, at=self.clock.now(), on_progress=on_progress)

    def timetable(self) -> TimerSchedule | ValueSchedule:
        """The schedule by the policy that the settings name: a timer, or one that shares the budget."""
        from webstrata.flows.crawl.value_schedule import ValueSchedule
        from webstrata.schedule.budgeted_registry import budgeted_policy, is_budgeted
        from webstrata.schedule.overrides import IntervalLimits
        from webstrata.schedule.policy import Bounds
        from webstrata.schedule.registry import policy
        from webstrata.schedule.timer_schedule import TimerSchedule

        schedule = self.settings.schedule
        min_days, max_days = schedule.min_interval / DAY_S, schedule.max_interval / DAY_S
        start_days = schedule.start_interval / DAY_S
        if is_budgeted(schedule.policy):
            bounds = Bounds(min_days=min_days, max_days=max_days, start_days=start_days)
            return ValueSchedule(budgeted_policy(schedule.policy, bounds, schedule.freshness))
        timer = policy(schedule.policy, min_days=min_days, max_days=max_days, start_days=start_days)
        return TimerSchedule(timer, IntervalLimits(schedule.min_interval, schedule.max_interval))

    def budget(self) -> Budget:
        """As the settings say now: the file may be changed while a loop runs. Flags and environment stay."""
        from webstrata.schedule.budget import Budget, parse_rate

        def read(now: BudgetSettings) -> Budget:
            return Budget(
                total=parse_rate(now.total) if now.total else None,
                tags={tag: parse_rate(text) for tag, text in now.tags.items()},
                hosts={host: parse_rate(text) for host, text in now.hosts.items()},
                saved_days=now.carry_over / DAY_S,
            )

        written = self._settings_written()
        if self._reread is not None and written != self._budget_of:
            self._budget_of = written
            try:
                self._budget = read(self._reread().budget)
            except BadSettings as problem:
                log.warning("the budget stays as it was: %s", problem)
        if self._budget is None:
            self._budget = read(self.settings.budget)
        return self._budget

    def _settings_written(self) -> int:
        try:
            return self.home.settings_file.stat().st_mtime_ns
        except OSError:
            return 0

    def _allocation(self, store: Store, gate: PermitGate, timetable: TimerSchedule | ValueSchedule) -> RoundSelector:
        """Who chooses the visits of a round."""
        from webstrata.flows.crawl.budget_ledger import BudgetLedger
        from webstrata.flows.crawl.round_selector import RoundSelector
        from webstrata.schedule.budget import ONE_A_DAY
        from webstrata.schedule.timer_schedule import TimerSchedule
        from webstrata.schedule.value import Value

        is_timer = isinstance(timetable, TimerSchedule)
        purses = BudgetLedger(
            self.budget,
            None if is_timer else ONE_A_DAY,
            least_saved_days=self.settings.crawl.round / DAY_S,
            first_price=None if isinstance(timetable.policy, Value) else 1e-6,
        )
        return RoundSelector(store=store, gate=gate, timetable=timetable, purses=purses)

    async def gate(self, store: Store) -> PermitGate:
        """The politeness gate, with all that was remembered of hosts."""
        from webstrata.permit.gate import PermitGate
        from webstrata.permit.spacing import PolitenessRules

        polite = self.settings.polite
        gate = PermitGate(
            PolitenessRules(
                agent=self.agent,
                token=polite.robots_token,
                delay_s=polite.delay,
                delay_factor=polite.delay_factor,
                max_delay_s=polite.max_delay,
                address_delay_s=polite.address_delay,
                connections_per_host=polite.connections_per_host,
                obey_robots=polite.obey_robots,
            )
        )
        gate.recall(*await store.queue.politeness())
        return gate

    def web(self) -> HttpWeb:
        from webstrata.fetch.http.client import HttpWeb
        from webstrata.fetch.http.guard import AddressGuard
        from webstrata.fetch.http.request import FetchLimits

        fetch = self.settings.fetch
        try:
            return HttpWeb(
                self.clock,
                AddressGuard(fetch.allow_private),
                FetchLimits(
                    header_bytes=fetch.max_headers,
                    body_bytes=fetch.max_body,
                    connect_s=fetch.connect_timeout,
                    first_byte_s=fetch.first_byte_timeout,
                    total_s=fetch.total_timeout,
                ),
                hosts=fetch.hosts,
                connections=fetch.connections,
                ca_file=fetch.ca_file or None,
            )
        except OSError as problem:  # nothing else is opened there
            raise BadSettings(
                f"fetch.ca_file: {fetch.ca_file} cannot be used ({problem}). Name a PEM file of certificates."
            ) from None

    def handlers(self) -> dict[str, Handler]:
        """All ways to get a page's content, by name."""
        from webstrata.fetch.handlers.browser import BrowserHandler
        from webstrata.fetch.handlers.plain import ACCEPT_FEED, ACCEPT_SITEMAP, PlainHandler
        from webstrata.fetch.handlers.rdf import RdfHandler
        from webstrata.fetch.handlers.sparql.checkpoint import Checkpoints
        from webstrata.fetch.handlers.sparql.handler import SparqlHandler
        from webstrata.fetch.handlers.sparql.whole_dataset import WholeDataset
        from webstrata.observe.data.sparql.responses import SparqlResponseParser
        from webstrata.observe.linked_data import LinkedData

        answers = SparqlResponseParser()
        known: list[Handler] = [
            PlainHandler(),
            PlainHandler("feed", ACCEPT_FEED),
            PlainHandler("sitemap", ACCEPT_SITEMAP),
            RdfHandler(LinkedData(), self.clock.working),
            SparqlHandler(answers, WholeDataset(answers, bookmarks=Checkpoints(self.home.readings))),
            BrowserHandler(self.clock, agent=self.agent),
        ]
        return {handler.name: handler for handler in known}

    async def visit_once(self, store: Store, url: str, page_rules: PageRules | None) -> VisitResult:
        """Visit a page as politely as ever, and keep nothing."""
        from webstrata.fetch.handlers.choose import chooser
        from webstrata.flows.preview import visit_once

        web = self.web()
        try:
            return await visit_once(
                url,
                page_rules,
                web=web,
                gate=await self.gate(store),
                clock=self.clock,
                choose=chooser(self.handlers()),
                max_redirects=self.settings.fetch.max_redirects,
            )
        finally:
            await web.close()

    def decoded(self, answer: Exchange) -> bytes:
        """An answer's body without its content coding, within the limits."""
        fetch = self.settings.fetch
        coding = answer.header("content-encoding")
        return decode(answer.body, coding, max_bytes=fetch.max_decoded, max_ratio=fetch.max_ratio).body

    @asynccontextmanager
    async def crawling(
        self, progress: CrawlProgress | None = None, *, wrap_web: Callable[[Web], Web] | None = None
    ) -> AsyncIterator[CrawlLoop]:
        """The whole loop, ready to run: home locked, archive repaired, leases of a dead run given back."""
        from webstrata.fetch.handlers.choose import chooser
        from webstrata.flows.crawl.loop import CrawlLoop
        from webstrata.schedule.timer_schedule import TimerSchedule

        async with self._at_work(wrap_web) as tools:
            if given_back := await tools.store.queue.end_leases(self.home.node_name):
                log.info("%d visits that an earlier run did not finish are due again", given_back)
            is_timer = isinstance(tools.settler.timetable, TimerSchedule)
            allocation = self._allocation(tools.store, tools.gate, tools.settler.timetable)
            yield CrawlLoop(
                store=tools.store,
                web=tools.web,
                clock=self.clock,
                gate=tools.gate,
                settler=tools.settler,
                owner=self.home.node_name,
                choose=chooser(self.handlers()),
                pace=self._pace(),
                progress=progress,
                slots=self._slots(tools.store, tools.gate) if is_timer else None,
                allocation=allocation,
            )
            await allocation.save()

    @asynccontextmanager
    async def capturing(self, *, wrap_web: Callable[[Web], Web] | None = None) -> AsyncIterator[CaptureService]:
        """Captures of sites, ready to run, with the same tools as the loop."""
        from webstrata.archive import journal
        from webstrata.fetch.handlers.choose import chooser
        from webstrata.flows.capture.download import CaptureDownloader
        from webstrata.flows.capture.proof import CertificateSigner
        from webstrata.flows.capture.service import CaptureService
        from webstrata.sharp.proof.signature import new_key

        key = self.home.signing_key(new_key)
        settings = self.settings.capture

        def new_journal(name: str) -> tuple[str, Journal]:
            made = journal.new_journal(self.home.captures, name, self.clock)
            return made.path.stem, made

        async with self._at_work(wrap_web) as tools:
            downloads = CaptureDownloader(
                store=tools.store,
                web=tools.web,
                gate=tools.gate,
                clock=self.clock,
                settler=tools.settler,
                choose=chooser(self.handlers()),
                max_redirects=self.settings.fetch.max_redirects,
            )
            try:
                yield CaptureService(
                    store=tools.store,
                    clock=self.clock,
                    downloads=downloads,
                    notary=CertificateSigner(
                        key=key,
                        software=self.software,
                        authority=settings.timestamp_url,
                        downloads=downloads,
                        pack=self._pack,
                        clock=self.clock,
                    ),
                    new_journal=new_journal,
                    old_journal=lambda name: journal.open_journal(self.home.captures, name, self.clock),
                    patience_s=settings.patience,
                    rest_factor=self.settings.polite.delay_factor,
                )
            finally:
                await downloads.close()

    async def _pack(self, positions: Sequence[Position], out: Path, title: str, certify: Certify) -> int:
        """Write a WACZ in a thread; its certificate may need the network, and so is made here."""
        from webstrata.archive.export import OpenArchive, records_at
        from webstrata.archive.wacz.writer import write_wacz

        loop = asyncio.get_running_loop()

        def certificate(records: dict[str, str], files: dict[str, str]) -> bytes:
            return asyncio.run_coroutine_threadsafe(certify(records, files), loop).result()

        def write() -> int:
            source = OpenArchive(self.home.archive, self.home.index)
            try:
                wanted = records_at(source.reader, positions)
                now = self.clock.now()
                return write_wacz(source, wanted, out, software=self.software, at=now, title=title, certify=certificate)
            finally:
                source.close()

        return await asyncio.to_thread(write)

    @asynccontextmanager
    async def _at_work(self, wrap_web: Callable[[Web], Web] | None) -> AsyncIterator[CrawlParts]:
        """What visits and writes: home locked, archive repaired."""
        from webstrata.archive.warc.archive import WarcArchive
        from webstrata.archive.warc.repair import repair_archive
        from webstrata.fetch.handlers.choose import handler_name
        from webstrata.flows.crawl.parser_pool import ParserPool
        from webstrata.flows.crawl.visit_pipeline import DecodeLimits, VisitPipeline

        async with AsyncExitStack() as stack:
            stack.enter_context(self.home.locked())
            for torn in repair_archive(self.home.archive, self.home.index):
                log.warning("%s: %s", torn.file, torn.what)
            store = await stack.enter_async_context(self.store())
            archive = WarcArchive(
                self.home.archive,
                index_folder=self.home.index,
                rotate_bytes=self.settings.archive.max_file_size,
                software=self.software,
                operator=self.settings.archive.operator or None,
                clock=self.clock,
            )
            stack.push_async_callback(archive.close)
            http = self.web()
            stack.push_async_callback(http.close)
            web = wrap_web(http) if wrap_web is not None else http
            gate = await self.gate(store)
            readers = ParserPool(self.settings.crawl.workers)
            stack.callback(readers.close)
            readers.start()
            settler = VisitPipeline(
                store=store,
                archive=archive,
                clock=self.clock,
                gate=gate,
                timetable=self.timetable(),
                readers=readers,
                handler_name=handler_name,
                unpacking=DecodeLimits(
                    max_decoded=self.settings.fetch.max_decoded, max_ratio=self.settings.fetch.max_ratio
                ),
            )
            yield CrawlParts(store, web, gate, settler)

    def manner(self) -> SpacingModel:
        """The spacing as planning needs it."""
        from webstrata.plan.load import SpacingModel

        polite = self.settings.polite
        return SpacingModel(
            delay_s=polite.delay,
            delay_factor=polite.delay_factor,
            max_delay_s=polite.max_delay,
            address_gap_s=polite.address_delay,
            connections_per_host=polite.connections_per_host,
        )

    def _slots(self, store: Store, gate: PermitGate) -> SlotFitter | None:
        from webstrata.flows.crawl.slot_fitter import SlotFitter

        slot_s, threads = self.settings.schedule.slot, self.settings.fetch.connections
        if not slot_s:
            return None
        return SlotFitter(store=store, gate=gate, manner=self.manner(), threads=threads, slot_s=slot_s)

    def _pace(self) -> CrawlOptions:
        from webstrata.flows.crawl.loop import CrawlOptions

        return CrawlOptions(
            round_s=self.settings.crawl.round,
            round_pages=self.settings.crawl.round_pages,
            poll_s=2.0 if isinstance(self.clock, RealClock) else float("inf"),
            lanes=self.settings.polite.connections_per_host,
            requests=self.settings.fetch.connections,
            max_redirects=self.settings.fetch.max_redirects,
        )
