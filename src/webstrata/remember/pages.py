"""Pages and sites: added, paused, found again."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import islice
from typing import Any, Literal

from sqlalchemy import Connection, Select, bindparam, select, update

from webstrata.records import NewPage, Page, PageRole, PageState, Site
from webstrata.remember import queue as queue_rows
from webstrata.remember import rows, unwatched_signals
from webstrata.remember.page_rules import begin_anew
from webstrata.remember.statements import BITE, bites, insert_into, insert_missing
from webstrata.remember.tables import hosts, page_tags, pages, queue, sites
from webstrata.remember.text import is_storable, named, packed
from webstrata.remember.totals import TotalsDelta, rate

Order = Literal["added", "next"]

_ADD = 10 * BITE
_ACTIVE, _PAUSED = PageState.ACTIVE.value, PageState.PAUSED.value

_KNOWN = select(
    pages.c.id, pages.c.url, pages.c.role, pages.c.state, pages.c.interval_s, pages.c.next_at,
    pages.c.tags, pages.c.requisites, pages.c.page_rules,
)  # fmt: skip

_READD = (
    update(pages)
    .where(pages.c.id == bindparam("page"))
    .values(
        {name: bindparam(name) for name in ("weight", "tags", "role", "requisites", "page_rules", "state", "next_at")}
    )
)


# ── adding ──────────────────────────────────────────────────────────────────────────────────────────────────


def add_pages(connection: Connection, found: Collection[NewPage], now: float) -> tuple[int, int]:
    """Insert pages; bring known ones up to date. (new, known already)"""
    tally = TotalsDelta()
    new = known = 0
    source = iter(found)
    while chunk := list(islice(source, _ADD)):
        latest = {named(page.url, "URL"): page for page in chunk}
        before = {row.url: row for row in _locked(connection, pages.c.url, list(latest))}
        missing = [page for url, page in latest.items() if url not in before]
        inserted = insert_pages(connection, missing, now, tally)
        _bring_back(connection, [(before[url], page) for url, page in latest.items() if url in before], now, tally)
        new += inserted
        known += len(chunk) - inserted
    tally.write(connection)
    return new, known


def insert_pages(connection: Connection, found: Sequence[NewPage], now: float, tally: TotalsDelta) -> int:
    """Insert what is not there yet, due at once; how many those were."""
    inserted = 0
    newest = queue_rows.newest(connection)
    for role in PageRole:
        values = [rows.new_page(page, now) for page in found if page.role is role]
        values.sort(key=lambda row: str(row["url"]))  # one order for all writers: no deadlocks
        number = insert_missing(connection, pages, ["url"], values)
        tally.place(role.value, _ACTIVE, number)
        inserted += number
    if inserted:
        queue_rows.enter(connection, newest)
        unwatched_signals.hand_over(connection, newest)
    _watch_hosts(connection, {page.host for page in found}, tally)
    _tag(connection, {page.url: page.tags for page in found if page.tags})
    return inserted


def _bring_back(connection: Connection, found: Sequence[tuple[Any, NewPage]], now: float, tally: TotalsDelta) -> None:
    changes = []
    for before, page in found:
        # A requisite that is now watched for itself becomes a page; a page never becomes less.
        role = page.role.value if before.role == PageRole.REQUISITE else before.role
        first_at = now if page.next_at is None else page.next_at
        next_at = first_at if before.next_at is None else before.next_at
        tally.place(before.role, before.state, -1)
        tally.place(role, _ACTIVE)
        tally.rate(rate(before.state, before.interval_s), rate(_ACTIVE, before.interval_s))
        changes.append(
            {
                "page": before.id,
                "weight": page.weight,
                "tags": rows.packed_tags((*rows.unpacked(before.tags), *page.tags)),
                "role": role,
                "requisites": before.requisites or page.requisites,
                "page_rules": before.page_rules if page.page_rules is None else packed(page.page_rules),
                "state": _ACTIVE,
                "next_at": next_at,
            }
        )
    if changes:
        connection.execute(_READD, changes)
        queue_rows.place(connection, (change["page"] for change in changes))
    wishes = {before.id: before.page_rules for before, _ in found}
    for bite in bites([change["page"] for change in changes if change["page_rules"] != wishes[change["page"]]]):
        begin_anew(connection, pages.c.id.in_(bite))
    _tag(connection, {page.url: page.tags for _, page in found if page.tags})


def _locked(connection: Connection, key: Any, values: Sequence[Any]) -> list[Any]:
    """The known pages among these, held until the transaction ends."""
    found: list[Any] = []
    for bite in bites(values):
        query = _KNOWN.where(key.in_(bite)).order_by(pages.c.id).with_for_update()
        found += connection.execute(query).all()
    return found


def _watch_hosts(connection: Connection, names: set[str], tally: TotalsDelta) -> None:
    statement = insert_into(connection, hosts)
    statement = statement.on_conflict_do_update(
        index_elements=["host"], set_={"watched": True}, where=hosts.c.watched.is_(False)
    )
    if names:
        values = [{"host": name, "watched": True} for name in sorted(names)]
        done = connection.execute(statement, values, execution_options={"preserve_rowcount": True})
        tally.counts["hosts"] += done.rowcount


def _tag(connection: Connection, wanted: dict[str, tuple[str, ...]]) -> None:
    for bite in bites(list(wanted)):
        ids = connection.execute(select(pages.c.url, pages.c.id).where(pages.c.url.in_(bite)))
        pairs = sorted({(tag, page) for url, page in ids for tag in wanted[url]})
        insert_missing(
            connection, page_tags, ["tag", "page_id"], [{"tag": tag, "page_id": page} for tag, page in pairs]
        )


# ── pausing ─────────────────────────────────────────────────────────────────────────────────────────────────


def pause(connection: Connection, urls: Sequence[str]) -> int:
    """Stop watching; how many were active. A visit in flight may still end well."""
    tally = TotalsDelta()
    active = [
        row
        for row in _locked(connection, pages.c.url, [url for url in set(urls) if is_storable(url)])
        if row.state == _ACTIVE
    ]
    for row in active:
        tally.place(row.role, _ACTIVE, -1)
        tally.place(row.role, _PAUSED)
        tally.rate(rate(_ACTIVE, row.interval_s), 0)
    for bite in bites([row.id for row in active]):
        connection.execute(update(pages).where(pages.c.id.in_(bite)).values(state=_PAUSED))
        queue_rows.place(connection, bite)
    tally.write(connection)
    return len(active)


# ── finding ─────────────────────────────────────────────────────────────────────────────────────────────────


def page(connection: Connection, url: str) -> Page | None:
    if not is_storable(url):
        return None
    row = connection.execute(select(*rows.PAGE_COLUMNS).where(pages.c.url == url)).first()
    return None if row is None else rows.page(row)


def known(connection: Connection, urls: Sequence[str]) -> set[str]:
    found: set[str] = set()
    for bite in bites([url for url in urls if is_storable(url)]):
        found.update(connection.execute(select(pages.c.url).where(pages.c.url.in_(bite))).scalars())
    return found


def pages_after(
    connection: Connection, query: Select[Any], order: Order, last: tuple[float | None, int] | None, limit: int
) -> list[tuple[float | None, Page]]:
    """The next pages of a listing, each with its place in the order; short transactions instead of a long one."""
    if order == "next":
        query = query.add_columns(queue.c.due_at).join(queue, queue.c.page_id == pages.c.id)
        query = query.where(queue.c.due_at.is_not(None)).order_by(queue.c.due_at, queue.c.page_id)
        if last is not None:
            due_at, page_id = last
            query = query.where(queue.c.due_at >= due_at, (queue.c.due_at > due_at) | (queue.c.page_id > page_id))
    else:
        query = query.order_by(pages.c.id)
        if last is not None:
            query = query.where(pages.c.id > last[1])
    size = len(rows.PAGE_COLUMNS)
    return [
        (row[size] if order == "next" else None, rows.page(row[:size]))
        for row in connection.execute(query.limit(limit))
    ]


def listing(tag: str | None, state: str | None, host: str | None) -> Select[Any]:
    """All pages that match, in no order yet."""
    query = select(*rows.PAGE_COLUMNS)
    if tag is not None:
        query = query.join(page_tags, page_tags.c.page_id == pages.c.id).where(page_tags.c.tag == tag)
    if state is not None:
        query = query.where(pages.c.state == state)
    if host is not None:
        query = query.where(pages.c.host == host)
    return query


# ── sites ───────────────────────────────────────────────────────────────────────────────────────────────────


def add_site(connection: Connection, site: Site, now: float) -> Site:
    values = rows.site_values(site)
    statement = insert_into(connection, sites).values({**values, "added_at": now})
    statement = statement.on_conflict_do_update(index_elements=["url"], set_=values)
    return rows.site(connection.execute(statement.returning(*rows.SITE_COLUMNS)).one())


def all_sites(connection: Connection) -> list[Site]:
    return [rows.site(row) for row in connection.execute(select(*rows.SITE_COLUMNS).order_by(sites.c.id))]
