"""`Node`: reads the settings, creates the adapters and passes them to the flows. No other file does this.

Modules that only a crawl needs (HTTP, NumPy) are imported in the methods that use them: other commands start faster.
"""

from __future__ import annotations

import asyncio
import gc
import json
import logging
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import AbstractContextManager, AsyncExitStack, asynccontextmanager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Literal, NamedTuple

from webstrata import __version__
from webstrata.clock import DAY_S, RealClock, digits14
from webstrata.coding import decode
from webstrata.errors import BadSettings, DamagedStore, StoreError, UsageError
from webstrata.home import Home
from webstrata.remember.engine import open_store, sqlite_file
from webstrata.remember.homes.named_database import NamedDatabase, decoded, named_database
from webstrata.remember.homes.store_home import is_schema_name
from webstrata.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from webstrata.archive.index.lookup import Match
    from webstrata.archive.wacz.reader import WaczReader
    from webstrata.archive.warc.reader import WarcReader
    from webstrata.fetch.http.client import HttpWeb
    from webstrata.flows.archive_requests import ArchiveRequests
    from webstrata.flows.capture.events import CaptureStarted
    from webstrata.flows.capture.proof import CapturePackage
    from webstrata.flows.capture.service import CaptureService
    from webstrata.flows.capture.signing_keys import SigningKeys
    from webstrata.flows.crawl.clock_steps import ClockSteps
    from webstrata.flows.crawl.loop import CrawlLoop
    from webstrata.flows.crawl.requests.host_leases import HostLeases
    from webstrata.flows.crawl.requests.polite_client import ChooseHandler
    from webstrata.flows.crawl.selection.round_selector import RoundSelector
    from webstrata.flows.crawl.visit_batcher import CrawlProgress
    from webstrata.flows.crawl.visit_pipeline import VisitPipeline
    from webstrata.flows.maintenance.rebuild import RebuildResult
    from webstrata.flows.parsers.parser_pool import ParserPool
    from webstrata.flows.updates.page_forecast import PageClasses
    from webstrata.permit.gate import PermitGate
    from webstrata.plan.load import SpacingModel
    from webstrata.ports import Archive, Clock, CopySource, Handler, Journal, Store, Web
    from webstrata.predict.activity import Belief
    from webstrata.predict.first_sight.model import FirstSightModel
    from webstrata.records import CheckResult, Exchange, PageRules, Sighting, VisitResult
    from webstrata.remember.store import SqlStore
    from webstrata.schedule.budget import Budget, DailyRate
    from webstrata.schedule.schedule import Schedule
    from webstrata.settings import BudgetSettings
    from webstrata.sharp.proof.capture_log import ChainedPackage
    from webstrata.sharp.proof.signature import PackageSigner
    from webstrata.wanted_pages import WantedPages

log = logging.getLogger("webstrata.node")

CLOCK_DIFFERENCE_S = 1.0
"""The clocks of machines that share a PostgreSQL store differ by at most this; politeness depends on it."""


def store_address(url: str) -> str:
    """The URL of a database as a settings file holds it: valid, and with an absolute path for an SQLite file."""
    file = sqlite_file(url) if url else None
    return f"sqlite:///{file.absolute()}" if file is not None else url


def missing_browser() -> str:
    """What to install before pages can be rendered; empty if nothing is missing."""
    from webstrata.fetch.handlers.browser import find_chromium, missing_software

    return missing_software(find_chromium())


def package(path: Path) -> WaczReader:
    """A WACZ file, written by any program; needs no home."""
    from webstrata.archive.wacz.reader import WaczReader

    return WaczReader(path)


def output_file(out: Path) -> AbstractContextManager[BinaryIO]:
    """A file to write that replaces `out` when it is complete; needs no home."""
    from webstrata.archive.export import atomic_file

    return atomic_file(out)


def sightings(
    paths: Sequence[Path],
    *,
    media_type: str | None,
    longest_download_s: float,
    on_progress: Callable[[int], object],
    on_damage: Callable[[object], object],
) -> Iterator[Sighting]:
    """The sightings of pages in archive files, written by any program; needs no home."""
    from webstrata.archive.sightings import sightings

    return sightings(
        *paths,
        media_type=media_type,
        longest_download_s=longest_download_s,
        on_progress=on_progress,
        on_damage=on_damage,
        signature=signature_faults,
    )


def archive_files_in(paths: Sequence[Path]) -> list[Path]:
    """The archive files and packages among these paths and in these folders, at any depth, sorted in each folder.

    Raises UsageError for a folder without any.
    """
    from webstrata.archive.warc.walk import SUFFIXES, plain_name

    found: list[Path] = []
    for path in paths:
        if not path.is_dir():
            found.append(path)
            continue
        inside = [file for file in sorted(path.rglob("*")) if plain_name(file.name).endswith((*SUFFIXES, ".wacz"))]
        if not inside:
            raise UsageError(
                f"there is no .warc.gz, .warc, .arc.gz, .arc or .wacz file in {path}. Name another folder."
            )
        found += inside
    return list(dict.fromkeys(found))


def signature_faults(document: dict[str, Any], datapackage: bytes) -> Sequence[str]:
    """The faults of the signature in `datapackage-digest.json`; none if there is no signature."""
    if document.get("signedData") is None:  # then the packages for signatures are not needed
        return ()
    from webstrata.sharp.proof.wacz_auth import checked_signature

    signature = checked_signature(document, datapackage)
    return signature.problems if signature is not None else ()


def chained_package(path: Path) -> ChainedPackage | str:
    """The place of a package in the chain of its site; why it has none, if its signature or certificate is wrong."""
    from webstrata.archive.wacz.writer import CERTIFICATE
    from webstrata.sharp.proof.capture_log import stated_package
    from webstrata.sharp.proof.wacz_auth import checked_signature

    with package(path) as opened:
        data, about, digest = (
            opened.read(name) for name in (CERTIFICATE, "datapackage.json", "datapackage-digest.json")
        )
        listed = opened.digest(CERTIFICATE)
    try:
        document, described, certificate = (json.loads(part or b"") for part in (digest, about, data))
        resources = {one["path"]: one["hash"] for one in described["resources"]}
        signature = checked_signature(document, about or b"")
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return "it is not a package of a capture: files are missing or cannot be parsed"
    if signature is None or signature.problems:
        return f"its signature is not valid: {signature.problems[0] if signature else 'there is none'}"
    if resources.get(CERTIFICATE) != listed:
        return "its certificate is not the signed one"
    stated = stated_package(certificate, file=path.name, digest=listed, key=signature.fingerprint)
    return stated if stated is not None else "its certificate states no place in a chain"


@contextmanager
def _fewer_collections() -> Iterator[None]:
    """Search for reference cycles less often: a crawl makes few, and the searches took 6 % of its processor time."""
    before = gc.get_threshold()
    gc.set_threshold(20_000, *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)


class CrawlParts(NamedTuple):
    """What the loop and captures share."""

    store: SqlStore
    archive: Archive
    web: Web
    gate: PermitGate
    leases: HostLeases | None
    schedule: Schedule
    parsers: ParserPool
    choose: ChooseHandler
    clock_steps: ClockSteps
    connections: int
    """Connections that may be in use at a time."""


class Node:
    """One archiver: a home, its settings and a clock. It opens everything else."""

    def __init__(
        self,
        home: Home,
        settings: Settings,
        clock: Clock | None = None,
        reread: Callable[[], Settings] | None = None,
        make_parsers: Callable[[int], ParserPool] | None = None,
        creates_database: bool = True,
    ) -> None:
        """`reread` loads the settings again, for those that may change while a loop runs. `make_parsers` makes the pool
        of this number of parser processes, for programs that share one between nodes. `creates_database`: a home that
        never had a database gets one; otherwise that is an error."""
        self.home = home
        self.settings = settings
        self.clock: Clock = clock if clock is not None else RealClock()
        self._reread = reread
        self._make_parsers = make_parsers
        self._creates_database = creates_database
        self._budget: Budget | None = None
        self._budget_version = self._settings_version()
        self._first_sight: FirstSightModel | None = None

    def first_sight_model(self) -> FirstSightModel:
        """The classifier that was trained for this home, else the shipped one. Raises UsageError if it is damaged."""
        from webstrata.predict.first_sight.default_model import default_model
        from webstrata.predict.first_sight.model_file import decode

        return decode(self.home.model.read_bytes()) if self.home.model.exists() else default_model()

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

    def database(self) -> NamedDatabase:
        """The database of the home. Raises HomeError if the settings name another one than that it was made for."""
        schema = self.settings.store.schema
        if schema and not is_schema_name(schema):
            raise BadSettings(
                f"store.schema: {schema!r} cannot be the name of a schema. Use up to 40 lower-case letters, digits and "
                "underscores, beginning with a letter."
            )
        recorded = self._recorded_database()
        named = named_database(
            self.settings.store.url,
            schema,
            node=self.home.node_name,
            own_file=self.home.database,
            recorded=recorded,
        )
        if recorded is not None:
            named.require_same(recorded, self.home.path)
        if schema and named.kind != "postgresql":
            raise BadSettings("store.schema needs a PostgreSQL database. Remove it, or set store.url.")
        return named

    def _recorded_database(self) -> NamedDatabase | None:
        """The database for which the home was made; None if it never had one."""
        text = self.home.recorded_database()
        return decoded(text, self.home.path) if text is not None else None

    @asynccontextmanager
    async def store(self, *, locked: bool = False) -> AsyncIterator[SqlStore]:
        """Open the database. Only a home that was never used gets a new one; `locked`: the caller holds the lock."""
        named, recorded = self.database(), self._recorded_database()
        if file := sqlite_file(self.store_url):
            self.home.require_log(file, locked=locked)
        is_new = recorded is None and not self.home.has_captures()
        try:
            store = open_store(
                self.store_url,
                self.clock,
                create=is_new and self._creates_database,
                home=named.store_home(self.home.node_name),
            )
        except StoreError as problem:
            if recorded is None and not self._creates_database:
                problem.args = (f"{problem} If the home is new: `webstrata init` creates its database.",)
            elif recorded is not None and recorded.url != named.url:
                remedy = recorded.remedy(self.home.path)
                problem.args = (f"{problem} This home was made for the database {recorded}. {remedy}",)
            raise
        self.home.remember_database(named.encoded())
        try:
            yield store
        finally:
            await store.close()

    async def database_damage(self) -> DamagedStore | None:
        """The damage of the SQLite database, if it has any; reads the whole file."""
        from webstrata.remember.db_thread import damaged

        if sqlite_file(self.store_url) is None:
            return None
        try:
            async with self.store() as store:
                faults = (await store.maintenance.check_engine()).faults
                faults = faults or (await store.maintenance.changed_rows()).faults
        except DamagedStore as problem:
            return problem
        return damaged(faults[0], self.store_url) if faults else None

    def reader(self) -> WarcReader:
        from webstrata.archive.warc.reader import WarcReader

        max_body_bytes = self.settings.fetch.max_parsed
        return WarcReader(self.home.archive, self.home.index, self.home.node_name, max_body_bytes=max_body_bytes)

    def archived_bytes(self) -> int:
        from webstrata.archive.warc.walk import total_bytes

        return total_bytes(self.home.archive)

    async def check(
        self, *, repair: bool, deep: bool = False, on_progress: Callable[[int], object] = lambda count: None
    ) -> CheckResult:
        """Check the archive and its index, then the database and its positions against both.

        `deep`: also compare every value of the database with its checksum, and the log with the records in full.
        """
        from webstrata.archive.warc.check import ArchiveCheck
        from webstrata.flows.maintenance.store_check import StoreCheck
        from webstrata.records import FindingKind

        with self.home.locked() if repair else self.home.undisturbed():
            check = ArchiveCheck(self.home.archive, self.home.index, repair=repair, on_progress=on_progress)
            check.run()
            try:
                async with self.store(locked=True) as store:
                    names = await store.maintenance.homes() if self.database().shares else []
                    check.other_homes = [name for name in names if name != self.home.node_name]
                    found = check.findings
                    await StoreCheck(store, check, found, repair=repair, deep=deep).run(self.clock.now())
            except DamagedStore as problem:  # it cannot be opened; the archive was checked without it
                check.findings.add(FindingKind.DATABASE_FILE, problem.fault)
        return check.result

    def reindex(self, on_progress: Callable[[int], object] = lambda count: None) -> tuple[int, int]:
        """Build the index again; returns the number of files and lines."""
        from webstrata.archive.index.segment import reindex

        with self.home.locked():
            return reindex(self.home.archive, self.home.index, on_progress=on_progress)

    async def rebuild(
        self, *, replace: bool, on_progress: Callable[[int], object] = lambda count: None
    ) -> tuple[RebuildResult, list[str]]:
        """Make index and database again from the WARC files; returns also the new names of the files in the way."""
        from webstrata.archive.index.segment import reindex
        from webstrata.archive.warc.repair import repair_archive
        from webstrata.archive.warc.visits import ArchivedVisits
        from webstrata.fetch.handlers.choose import chooser
        from webstrata.flows.crawl.clock_steps import ClockSteps
        from webstrata.flows.maintenance.lost_facts import lost_facts
        from webstrata.flows.maintenance.rebuild import Rebuild, RecordedArchive
        from webstrata.flows.parsers.parser_pool import ParserPool
        from webstrata.remember.integrity.replacement import DatabaseReplacement

        async with AsyncExitStack() as stack:
            stack.enter_context(self.home.locked())
            named = self.database()
            replacement = DatabaseReplacement(self.store_url, self.clock, named.store_home(self.home.node_name))
            store = replacement.open(replace=replace)
            stack.push_async_callback(store.close)
            for torn in repair_archive(self.home.archive, self.home.index):
                log.warning("%s: %s", torn.file, torn.what)
            reindex(self.home.archive, self.home.index, on_progress=on_progress)
            reader = self.reader()
            stack.callback(reader.close)
            web = self.web()
            stack.push_async_callback(web.close)
            parsers = (self._make_parsers or ParserPool)(self.settings.crawl.workers)
            stack.callback(parsers.close)
            parsers.start()
            archive = RecordedArchive(reader.read)
            parts = CrawlParts(
                store=store,
                archive=archive,
                web=web,
                gate=await self.gate(store),
                leases=None,
                schedule=self.schedule(),
                parsers=parsers,
                choose=chooser(self.handlers(parsers)),
                clock_steps=ClockSteps(clock=self.clock, store=store),
                connections=web.connections,
            )
            visits = ArchivedVisits(self.home.archive, reader, on_progress=on_progress)
            rebuild = Rebuild(
                store=store,
                pipeline=self._pipeline(parts),
                archive=archive,
                schedule=parts.schedule,
                gate=parts.gate,
            )
            result = await rebuild.run(visits)
            result.unreadable = visits.unreadable
            result.lost = lost_facts({**replacement.lost_counts(), "durations": result.visits})
            await store.close()
            kept = replacement.put_in_place(digits14(self.clock.now()))
            self.home.remember_database(named.encoded())
            self.home.database_replaced()
        return result, kept

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
        from webstrata.archive.wacz.pages import PackagePages
        from webstrata.archive.wacz.writer import PackageOrder, export_wacz
        from webstrata.observe.html.page_text import page_text

        source = OpenArchive(self.home.archive, self.home.index)
        selection = Selection(url=url, match=match, since=since, until=until)
        if kind == "cdxj":
            return export_cdxj(source, selection, out)
        now = self.clock.now()
        if kind == "warc":
            return export_warc(source, selection, out, software=self.software, at=now, on_progress=on_progress)
        order = PackageOrder(software=self.software, pages=PackagePages(describe=page_text))
        return export_wacz(source, selection, out, order, at=now, on_progress=on_progress)

    def index_file(self, path: Path, archive: str = "") -> CopySource:
        """The copies that a CDX or CDXJ file lists."""
        from webstrata.history.index_file import IndexFile

        return IndexFile(path, archive=archive, now=self.clock.now())

    def gaps_file(self, path: Path, archive: str = "", until: float | None = None) -> CopySource:
        """The copies for which a list of observations stands, the last ones at `until`."""
        from webstrata.history.gaps import GapsFile

        return GapsFile(path, archive=archive, until=until, now=self.clock.now())

    def parquet_copies(self, path: Path, archive: str = "", template: str = "") -> CopySource:
        """The copies in a Parquet file; `template` makes URLs of the names of pages. Needs pyarrow."""
        try:
            from webstrata.history.parquet import ParquetCopies
        except ImportError:
            raise UsageError("Parquet needs pyarrow: `pip install 'webstrata[lab]'`.") from None
        return ParquetCopies(path, archive=archive, template=template, now=self.clock.now())

    @asynccontextmanager
    async def content_files(
        self, paths: Sequence[Path], archive: str, wanted: WantedPages
    ) -> AsyncIterator[list[CopySource]]:
        """The copies in WARC, ARC and WACZ files, with their contents: parser processes run while they are read."""
        from webstrata.archive.contents import ContentFile
        from webstrata.flows.import_contents import ContentSource
        from webstrata.flows.original_contents import OriginalContents
        from webstrata.flows.parsers.parser_pool import ParserPool
        from webstrata.history.import_key import archive_name, file_key

        max_body_bytes = self.settings.fetch.max_parsed
        files = [ContentFile(path, max_body_bytes=max_body_bytes, signature=signature_faults) for path in paths]
        parsers = (self._make_parsers or ParserPool)(self.settings.crawl.workers)
        try:
            parsers.start()
            await parsers.check()
            originals = OriginalContents()
            yield [
                ContentSource(
                    key=file_key("warc", file.path, file.size, file.beginning),
                    read=file.read,
                    parsers=parsers,
                    originals=originals,
                    wanted=wanted,
                    archive=archive,
                    default_archive=archive_name(file.path),
                    now=self.clock.now(),
                    max_decoded=self.settings.fetch.max_decoded,
                )
                for file in files
            ]
        finally:
            parsers.close()

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
            schedule.ranking.importance = settings.importance
            if settings.first_sight:
                schedule.ranking.first_sight = self._expected_levels
        return schedule

    def _expected_levels(self, features: Sequence[Mapping[str, float]]) -> Belief:
        """What the classifier expects of pages with these first contents. It is read when the first page is seen."""
        from webstrata.predict.first_sight.training_pages import feature_rows

        if self._first_sight is None:
            self._first_sight = self.first_sight_model()
        return self._first_sight.levels(feature_rows(features, self._first_sight.features))

    def page_classes(self) -> PageClasses:
        """Names the class of pages by their static features; None if no features of a page are known."""
        from webstrata.predict.first_sight.training_pages import feature_rows

        model = self.first_sight_model()

        def classes(features: Sequence[Mapping[str, float] | None]) -> list[str | None]:
            groups = model.groups_of(feature_rows(features, model.features)).tolist()
            return [
                None if of is None else model.groups.names[group] for of, group in zip(features, groups, strict=True)
            ]

        return classes

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

    async def gate(self, store: Store, *, delay_s: float | None = None, obey_robots: bool | None = None) -> PermitGate:
        """The permit gate, with the stored politeness of hosts. The arguments replace settings."""
        from webstrata.permit.gate import PermitGate
        from webstrata.permit.spacing import PolitenessRules

        polite = self.settings.polite
        gate = PermitGate(
            PolitenessRules(
                agent=self.agent,
                token=polite.robots_token,
                delay_s=polite.delay if delay_s is None else delay_s,
                delay_factor=polite.delay_factor,
                max_delay_s=polite.max_delay,
                address_delay_s=polite.address_delay,
                connections_per_host=polite.connections_per_host,
                obey_robots=polite.obey_robots if obey_robots is None else obey_robots,
            )
        )
        gate.restore(*await store.queue.politeness())
        return gate

    @asynccontextmanager
    async def host_leases(self, store: Store, gate: PermitGate) -> AsyncIterator[HostLeases | None]:
        """The leases of hosts of this process; none with a simulated clock, which no other process shares."""
        from webstrata.flows.crawl.requests.host_leases import HostLeases

        if not isinstance(self.clock, RealClock):
            yield None
            return
        is_shared = not self.store_url.startswith("sqlite:")  # by other machines
        leases = HostLeases(
            store=store.hosts,
            gate=gate,
            clock=self.clock,
            node_name=self.home.node_name,
            clock_difference_s=CLOCK_DIFFERENCE_S if is_shared else 0.0,
        )
        try:
            yield leases
        finally:
            await leases.close()

    @asynccontextmanager
    async def cdx_servers(
        self,
        server: str,
        patterns: Sequence[str],
        *,
        since: float | None = None,
        until: float | None = None,
        archive: str = "",
        per_minute: float | None = None,
        refresh: bool = False,
    ) -> AsyncIterator[Sequence[CopySource]]:
        """The copies that a CDX server lists, for each of these patterns of pages."""
        from webstrata.history.cdx_query import cdx_query
        from webstrata.history.cdx_server import CdxServer

        queries = [cdx_query(pattern, since, until) for pattern in patterns]
        now = self.clock.now()
        async with self.archive_requests(per_minute=per_minute, refresh=refresh) as requests:
            yield [CdxServer(server, query, requests=requests, now=now, archive=archive) for query in queries]

    @asynccontextmanager
    async def timemaps(
        self,
        texts: Sequence[str],
        *,
        server: str | None = None,
        archive: str = "",
        per_minute: float | None = None,
        refresh: bool = False,
    ) -> AsyncIterator[Sequence[CopySource]]:
        """The copies that TimeMaps list: files, URLs of TimeMaps, and pages whose TimeMaps a server has."""
        from webstrata.history.timemap_source import TimeMaps, timemap_origin

        origins = [timemap_origin(text, server) for text in texts]
        now = self.clock.now()
        async with AsyncExitStack() as stack:
            requests = None
            if not all(isinstance(origin, Path) for origin in origins):
                opened = self.archive_requests(per_minute=per_minute, refresh=refresh)
                requests = await stack.enter_async_context(opened)
            yield [TimeMaps(origin, requests=requests, now=now, archive=archive) for origin in origins]

    @asynccontextmanager
    async def archive_requests(
        self, *, per_minute: float | None = None, refresh: bool = False
    ) -> AsyncIterator[ArchiveRequests]:
        """Requests to the servers of other archives: at most so many per minute and host (default: 24)."""
        from webstrata.flows.archive_requests import REQUESTS_PER_MINUTE, ArchiveRequests
        from webstrata.flows.crawl.requests.polite_client import PoliteClient
        from webstrata.history.answer_cache import AnswerCache

        delay_s = 60 / per_minute if per_minute else max(60 / REQUESTS_PER_MINUTE, self.settings.polite.delay)
        async with AsyncExitStack() as stack:
            store = await stack.enter_async_context(self.store())
            gate = await self.gate(store, delay_s=delay_s, obey_robots=False)
            leases = await stack.enter_async_context(self.host_leases(store, gate))
            web = self.web()
            stack.push_async_callback(web.close)
            client = PoliteClient(web, gate, self.clock, leases=leases)
            stack.push_async_callback(client.close)
            yield ArchiveRequests(
                client,
                self.clock,
                AnswerCache(self.home.answers),
                max_decoded=self.settings.fetch.max_decoded,
                total_s=self.settings.fetch.total_timeout,
                refresh=refresh,
            )

    def web(self) -> HttpWeb:
        from webstrata.archive.warc.room import free_bytes
        from webstrata.fetch.http.body_spool import BodySpool
        from webstrata.fetch.http.client import HttpWeb
        from webstrata.fetch.http.guard import AddressGuard
        from webstrata.fetch.http.request import FetchLimits
        from webstrata.flows.crawl.requests.request_slots import OPEN_PER_SLOT

        fetch = self.settings.fetch
        try:
            return HttpWeb(
                self.clock,
                AddressGuard(fetch.allow_private),
                FetchLimits(
                    header_bytes=fetch.max_headers,
                    body_bytes=fetch.max_body,
                    memory_bytes=fetch.max_parsed,
                    connect_s=fetch.connect_timeout,
                    first_byte_s=fetch.first_byte_timeout,
                    total_s=fetch.total_timeout,
                ),
                hosts=fetch.hosts,
                connections=OPEN_PER_SLOT * fetch.connections,
                ca_file=fetch.ca_file or None,
                max_memory=fetch.max_memory,
                name_servers=fetch.name_servers,
                spool=BodySpool(self.home.archive, reserve=self.settings.archive.reserve, free=free_bytes),
            )
        except OSError as problem:  # no other file is opened there
            raise self._bad_ca_file(problem) from None

    def _bad_ca_file(self, problem: OSError) -> BadSettings:
        file = self.settings.fetch.ca_file
        return BadSettings(f"fetch.ca_file: {file} cannot be used ({problem}). Name a PEM file of certificates.")

    def require_usable(self) -> None:
        """Raise BadSettings if a policy or a file that visits need cannot be used; before anything is opened."""
        from webstrata.fetch.http.client import tls_context

        self.schedule()
        try:
            tls_context(self.settings.fetch.ca_file or None)
        except OSError as problem:
            raise self._bad_ca_file(problem) from None

    def handlers(self, pool: ParserPool) -> dict[str, Handler]:
        """All access handlers, by name. They decode and parse in the processes of the pool."""
        from webstrata.fetch.handlers.browser import BrowserHandler
        from webstrata.fetch.handlers.plain import ACCEPT_FEED, ACCEPT_SITEMAP, PlainHandler
        from webstrata.fetch.handlers.rdf import RdfHandler
        from webstrata.fetch.handlers.sparql.checkpoint import Checkpoints
        from webstrata.fetch.handlers.sparql.handler import SparqlHandler
        from webstrata.fetch.handlers.sparql.whole_dataset import WholeDataset
        from webstrata.flows.parsers.handler_parsers import HandlerParsers

        parsers = HandlerParsers(pool, self.clock.working)
        handlers: list[Handler] = [
            PlainHandler(),
            PlainHandler("feed", ACCEPT_FEED),
            PlainHandler("sitemap", ACCEPT_SITEMAP),
            RdfHandler(parsers),
            SparqlHandler(parsers, WholeDataset(parsers, checkpoints=Checkpoints(self.home.readings))),
            BrowserHandler(self.clock, parsers, agent=self.agent),
        ]
        return {handler.name: handler for handler in handlers}

    async def visit_once(self, store: Store, url: str, page_rules: PageRules | None) -> VisitResult:
        """Visit a page with a permit, like the loop, and store nothing but the politeness of its host."""
        from webstrata.fetch.handlers.choose import chooser
        from webstrata.flows.parsers.parser_pool import ParserPool
        from webstrata.flows.preview import visit_once

        gate = await self.gate(store)
        async with AsyncExitStack() as stack:
            leases = await stack.enter_async_context(self.host_leases(store, gate))
            web = self.web()
            stack.push_async_callback(web.close)
            parsers = ParserPool(1)
            stack.callback(parsers.close)
            return await visit_once(
                url,
                page_rules,
                web=web,
                gate=gate,
                leases=leases,
                clock=self.clock,
                choose=chooser(self.handlers(parsers)),
                max_redirects=self.settings.fetch.max_redirects,
            )

    def decoded(self, response: Exchange) -> bytes:
        """A response's body without its content coding, within the limits."""
        coding = response.header("content-encoding")
        return decode(response.body, coding, max_bytes=self.settings.fetch.max_decoded).body

    def _large_body_s(self) -> float:
        """How long a body may take beyond `fetch.total_timeout`: as long for each part that fits into memory."""
        fetch = self.settings.fetch
        return fetch.total_timeout * max(0.0, fetch.max_body / max(1, fetch.max_parsed) - 1)

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
        from webstrata.flows.crawl.host_lanes import VisitLimits
        from webstrata.flows.crawl.loop import CrawlLoop, CrawlOptions
        from webstrata.flows.crawl.own_faults import OwnFaults
        from webstrata.flows.crawl.selection.budget_ledger import BudgetLedger
        from webstrata.flows.crawl.selection.round_selector import RoundSelector
        from webstrata.flows.crawl.selection.slot_fitter import SlotFitter
        from webstrata.flows.learn_copies import learn_copies
        from webstrata.schedule.budget import DEFAULT_RATE

        async with self._crawl_parts(wrap_web) as parts:
            if count := await parts.store.queue.end_leases(self.home.node_name):
                log.info("%d visits that an earlier run did not finish are due again", count)
            if learned := (await learn_copies(parts.store, parts.schedule, self.clock.now())).pages:
                log.info("the policy has learned from copies of %d pages in archives", learned)
            ranks = parts.schedule.ranking is not None
            ledger = BudgetLedger(
                self.budget,
                DEFAULT_RATE if ranks else None,
                least_saved_days=self.settings.crawl.round / DAY_S,
                first_price=parts.schedule.first_price,
            )
            selector = RoundSelector(store=parts.store, gate=parts.gate, schedule=parts.schedule, ledger=ledger)
            parts.clock_steps.listeners.append(selector.stepped)
            parts.clock_steps.lock = selector.memory
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
                    # Simulated years are crawled in rounds, as the lab does: claims by the second would take days.
                    claim_interval_s=1.0 if isinstance(self.clock, RealClock) else self.settings.crawl.round,
                    poll_s=2.0 if isinstance(self.clock, RealClock) else float("inf"),
                    connections_per_host=self.settings.polite.connections_per_host,
                    max_requests=max_requests,
                    max_open=parts.connections,
                    max_redirects=self.settings.fetch.max_redirects,
                    limits=VisitLimits(
                        max_requests=self.settings.fetch.visit_requests,
                        visit_s=self.settings.fetch.visit_timeout,
                        total_s=self.settings.fetch.total_timeout,
                        large_s=self._large_body_s(),
                    ),
                    stop_s=self.settings.crawl.stop_timeout,
                    whole_batches=whole_batches,
                ),
                clock_steps=parts.clock_steps,
                check_archive=parts.archive.check_writable,
                leases=parts.leases,
                faults=OwnFaults(self.home.note_fault),
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
        from webstrata.flows.parsers.handler_parsers import HandlerParsers

        self.home.require_writable()
        signer = self._package_signer()
        settings = self.settings.capture

        def new_journal(name: str) -> tuple[str, Journal]:
            new = journal.new_journal(self.home.captures, name, self.clock)
            return new.path.stem, new

        async with self._crawl_parts(wrap_web) as parts:
            downloads = CaptureDownloader(
                store=parts.store,
                web=parts.web,
                gate=parts.gate,
                leases=parts.leases,
                clock=self.clock,
                pipeline=self._pipeline(parts),
                choose=parts.choose,
                parsers=HandlerParsers(parts.parsers, self.clock.working),
                max_redirects=self.settings.fetch.max_redirects,
            )
            try:
                yield CaptureService(
                    store=parts.store,
                    clock=self.clock,
                    downloads=downloads,
                    signer=CertificateSigner(
                        signer=signer,
                        software=self.software,
                        authority=settings.timestamp_url,
                        downloads=downloads,
                        pack=self._pack,
                        chain=journal.capture_log(self.home.captures, self.clock),
                        clock=self.clock,
                    ),
                    new_journal=new_journal,
                    old_journal=lambda name: journal.open_journal(self.home.captures, name, self.clock),
                    patience_s=settings.patience,
                    rest_factor=self.settings.polite.delay_factor,
                )
            finally:
                await downloads.close()

    def recorded_capture(self, name: str) -> CaptureStarted:
        """How a capture was begun. Raises UsageError if there is no such capture."""
        from webstrata.archive import journal
        from webstrata.flows.capture.recorded import recorded_start

        return recorded_start(name, journal.open_journal(self.home.captures, name, self.clock).lines())

    def unfinished_captures(self) -> list[str]:
        """The captures that did not reach their end, the one that was written to last at the end."""
        from webstrata.archive import journal
        from webstrata.flows.capture.recorded import is_unfinished

        known = journal.captures(self.home.captures, self.clock)
        return [one.path.stem for one in known if is_unfinished(one.lines())]

    def signing_keys(self) -> SigningKeys:
        """The keys that sign packages of captures."""
        from webstrata.archive.key_folder import KeyFolder
        from webstrata.flows.capture.signing_keys import SigningKeys

        return SigningKeys(KeyFolder(self.home.keys), self.clock)

    def _package_signer(self) -> PackageSigner:
        """The signer in the name of the domain that the settings name; without one, with the key of the home."""
        from webstrata.sharp.proof.signature import PackageSigner

        settings = self.settings.capture
        if not settings.domain_key and not settings.domain_certificate:
            return self.signing_keys().signer(self.home.node_name)
        if not settings.domain_key or not settings.domain_certificate:
            raise BadSettings("capture.domain_key and capture.domain_certificate belong together. Set both or none.")
        try:
            key, chain = Path(settings.domain_key).read_bytes(), Path(settings.domain_certificate).read_bytes()
        except OSError as problem:
            raise BadSettings(
                f"capture.domain_key or capture.domain_certificate cannot be read: {problem}. Name PEM files."
            ) from None
        signer = PackageSigner(key, chain, origin=settings.domain_key)
        signer.require_valid(self.clock.now())
        return signer

    def capture_log(self) -> list[bytes]:
        """The lines of the log of certificates."""
        from webstrata.archive import journal

        return journal.capture_log(self.home.captures, self.clock).lines()

    async def _pack(self, package: CapturePackage) -> int:
        """Write a WACZ file in a thread. The signature may need the network, so it is made in the event loop."""
        from webstrata.archive.export import ExportedRecords, OpenArchive, records_at
        from webstrata.archive.wacz.pages import PackagePages
        from webstrata.archive.wacz.writer import PackageOrder, write_wacz
        from webstrata.observe.html.page_text import page_text
        from webstrata.sharp.proof.certificate import PackedArchive

        loop = asyncio.get_running_loop()

        def certify(copied: ExportedRecords, files: dict[str, str]) -> bytes:
            packed = PackedArchive(records=copied.digests, captures=copied.captures, files=files)
            return asyncio.run_coroutine_threadsafe(package.certify(packed), loop).result()

        def sign(digest: str, created: float) -> dict[str, str]:
            return asyncio.run_coroutine_threadsafe(package.sign(digest, created), loop).result()

        order = PackageOrder(
            software=self.software,
            title=package.title,
            pages=PackagePages(
                seeds=package.seeds,
                pages=package.pages,
                since=package.since,
                nearest_to=package.instant,
                describe=page_text,
            ),
            certify=certify,
            sign=sign,
        )

        def write() -> int:
            source = OpenArchive(self.home.archive, self.home.index)
            try:
                chosen = records_at(source.reader, package.positions)
                return write_wacz(source, chosen, package.out, order, now=self.clock.now)
            finally:
                source.close()

        return await asyncio.to_thread(write)

    @asynccontextmanager
    async def _crawl_parts(self, wrap_web: Callable[[Web], Web] | None) -> AsyncIterator[CrawlParts]:
        """Lock the home, repair the archive, and open what visits need. `wrap_web` may replace the HTTP client."""
        from webstrata.archive.warc.archive import WarcArchive
        from webstrata.archive.warc.repair import repair_archive
        from webstrata.fetch.handlers.choose import chooser
        from webstrata.flows.crawl.clock_steps import ClockSteps
        from webstrata.flows.parsers.parser_pool import ParserPool
        from webstrata.flows.parsers.unparsable import MAX_CONTENTS, UnparsableContents

        async with AsyncExitStack() as stack:
            stack.enter_context(_fewer_collections())
            stack.enter_context(self.home.locked())
            for torn in repair_archive(self.home.archive, self.home.index):
                log.warning("%s: %s", torn.file, torn.what)
            store = await stack.enter_async_context(self.store(locked=True))
            clock_steps = ClockSteps(clock=self.clock, store=store, longest_gap_s=self.settings.polite.max_delay)
            await clock_steps.check()  # moves stored times, before any is read
            gate = await self.gate(store)
            stack.enter_context(self.home.writing())  # the store has a connection now, and with it the database a log
            clock_steps.listeners.append(gate.shift)
            leases = await stack.enter_async_context(self.host_leases(store, gate))
            if leases is not None:
                clock_steps.listeners.append(leases.shift)
            archive = WarcArchive(
                self.home.archive,
                index_folder=self.home.index,
                max_file_bytes=self.settings.archive.max_file_size,
                reserve=self.settings.archive.reserve,
                max_body_bytes=self.settings.fetch.max_parsed,
                software=self.software,
                operator=self.settings.archive.operator or None,
                node_name=self.home.node_name,
                clock=self.clock,
            )
            stack.push_async_callback(archive.close)
            http = self.web()
            stack.push_async_callback(http.close)
            parsers = (self._make_parsers or ParserPool)(self.settings.crawl.workers)
            parsers.unparsable = UnparsableContents(
                await store.visit_log.unparsable(MAX_CONTENTS), store.visit_log.add_unparsable
            )
            stack.callback(parsers.close)
            parsers.start()
            await parsers.check()
            yield CrawlParts(
                store=store,
                archive=archive,
                web=wrap_web(http) if wrap_web is not None else http,
                connections=http.connections,
                gate=gate,
                leases=leases,
                schedule=self.schedule(),
                parsers=parsers,
                choose=chooser(self.handlers(parsers)),
                clock_steps=clock_steps,
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
