"""The `Store` port on SQLite or PostgreSQL: each role lists its operations; the SQL is in the modules named there."""

from __future__ import annotations

from collections.abc import AsyncIterator

from webstrata.records import Batch, Page, Position
from webstrata.remember import (
    commits,
    engine_check,
    invariants,
    log,
    page_rules,
    pages,
    planning,
    politeness,
    queue,
    reservations,
    signals,
    spending,
    totals,
)
from webstrata.remember.role import Database, Role, reads, writes

_STREAM_ROWS = 1_000


class SqlPages(Role):
    """`ports.WatchedPages`."""

    add = writes(pages.add_pages)
    add_site = writes(pages.add_site)
    pause = writes(pages.pause)
    set_rules = writes(page_rules.set_for_page)
    set_tag_rules = writes(page_rules.set_for_tag)
    set_counted = writes(page_rules.set_counted)
    get = reads(pages.page)
    known = reads(pages.known)
    sites = reads(pages.all_sites)
    site_sizes = reads(totals.site_sizes)
    tag_rules = reads(page_rules.by_tag)
    _pages_after = reads(pages.pages_after)

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

    claim = writes(queue.claim)
    claim_pages = writes(queue.claim_pages)
    release = writes(queue.release)
    end_leases = writes(queue.end_leases)
    move = writes(planning.move)
    due = reads(spending.due_pages)
    largest_id = reads(queue.newest)
    next_due = reads(totals.next_due)
    politeness = reads(politeness.everything)
    stale_leases = reads(queue.stale)
    upcoming = reads(planning.upcoming)


class SqlVisitLog(Role):
    """`ports.VisitLog`."""

    demand = reads(planning.demand)
    download_sums = reads(planning.download_sums)
    download_times = reads(planning.download_times)
    observations = reads(spending.logged)
    of_page = reads(log.of_page)
    originals = reads(log.known_originals)
    _commit = writes(commits.commit)
    _positions_after = reads(log.places_after)

    async def commit(self, batch: Batch) -> None:
        """Write the whole batch in one transaction and end the leases of its pages."""
        await self._commit(batch, self.database.clock.now())

    async def positions(self) -> AsyncIterator[tuple[Position, str | None]]:
        """Every WARC position in the log, with its payload digest."""
        last: int | None = 0
        while last is not None:
            last, chunk = await self._positions_after(last, _STREAM_ROWS)
            for position in chunk:
                yield position


class SqlBudgets(Role):
    """`ports.BudgetStore`."""

    end_boost = writes(spending.end_boost)
    reserve = writes(reservations.trade)
    save_site_states = writes(spending.save_site_states)
    set_boost = writes(spending.set_boost)
    set_interval_limit = writes(spending.set_limit)
    boosts = reads(spending.all_boosts)
    interval_limits = reads(spending.all_limits)
    reserved = reads(reservations.purse)
    site_states = reads(spending.all_site_states)
    states = reads(reservations.standing)
    summaries = reads(spending.outlines)
    summaries_of = reads(spending.outlines_of)


class SqlSignals(Role):
    """`ports.SignalStore`."""

    announcements = reads(signals.announcements)
    announcements_after = reads(spending.announcements_after)
    listed_by = reads(signals.listed_by)
    sources = reads(signals.sources_of)


class SqlMaintenance(Role):
    """`ports.StoreMaintenance`."""

    recount = writes(invariants.make_anew)
    check_engine = reads(engine_check.check_engine)
    contradictions = reads(invariants.contradictions)
    days = reads(totals.by_day)
    host_days = reads(totals.by_host_and_day)
    size_bytes = reads(totals.size_bytes)
    tag_counts = reads(totals.tag_counts)
    totals = reads(totals.census)


class SqlStore:
    """Opened by `webstrata.remember.engine.open_store`."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self.pages = SqlPages(database)
        self.queue = SqlQueue(database)
        self.visit_log = SqlVisitLog(database)
        self.budgets = SqlBudgets(database)
        self.signals = SqlSignals(database)
        self.maintenance = SqlMaintenance(database)

    async def close(self) -> None:
        await self.database.reader.close()
        await self.database.writer.close()
