"""A complete archiver and scripted servers: the real loop, sockets, parser processes, WARC files and SQLite.

Scenarios run with the default settings of the product, on a jumping clock. A test that needs another setting passes it.
"""

from __future__ import annotations

import asyncio
import shutil
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import pytest
from warcio.archiveiterator import ArchiveIterator
from warcio.recordloader import ArcWarcRecord

from tests.flows.scripted_servers import ScriptedServers
from webstrata import settings as settings_file
from webstrata import urls
from webstrata.clock import JumpingClock
from webstrata.flows.crawl.discovery import seeds
from webstrata.flows.parsers.lanes import ParserLanes
from webstrata.flows.parsers.parser_pool import ParserPool
from webstrata.flows.parsers.process_connection import Reply
from webstrata.flows.parsers.tasks import Task, run_task
from webstrata.home import Home
from webstrata.node import Node
from webstrata.ports import Clock
from webstrata.records import NewPage, Page, Site, StoreTotals, Visit
from webstrata.remember.store import SqlStore
from webstrata.settings import Settings

START_AT = 1_790_000_000.0
DAY_S = 86_400.0
HOSTS = {"a.test": "127.0.0.2", "b.test": "127.0.0.3", "c.test": "127.0.0.4", "d.test": "127.0.0.4"}


DAILY = "schedule.policy=dyn"
"""A timer policy that starts with daily visits: for tests that need visits at known times. Under the default policy
(`value`) the budget decides when a page is visited."""

MakeParsers = Callable[[int], ParserPool]


class SharedLanes(ParserLanes):
    """The parser processes for all scenarios of a test process, so that not every scenario starts its own.

    They belong to an event loop in a thread, because every scenario has an event loop of its own.
    """

    def __init__(self, processes: int) -> None:
        self._events = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._events.run_forever, daemon=True)
        self._thread.start()
        super().__init__(processes, run_task)

    async def reply_of(self, task: Task, lane: str) -> Reply:
        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(super().reply_of(task, lane), self._events))

    def end(self) -> None:
        self._events.call_soon_threadsafe(self._end_processes)
        self._thread.join()
        self._events.close()

    def _end_processes(self) -> None:
        self.close()
        self._events.call_soon(self._events.stop)


class WarcRecord(NamedTuple):
    kind: str
    url: str
    headers: dict[str, str]
    status: str
    body: bytes


def _read(record: ArcWarcRecord) -> WarcRecord:
    head = record.rec_headers
    status = record.http_headers.get_statuscode()
    return WarcRecord(record.rec_type, head["WARC-Target-URI"], dict(head.headers), status, record.raw_stream.read())


class Archiver:
    """One home. Every `crawl` and `run` opens the loop again, like a restarted process."""

    def __init__(
        self,
        folder: Path,
        blank: Path,
        servers: ScriptedServers,
        clock: Clock,
        flags: tuple[str, ...],
        make_parsers: MakeParsers,
    ) -> None:
        self.servers = servers
        self.clock = clock
        self.home, _ = Home.create(folder / "home")
        shutil.copy(blank, self.home.database)
        self.settings = self._settings(flags)
        self.make_parsers = make_parsers
        self.node = Node(self.home, self.settings, clock, make_parsers=make_parsers)
        self._opened = AsyncExitStack()
        self._store: SqlStore | None = None

    def _settings(self, flags: tuple[str, ...]) -> Settings:
        loaded, _ = settings_file.load(self.home.path, environment={}, flags=flags)
        fetch = msgspec.structs.replace(
            loaded.fetch,
            hosts=self.servers.hosts | loaded.fetch.hosts,
            allow_private=self.servers.exceptions + loaded.fetch.allow_private,
        )
        return msgspec.structs.replace(loaded, fetch=fetch)

    @asynccontextmanager
    async def _own_store(self) -> AsyncIterator[SqlStore]:
        """A second connection to the store besides the loop's, like that of another command."""
        if self._store is None:
            self._store = await self._opened.enter_async_context(self.node.store())
        yield self._store

    async def close(self) -> None:
        """Close the second connection; the next call that needs one opens it again."""
        self._store = None
        await self._opened.aclose()

    async def watch(self, *addresses: str, **fields: Any) -> None:
        pages = [NewPage(url=url, host=urls.host_of(url), **fields) for url in addresses]
        async with self._own_store() as store:
            await store.pages.add(pages, self.clock.now())

    async def watch_site(self, url: str, **fields: Any) -> None:
        async with self._own_store() as store:
            site = await store.pages.add_site(Site(id=0, url=url, **fields), self.clock.now())
            await store.pages.add(seeds(site), self.clock.now())

    async def crawl(self, after_s: float = 0.0) -> int:
        """One pass, some time later."""
        await self.clock.sleep_until(self.clock.now() + after_s)
        async with self.node.crawling() as loop:
            return await loop.crawl()

    async def run(self, for_s: float) -> None:
        async with self.node.crawling() as loop:
            await loop.run(self.clock.now() + for_s)

    async def page(self, url: str) -> Page:
        async with self._own_store() as store:
            page = await store.pages.get(url)
        assert page is not None, f"{url} is not watched"
        return page

    async def pages(self) -> dict[str, Page]:
        async with self._own_store() as store:
            return {page.url: page async for page in store.pages.stream()}

    async def visits(self, url: str) -> list[Visit]:
        """Oldest first."""
        page = await self.page(url)
        async with self._own_store() as store:
            return await store.visit_log.of_page(page.id, order="oldest")

    async def last(self, url: str) -> Visit:
        return (await self.visits(url))[-1]

    async def outcomes(self, url: str) -> list[str]:
        """Of each visit the outcome, or the kind of its failure."""
        return [visit.failure.kind if visit.failure else visit.outcome for visit in await self.visits(url)]

    async def totals(self) -> StoreTotals:
        async with self._own_store() as store:
            return await store.maintenance.totals(self.clock.now())

    def warcs(self) -> list[Path]:
        return sorted(self.home.archive.glob("*.warc.gz"))

    def records(self, url: str = "") -> list[WarcRecord]:
        """The response and revisit records of the archive, read by another implementation."""
        records: list[WarcRecord] = []
        for path in self.warcs():
            with path.open("rb") as stream:
                read = (
                    _read(record) for record in ArchiveIterator(stream) if record.rec_type in ("response", "revisit")
                )
                records += [record for record in read if url in ("", record.url)]
        return records

    async def check_consistency(self, *, deep: bool = True) -> None:
        """The archive is well-formed; archive, index and store agree; no page is leased."""
        assert list(self.home.archive.glob("*.open")) == []
        for path in self.warcs():
            with path.open("rb") as stream, redirect_stdout(StringIO()):
                for record in ArchiveIterator(stream, check_digests="raise"):
                    record.raw_stream.read()
        scrubbed = await self.node.check(repair=False, deep=deep)
        assert (scrubbed.bad, scrubbed.dangling, scrubbed.lost) == (0, 0, 0), scrubbed.findings
        assert (await self.totals()).in_flight == 0


Scenario = Callable[[Archiver], Awaitable[None]]


@pytest.fixture(scope="session")
def blank_database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An empty database with its tables, which each scenario copies: creating it takes longer than a short scenario."""
    home, _ = Home.create(tmp_path_factory.mktemp("blank"))

    async def make() -> None:
        async with Node(home, Settings()).store():
            pass

    asyncio.run(make())
    return home.database


@pytest.fixture(scope="session")
def shared_lanes() -> Iterator[SharedLanes]:
    lanes = SharedLanes(Settings().crawl.workers)
    yield lanes
    lanes.end()


@pytest.fixture
def run_scenario(tmp_path: Path, blank_database: Path, shared_lanes: SharedLanes) -> Callable[..., None]:
    """Run a scenario with a new home and new servers, then check that everything that it stored is consistent."""

    def run(
        scenario: Scenario,
        *flags: str,
        hosts: dict[str, str] = HOSTS,
        make_parsers: MakeParsers = lambda processes: ParserPool(processes, lanes=shared_lanes),
        make_clock: Callable[[], Clock] = lambda: JumpingClock(START_AT),
    ) -> None:
        async def main() -> None:
            clock = make_clock()
            async with ScriptedServers(clock, hosts) as servers:
                archiver = Archiver(tmp_path, blank_database, servers, clock, flags, make_parsers)
                try:
                    await scenario(archiver)
                    await archiver.check_consistency()
                finally:
                    await archiver.close()

        asyncio.run(main())

    return run
