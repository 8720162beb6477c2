"""`Node`: reads the settings, creates the adapters and passes them to the flows. No other file does this.

Modules that only a crawl needs (HTTP, NumPy) are imported in the methods that use them: other commands start faster.
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
    from webstrata.archive.warc.archive import WarcArchive
    from webstrata.archive.warc.check import ArchiveCheck, ArchiveCheckResult
    from webstrata.archive.warc.reader import WarcReader
    from webstrata.fetch.http.client import HttpWeb
    from webstrata.flows.capture.proof import Certify
    from webstrata.flows.capture.service import CaptureService
    from webstrata.flows.crawl.loop import CrawlLoop
    from webstrata.flows.crawl.parser_pool import ParserPool
    from webstrata.flows.crawl.polite_client import ChooseHandler
    from webstrata.flows.crawl.selection.round_selector import RoundSelector
    from webstrata.flows.crawl.visit_batcher import CrawlProgress
    from webstrata.flows.crawl.visit_pipeline import VisitPipeline
    from webstrata.permit.gate import PermitGate
    from webstrata.plan.load import SpacingModel
    from webstrata.ports import Clock, Handler, Journal, Store, Web
    from webstrata.records import Exchange, PageRules, Position, Sighting, VisitResult
    from webstrata.remember.store import SqlStore
    from webstrata.schedule.budget import Budget, DailyRate
    from webstrata.schedule.schedule import Schedule
    from webstrata.settings import BudgetSettings

log = logging.getLogger("webstrata.node")

_RESTORE = "restore the database from a backup; the archive is not affected"
_RECOMPUTE = "`webstrata check --repair` recomputes it from the other rows"


def package(path: Path) -> WaczReader:
    """A WACZ file, written by any program; needs no home."""
    from webstrata.archive.wacz.reader import WaczReader

    return WaczReader(path)


def sightings(path: Path, *, media_type: str | None, on_progress: Callable[[int], object]) -> Iterator[Sighting]:
    """The sightings of pages in an archive file, written by any program; needs no home."""
    from webstrata.archive.sightings import sightings

    return sightings(path, media_type=media_type, on_progress=on_progress)


class CrawlParts(NamedTuple):
    """What the loop and captures share."""

    store: SqlStore
    archive: WarcArchive
    web: Web
    gate: PermitGate
    schedule: Schedule
    parsers: ParserPool
    choose: ChooseHandler


class Node:
    """One archiver: a home, its settings and a clock. It opens everything else."""

    def __init__(
        self,
        home: Home,
        settings: Settings,
        clock: Clock | None = None,
        reread: Callable[[], Settings] | None = None,
        make_parsers: Callable[[int], ParserPool] | None = None,
    ) -> None:
        """`reread` loads the settings again, for those that may change while a loop runs. `make_parsers` makes the pool
        of this number of parser processes, for programs that share one between nodes."""
        self.home = home
        self.settings = settings
        self.clock: Clock = clock if clock is not None else RealClock()
        self._reread = reread
        self._make_parsers = make_parsers
        self._budget: Budget | None = None
        self._budget_version = self._settings_version()

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
        """Check the archive and its index, then the database and its positions against both."""
        from webstrata.archive.warc.check import ArchiveCheck

        with self.home.locked():
            check = ArchiveCheck(self.home.archive, self.home.index, repair=repair, on_progress=on_progress)
            check.run()
            async with self.store() as store:
                await self._check_store(store, check, repair)
                async for position, payload in store.visit_log.positions():
                    check.check_position(position, payload)
        return check.result

    async def _check_store(self, store: SqlStore, check: ArchiveCheck, repair: bool) -> None:
        """Check the files of the database, then the consistency of its rows."""
        files = await store.maintenance.check_engine()
        for fault in files.faults:
            check.add_store_fault(fault, _RESTORE)
        check.result.notes += files.unchecked
        if files.faults:
            return  # the rows of a damaged database prove nothing
        before = after = await store.maintenance.contradictions()
        if repair and any(contradiction.is_derived for contradiction in before):
            await store.maintenance.recount()
            after = await store.maintenance.contradictions()
        for contradiction in before:
            if contradiction not in after:
                check.add_store_repair(contradiction.what)
        for contradiction in after:
            check.add_store_fault(contradiction.what, _RECOMPUTE if contradiction.is_derived else _RESTORE)
        if stale := await store.queue.stale_leases(self.clock.now()):
            check.result.notes.append(f"{stale} leases expired without a visit; the next crawl visits their pages.")

    def reindex(self, on_progress: Callable[[int], object] = lambda count: None) -> tuple[int, int]:
        """Build the index again; returns the number of files and lines."""
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
        """Write a selection of captures; returns their number."""
        from webstrata.archive.export import OpenArchive, Selection, export_cdxj, export_warc
        from webstrata.archive.wacz.writer import export_wacz

        source = OpenArchive(self.home.archive, self.home.index)
        selection = Selection(url=url, match=match, since=since, until=until)
        if kind == "cdxj":
            return export_cdxj(source, selection, out)
        write = export_wacz if kind == "wacz" else export_warc
        return write(source, selection, out, software=self.software, at=self.clock.now(), on_progress=on_progress)

    def schedule(self) -> Schedule:
        """The schedule by the policy that the settings name."""
        from webstrata.schedule.policy import Bounds
        from webstrata.schedule.schedule import schedule_for

        settings = self.settings.schedule
        bounds = Bounds(
            min_days=settings.min_interval / DAY_S,
            max_days=settings.max_interval / DAY_S,
            start_days=settings.start_interval / DAY_S,
        )
        schedule = schedule_for(settings.policy, bounds, freshness=settings.freshness)
        if schedule.ranking is not None:
            total = self.budget().total
            schedule.ranking.counts_bytes = total is not None and total.unit == "bytes"
        return schedule

    def total_rate(self) -> DailyRate | None:
        """The budget of all pages: as it is set, else the default; None for a timer policy without a budget."""
        from webstrata.schedule.budget import DEFAULT_RATE
        from webstrata.schedule.registry import is_budgeted

        return self.budget().total or (DEFAULT_RATE if is_budgeted(self.settings.schedule.policy) else None)

    def budget(self) -> Budget:
        """The present budget: the settings file may change while a loop runs. Flags and environment stay."""
        from webstrata.schedule.budget import Budget, parse_rate

        def parse(settings: BudgetSettings) -> Budget:
            return Budget(
                total=parse_rate(settings.total) if settings.total else None,
                tags={tag: parse_rate(text) for tag, text in settings.tags.items()},
                hosts={host: parse_rate(text) for host, text in settings.hosts.items()},
                saved_days=settings.carry_over / DAY_S,
            )

        version = self._settings_version()
        if self._reread is not None and version != self._budget_version:
            self._budget_version = version
            try:
                self._budget = parse(self._reread().budget)
            except BadSettings as problem:
                log.warning("the settings file is not valid, so the budget stays unchanged: %s", problem)
        if self._budget is None:
            self._budget = parse(self.settings.budget)
        return self._budget

    def _settings_version(self) -> int:
        """The time at which the settings file was last written."""
        try:
            return self.home.settings_file.stat().st_mtime_ns
        except OSError:
            return 0

    async def gate(self, store: Store) -> PermitGate:
        """The permit gate, with the stored politeness of hosts."""
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
        gate.restore(*await store.queue.politeness())
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
        except OSError as problem:  # no other file is opened there
            raise BadSettings(
                f"fetch.ca_file: {fetch.ca_file} cannot be used ({problem}). Name a PEM file of certificates."
            ) from None

    def handlers(self) -> dict[str, Handler]:
        """All access handlers, by name."""
        from webstrata.fetch.handlers.browser import BrowserHandler
        from webstrata.fetch.handlers.plain import ACCEPT_FEED, ACCEPT_SITEMAP, PlainHandler
        from webstrata.fetch.handlers.rdf import RdfHandler
        from webstrata.fetch.handlers.sparql.checkpoint import Checkpoints
        from webstrata.fetch.handlers.sparql.handler import SparqlHandler
        from webstrata.fetch.handlers.sparql.whole_dataset import WholeDataset
        from webstrata.observe.data.sparql.responses import SparqlResponseParser
        from webstrata.observe.linked_data import LinkedData

        sparql = SparqlResponseParser()
        handlers: list[Handler] = [
            PlainHandler(),
            PlainHandler("feed", ACCEPT_FEED),
            PlainHandler("sitemap", ACCEPT_SITEMAP),
            RdfHandler(LinkedData(), self.clock.working),
            SparqlHandler(sparql, WholeDataset(sparql, checkpoints=Checkpoints(self.home.readings))),
            BrowserHandler(self.clock, agent=self.agent),
        ]
        return {handler.name: handler for handler in handlers}

    async def visit_once(self, store: Store, url: str, page_rules: PageRules | None) -> VisitResult:
        """Visit a page with a permit, like the loop, and store nothing."""
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

    def decoded(self, response: Exchange) -> bytes:
        """A response's body without its content coding, within the limits."""
        coding = response.header("content-encoding")
        return decode(response.body, coding, max_bytes=self.settings.fetch.max_decoded).body

    @asynccontextmanager
    async def crawling(
        self,
        progress: CrawlProgress | None = None,
        *,
        wrap_web: Callable[[Web], Web] | None = None,
        whole_batches: bool = False,
    ) -> AsyncIterator[CrawlLoop]:
        """Open the loop: lock the home, repair the archive, and end the leases of an interrupted run.

        `whole_batches`: all visits of a round are committed together, so that the result of an experiment on a
        simulated clock does not depend on the speed of the machine. A crash then costs the visits of the round.
        """
        from webstrata.flows.crawl.loop import CrawlLoop, CrawlOptions
        from webstrata.flows.crawl.selection.budget_ledger import BudgetLedger
        from webstrata.flows.crawl.selection.round_selector import RoundSelector
        from webstrata.flows.crawl.slot_fitter import SlotFitter
        from webstrata.schedule.budget import DEFAULT_RATE

        async with self._crawl_parts(wrap_web) as parts:
            if count := await parts.store.queue.end_leases(self.home.node_name):
                log.info("%d visits that an earlier run did not finish are due again", count)
            ranks = parts.schedule.ranking is not None
            ledger = BudgetLedger(
                self.budget,
                DEFAULT_RATE if ranks else None,
                least_saved_days=self.settings.crawl.round / DAY_S,
                first_price=parts.schedule.first_price,
            )
            selector = RoundSelector(store=parts.store, gate=parts.gate, schedule=parts.schedule, ledger=ledger)
            max_requests = self.settings.fetch.connections
            slot_fitter = SlotFitter(
                store=parts.store, gate=parts.gate, spacing=self.spacing_model(), threads=max_requests
            )
            yield CrawlLoop(
                store=parts.store,
                web=parts.web,
                clock=self.clock,
                gate=parts.gate,
                pipeline=self._pipeline(parts, selector),
                selector=selector,
                choose=parts.choose,
                owner=self.home.node_name,
                options=CrawlOptions(
                    round_s=self.settings.crawl.round,
                    poll_s=2.0 if isinstance(self.clock, RealClock) else float("inf"),
                    connections_per_host=self.settings.polite.connections_per_host,
                    max_requests=max_requests,
                    max_redirects=self.settings.fetch.max_redirects,
                    whole_batches=whole_batches,
                ),
                progress=progress,
                slot_fitter=None if ranks else slot_fitter,
            )
            await selector.save()

    @asynccontextmanager
    async def capturing(self, *, wrap_web: Callable[[Web], Web] | None = None) -> AsyncIterator[CaptureService]:
        """Open the service that captures sites, with the same parts as the loop."""
        from webstrata.archive import journal
        from webstrata.flows.capture.download import CaptureDownloader
        from webstrata.flows.capture.proof import CertificateSigner
        from webstrata.flows.capture.service import CaptureService
        from webstrata.sharp.proof.signature import new_key

        key = self.home.signing_key(new_key)
        settings = self.settings.capture

        def new_journal(name: str) -> tuple[str, Journal]:
            new = journal.new_journal(self.home.captures, name, self.clock)
            return new.path.stem, new

        async with self._crawl_parts(wrap_web) as parts:
            downloads = CaptureDownloader(
                store=parts.store,
                web=parts.web,
                gate=parts.gate,
                clock=self.clock,
                pipeline=self._pipeline(parts),
                choose=parts.choose,
                max_redirects=self.settings.fetch.max_redirects,
            )
            try:
                yield CaptureService(
                    store=parts.store,
                    clock=self.clock,
                    downloads=downloads,
                    signer=CertificateSigner(
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
        """Write a WACZ file in a thread. The certificate may need the network, so it is made in the event loop."""
        from webstrata.archive.export import OpenArchive, records_at
        from webstrata.archive.wacz.writer import write_wacz

        loop = asyncio.get_running_loop()

        def certificate(records: dict[str, str], files: dict[str, str]) -> bytes:
            return asyncio.run_coroutine_threadsafe(certify(records, files), loop).result()

        def write() -> int:
            source = OpenArchive(self.home.archive, self.home.index)
            try:
                chosen = records_at(source.reader, positions)
                now = self.clock.now()
                return write_wacz(source, chosen, out, software=self.software, at=now, title=title, certify=certificate)
            finally:
                source.close()

        return await asyncio.to_thread(write)

    @asynccontextmanager
    async def _crawl_parts(self, wrap_web: Callable[[Web], Web] | None) -> AsyncIterator[CrawlParts]:
        """Lock the home, repair the archive, and open what visits need. `wrap_web` may replace the HTTP client."""
        from webstrata.archive.warc.archive import WarcArchive
        from webstrata.archive.warc.repair import repair_archive
        from webstrata.fetch.handlers.choose import chooser
        from webstrata.flows.crawl.parser_pool import ParserPool

        async with AsyncExitStack() as stack:
            stack.enter_context(self.home.locked())
            for torn in repair_archive(self.home.archive, self.home.index):
                log.warning("%s: %s", torn.file, torn.what)
            store = await stack.enter_async_context(self.store())
            archive = WarcArchive(
                self.home.archive,
                index_folder=self.home.index,
                max_file_bytes=self.settings.archive.max_file_size,
                software=self.software,
                operator=self.settings.archive.operator or None,
                clock=self.clock,
            )
            stack.push_async_callback(archive.close)
            http = self.web()
            stack.push_async_callback(http.close)
            parsers = (self._make_parsers or ParserPool)(self.settings.crawl.workers)
            stack.callback(parsers.close)
            parsers.start()
            yield CrawlParts(
                store=store,
                archive=archive,
                web=wrap_web(http) if wrap_web is not None else http,
                gate=await self.gate(store),
                schedule=self.schedule(),
                parsers=parsers,
                choose=chooser(self.handlers()),
            )

    def _pipeline(self, parts: CrawlParts, selector: RoundSelector | None = None) -> VisitPipeline:
        from webstrata.flows.crawl.visit_pipeline import VisitPipeline

        return VisitPipeline(
            store=parts.store,
            archive=parts.archive,
            clock=self.clock,
            gate=parts.gate,
            schedule=parts.schedule,
            parsers=parts.parsers,
            choose=parts.choose,
            max_decoded=self.settings.fetch.max_decoded,
            selector=selector,
        )

    def spacing_model(self) -> SpacingModel:
        """The spacing of requests, for planning."""
        from webstrata.plan.load import SpacingModel

        polite = self.settings.polite
        return SpacingModel(
            delay_s=polite.delay,
            delay_factor=polite.delay_factor,
            max_delay_s=polite.max_delay,
            address_gap_s=polite.address_delay,
            connections_per_host=polite.connections_per_host,
        )
