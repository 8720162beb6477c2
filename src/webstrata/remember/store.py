"""The `Store` port on SQLite or PostgreSQL.

Each role class lists its operations. An operation is a function of a connection that runs as one transaction in a
database thread; the functions with the SQL are in the modules named there.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from typing import Any, Concatenate, Generic, ParamSpec, TypeVar

from msgspec import Struct
from sqlalchemy import Connection

from webstrata.ports import Clock
from webstrata.records import Batch, Original, Page, PageFilter, PageOrder, PageVisit, Position, Visit, VisitFilter
from webstrata.remember import (
    budgets,
    clock_times,
    commits,
    page_rules,
    page_settings,
    pages,
    queue,
    reservations,
    signals,
    totals,
    visit_log,
)
from webstrata.remember.db_thread import DbThread
from webstrata.remember.history import copies as archive_copies
from webstrata.remember.history import features as page_features
from webstrata.remember.history import imports as import_log
from webstrata.remember.history import learned as learned_copies
from webstrata.remember.history import links as page_links
from webstrata.remember.homes import owners
from webstrata.remember.hosts import leases, politeness, templates
from webstrata.remember.integrity import contradictions, engine_check, row_checksums, schema_check
from webstrata.remember.listings import pages as page_listing
from webstrata.remember.listings import visits as visit_listing
from webstrata.remember.sites import finds as site_finds
from webstrata.remember.statements import chunks

P = ParamSpec("P")
T = TypeVar("T")


class Database(Struct, frozen=True, kw_only=True):
    """The two threads of a database: writes run one after the other; reads never wait for them."""

    writer: DbThread
    reader: DbThread
    clock: Clock
    home: str = ""
    """The home that uses the database, if others share its tables; otherwise empty."""


class Role:
    """Base of the role classes in `store.py`."""

    def __init__(self, database: Database) -> None:
        self.database = database


class _Operation(Generic[P, T]):
    """A function of a connection as an async method of a role.

    A transaction may run more than once (see `DbThread`), so its arguments must not be iterators.
    """

    def __init__(self, function: Callable[Concatenate[Connection, P], T], *, writes: bool) -> None:
        self._function = function
        self._writes = writes

    def __get__(self, role: Role, owner: type[Role]) -> Callable[P, Coroutine[Any, Any, T]]:
        thread = role.database.writer if self._writes else role.database.reader

        def run(*args: P.args, **kwargs: P.kwargs) -> Coroutine[Any, Any, T]:
            return thread.run(lambda connection: self._function(connection, *args, **kwargs))

        return run


def reads(function: Callable[Concatenate[Connection, P], T]) -> _Operation[P, T]:
    """An operation in the reader thread."""
    return _Operation(function, writes=False)


def writes(function: Callable[Concatenate[Connection, P], T]) -> _Operation[P, T]:
    """An operation in the writer thread."""
    return _Operation(function, writes=True)


_STREAM_ROWS = 1_000


class SqlPages(Role):
    """`ports.WatchedPages`."""

    add = writes(pages.add_pages)
    add_site = writes(pages.add_site)
    pause = writes(pages.pause)
    remove_site_tags = writes(page_settings.remove_site_tags)
    retag = writes(page_settings.retag)
    set_rules = writes(page_rules.set_for_page)
    set_tag_rules = writes(page_rules.set_for_tag)
    set_counted = writes(page_rules.set_counted)
    set_visit_times = writes(page_settings.set_visit_times)
    get = reads(pages.page)
    by_url = reads(pages.by_url)
    known = reads(pages.known)
    settled = reads(pages.settled)
    finds = reads(site_finds.finds)
    left_out = reads(site_finds.left_out)
    sites = reads(pages.all_sites)
    site_sizes = reads(totals.site_sizes)
    tag_rules = reads(page_rules.by_tag)
    templates = reads(templates.templates_of)
    visit_times = reads(page_settings.visit_times)
    by_id = reads(page_listing.pages_by_id)
    _pages_after = reads(pages.pages_after)
    _sorted_ids = reads(page_listing.sorted_ids)

    async def listed(
        self, wanted: PageFilter, order: PageOrder = "added", *, reverse: bool = False, limit: int | None = None
    ) -> AsyncIterator[Page]:
        """The pages of a listing, sorted by the database."""
        ids = await self._sorted_ids(wanted, order, reverse=reverse, limit=limit)
        for chunk in chunks(ids, _STREAM_ROWS):
            found = await self.by_id(chunk)
            for id_ in chunk:
                if id_ in found:
                    yield found[id_]

    async def stream(
        self,
        *,
        tag: str | None = None,
        state: str | None = None,
        host: str | None = None,
        order: pages.Order = "added",
        limit: int | None = None,
    ) -> AsyncIterator[Page]:
        """All matching pages, oldest first. `order="next"` gives only pages with a next visit, earliest first."""
        query = pages.listing(tag, state, host)
        last: tuple[float | None, int] | None = None
        remaining = limit
        while remaining is None or remaining > 0:
            size = _STREAM_ROWS if remaining is None else min(remaining, _STREAM_ROWS)
            chunk = await self._pages_after(query, order, last, size)
            for _, page in chunk:
                yield page
            if len(chunk) < size:
                return
            last = (chunk[-1][0], chunk[-1][1].id)
            remaining = None if remaining is None else remaining - len(chunk)


class SqlQueue(Role):
    """`ports.VisitQueue`."""

    release = writes(queue.release)
    end_leases = writes(queue.end_leases)
    move = writes(queue.move)
    due = reads(queue.due_pages)
    due_by_host = reads(queue.due_by_host)
    largest_id = reads(queue.largest_id)
    next_due = reads(totals.next_due)
    politeness = reads(politeness.politeness_state)
    stale_leases = reads(queue.stale_leases)
    upcoming = reads(queue.upcoming)
    _claim = writes(queue.claim)
    _claim_pages = writes(queue.claim_pages)

    async def claim(self, now: float, limit: int, until: float, owner: str) -> list[Page]:
        """Lease the most overdue pages, ordered by next visit, or by the end of an expired lease."""
        return await self._claim(now, limit, until, owner, self.database.home)

    async def claim_pages(self, ids: Sequence[int], now: float, until: float, owner: str) -> list[Page]:
        """Lease exactly these pages, as far as they are active and not leased, in the given order."""
        return await self._claim_pages(ids, now, until, owner, self.database.home)


class SqlHosts(Role):
    """`ports.HostStore`."""

    lease = writes(leases.lease)
    release = writes(leases.release)
    save = writes(leases.save)
    wanted = reads(leases.wanted)


class SqlVisitLog(Role):
    """`ports.VisitLog`."""

    add_round = writes(visit_log.add_round)
    add_unparsable = writes(visit_log.add_unparsable)
    demand = reads(visit_log.demand)
    download_sums = reads(visit_log.download_sums)
    download_times = reads(visit_log.download_times)
    count_listed = reads(visit_listing.count_visits_by_time)
    failing = reads(visit_listing.failing_pages)
    observations = reads(visit_log.observations)
    of_page = reads(visit_log.of_page)
    rounds = reads(visit_log.latest_rounds)
    unparsable = reads(visit_log.unparsable_contents)
    _commit = writes(commits.commit)
    _originals = reads(visit_log.known_originals)
    _positions_after = reads(visit_log.positions_after)
    _visits_after = reads(visit_log.visits_after)
    _originals_after = reads(visit_log.originals_after)
    _visits_by_time = reads(visit_listing.visits_by_time)

    async def commit(self, batch: Batch) -> None:
        """Write the whole batch in one transaction and end the leases of its pages."""
        await self._commit(batch, self.database.clock.now(), self.database.home)

    async def originals(self, payloads: Sequence[str]) -> dict[str, Original]:
        """The records of this home's archive that first held these payloads, by payload digest."""
        return await self._originals(payloads, self.database.home)

    async def positions(self) -> AsyncIterator[tuple[Position, str | None]]:
        """Every WARC position in the log, with its payload digest."""
        last: int | None = 0
        while last is not None:
            last, chunk = await self._positions_after(last, _STREAM_ROWS)
            for position in chunk:
                yield position

    async def all_visits(self) -> AsyncIterator[Visit]:
        """The whole log, in the order in which it was written."""
        last = 0
        while chunk := await self._visits_after(last, _STREAM_ROWS):
            for visit in chunk:
                yield visit
            last = chunk[-1].id or 0

    async def listed(
        self, wanted: VisitFilter, order: visit_listing.VisitOrder = "newest", limit: int | None = None
    ) -> AsyncIterator[PageVisit]:
        """The visits of a listing by time."""
        last: visit_listing.Place | None = None
        remaining = limit
        while remaining is None or remaining > 0:
            size = _STREAM_ROWS if remaining is None else min(remaining, _STREAM_ROWS)
            chunk = await self._visits_by_time(wanted, order, last, size)
            for found in chunk:
                yield found
            if len(chunk) < size:
                return
            last = (chunk[-1].visit.at, chunk[-1].visit.page_id)
            remaining = None if remaining is None else remaining - len(chunk)

    async def all_originals(self) -> AsyncIterator[Original]:
        """The originals of all payloads in this home's archive."""
        last = ""
        while chunk := await self._originals_after(last, _STREAM_ROWS, self.database.home):
            for original in chunk:
                yield original
            last = chunk[-1].payload


class SqlBudgets(Role):
    """`ports.BudgetStore`."""

    end_boost = writes(budgets.end_boost)
    reserve = writes(reservations.reserve)
    save_site_states = writes(budgets.save_site_states)
    set_boost = writes(budgets.set_boost)
    set_interval_limit = writes(budgets.set_limit)
    boosts = reads(budgets.all_boosts)
    interval_limits = reads(budgets.all_limits)
    reserved = reads(reservations.reserved)
    site_states = reads(budgets.site_states_of)
    states = reads(reservations.budget_states)
    summaries = reads(budgets.page_summaries)
    summaries_of = reads(budgets.page_summaries_of)


class SqlSignals(Role):
    """`ports.SignalStore`."""

    announcements = reads(signals.announcements)
    announcements_after = reads(signals.announcements_after)
    listed_by = reads(signals.listed_by)
    sources = reads(signals.sources_of)
    sources_by_id = reads(signals.sources_by_id)


class SqlCopies(Role):
    """`ports.ArchiveCopies`."""

    add = writes(archive_copies.add)
    save_learned = writes(archive_copies.save_learned)
    hosts_to_learn = reads(learned_copies.hosts_to_learn)
    imports = reads(import_log.all_imports)
    latest = reads(archive_copies.latest)
    learned_at = reads(archive_copies.learned_at)
    page_ids = reads(archive_copies.page_ids)
    progress = reads(import_log.progress_of)
    rows = reads(archive_copies.copy_rows)
    sighted_pages = reads(learned_copies.sighted_pages)


class SqlPageFacts(Role):
    """`ports.PageFacts`."""

    save_features = writes(page_features.save_features)
    save_importance = writes(page_features.save_importance)
    features = reads(page_features.features_of)
    importance = reads(page_features.importance_of)
    links = reads(page_links.links_of)
    links_after = reads(page_links.links_after)


class SqlMaintenance(Role):
    """`ports.StoreMaintenance`."""

    follow_clock = writes(clock_times.follow_clock)
    recount = writes(contradictions.rebuild_derived)
    check_engine = reads(engine_check.check_engine)
    log_contradictions = reads(contradictions.log_contradictions)
    contradictions = reads(contradictions.contradictions)
    changed_rows = reads(row_checksums.changed_rows)
    schema_faults = reads(schema_check.schema_faults)
    days = reads(totals.by_day)
    homes = reads(owners.home_names)
    host_days = reads(totals.by_host_and_day)
    size_bytes = reads(totals.size_bytes)
    tag_counts = reads(totals.tag_counts)
    totals = reads(totals.store_totals)


class SqlStore:
    """Opened by `webstrata.remember.engine.open_store`."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self.pages = SqlPages(database)
        self.queue = SqlQueue(database)
        self.hosts = SqlHosts(database)
        self.visit_log = SqlVisitLog(database)
        self.budgets = SqlBudgets(database)
        self.signals = SqlSignals(database)
        self.copies = SqlCopies(database)
        self.facts = SqlPageFacts(database)
        self.maintenance = SqlMaintenance(database)

    async def close(self) -> None:
        await self.database.reader.close()
        await self.database.writer.close()
