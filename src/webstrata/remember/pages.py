"""Watched pages and sites: adding, pausing, reading."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import islice, product
from typing import Any, Literal

from sqlalchemy import Connection, Select, and_, bindparam, or_, select, update

from webstrata.records import NewPage, Page, PageRole, PageState, Site
from webstrata.remember import queue as queue_rows
from webstrata.remember import rows, unwatched_signals
from webstrata.remember.page_rules import extended, forget_validators
from webstrata.remember.statements import CHUNK, chunks, insert_into, insert_missing
from webstrata.remember.tables import page_tags, pages, queue, sites, watched_hosts
from webstrata.remember.text import is_storable, named
from webstrata.remember.totals import TotalsDelta, rate

Order = Literal["added", "next"]

_ADD = 10 * CHUNK
_ACTIVE, _PAUSED, _CAPTURED = PageState.ACTIVE.value, PageState.PAUSED.value, PageState.CAPTURED.value

_KNOWN = select(
    pages.c.id, pages.c.url, pages.c.weight, pages.c.role, pages.c.state, pages.c.interval_s, pages.c.next_at,
    pages.c.tags, pages.c.requisites, pages.c.page_rules, pages.c.site_id, pages.c.depth, pages.c.every_s,
    pages.c.windows,
)  # fmt: skip

_READDED = (
    "weight", "tags", "role", "requisites", "page_rules", "state", "next_at", "interval_s", "site_id", "depth",
    "every_s", "windows",
)  # fmt: skip
_READD = update(pages).where(pages.c.id == bindparam("page")).values({name: bindparam(name) for name in _READDED})

_JOIN = update(pages).where(pages.c.id == bindparam("page")).values(site_id=bindparam("site"), depth=bindparam("links"))

_IS_ADOPTABLE = or_(
    pages.c.state == _CAPTURED,
    and_(pages.c.state == _ACTIVE, pages.c.site_id.is_(None), pages.c.role == PageRole.PAGE.value),
)
"""Discovery makes a captured page active, and a page without a site a page of the site that links to it."""


# ── adding ──────────────────────────────────────────────────────────────────────────────────────────────────


def add_pages(connection: Connection, found: Collection[NewPage], now: float) -> tuple[int, int]:
    """Insert pages and update known ones; returns (new, already known)."""
    delta = TotalsDelta()
    new = known = 0
    source = iter(found)
    while batch := list(islice(source, _ADD)):
        latest = {named(page.url, "URL"): page for page in batch}
        before = {row.url: row for row in _locked(connection, pages.c.url, list(latest))}
        missing = [page for url, page in latest.items() if url not in before]
        inserted = insert_pages(connection, missing, now, delta)
        watched = [page for page in latest.values() if page.url in before and page.state is PageState.ACTIVE]
        _update_known(connection, [(before[page.url], page) for page in watched], now, delta)
        new += inserted
        known += len(batch) - inserted
    delta.write(connection)
    return new, known


def insert_pages(connection: Connection, found: Sequence[NewPage], now: float, delta: TotalsDelta) -> int:
    """Insert pages that are not stored yet, due at once; returns their number."""
    inserted = 0
    newest = queue_rows.largest_id(connection)
    for role, state in product(PageRole, PageState):
        values = [rows.new_page(page, now) for page in found if page.role is role and page.state is state]
        values.sort(key=lambda row: str(row["url"]))  # all writers insert in the same order, which prevents deadlocks
        number = insert_missing(connection, pages, ["url"], values)
        delta.count(role.value, state.value, number)
        inserted += number
    if inserted:
        queue_rows.enter(connection, newest)
        unwatched_signals.assign(connection, newest)
    _watch_hosts(connection, {page.host for page in found if page.state is PageState.ACTIVE}, delta)
    _tag(connection, {page.url: page.tags for page in found if page.tags})
    return inserted


def adoptable_ids(connection: Connection, found: Collection[NewPage]) -> list[int]:
    """The known pages among discovered ones that `adopt` changes; a commit locks them together with others."""
    ids: list[int] = []
    for chunk in chunks([page.url for page in found]):
        ids += connection.execute(select(pages.c.id).where(pages.c.url.in_(chunk), _IS_ADOPTABLE)).scalars()
    return ids


def adopt(
    connection: Connection, found: Collection[NewPage], ids: Sequence[int], now: float, delta: TotalsDelta
) -> None:
    """Make discovered pages with these ids active pages, or pages of the site on which they were found."""
    new = {page.url: page for page in reversed(list(found))}  # of two discoveries the first counts
    known = [(row, new[row.url]) for row in _locked(connection, pages.c.id, ids) if row.url in new]
    _update_known(connection, [pair for pair in known if pair[0].state == _CAPTURED], now, delta)
    joining = [
        {"page": row.id, "site": page.site_id, "links": page.depth}
        for row, page in known
        if row.state == _ACTIVE and page.site_id is not None
    ]
    if joining:
        connection.execute(_JOIN, joining)
        for chunk in chunks([values["page"] for values in joining]):
            forget_validators(connection, pages.c.id.in_(chunk))


def _update_known(connection: Connection, found: Sequence[tuple[Any, NewPage]], now: float, delta: TotalsDelta) -> None:
    changes = [_readded(before, page, now) for before, page in found]
    for (before, _), change in zip(found, changes, strict=True):
        delta.count(before.role, before.state, -1)
        delta.count(change["role"], _ACTIVE)
        delta.rate(rate(before.state, before.interval_s), rate(_ACTIVE, change["interval_s"]))
    if changes:
        connection.execute(_READD, changes)
        queue_rows.update_due(connection, (change["page"] for change in changes))
    rules_before = {before.id: before.page_rules for before, _ in found}
    for chunk in chunks([change["page"] for change in changes if change["page_rules"] != rules_before[change["page"]]]):
        forget_validators(connection, pages.c.id.in_(chunk))
    for chunk in chunks([before.id for before, page in found if _starts(before, page)]):
        # The links and entries of the page must be found again: a response without content has none.
        forget_validators(connection, pages.c.id.in_(chunk))
    _watch_hosts(connection, {page.host for _, page in found}, delta)
    _tag(connection, {page.url: page.tags for _, page in found if page.tags})


def _readded(before: Any, page: NewPage, now: float) -> rows.Values:
    """The columns of a known page that is watched again: what was not given stays."""
    is_captured, starts = before.state == _CAPTURED, _starts(before, page)
    first_at = now if page.next_at is None else page.next_at
    # A requisite that is now watched becomes a page; a page never becomes a requisite.
    takes_role = is_captured or before.role == PageRole.REQUISITE
    weight = (1.0 if is_captured else before.weight) if page.weight is None else page.weight
    return {
        "page": before.id,
        "weight": weight,
        "tags": rows.packed_tags((*rows.unpacked(before.tags), *page.tags)),
        "role": page.role.value if takes_role else before.role,
        "requisites": before.requisites or page.requisites,
        "page_rules": before.page_rules if page.page_rules is None else extended(before.page_rules, page.page_rules),
        "state": _ACTIVE,
        "next_at": first_at if starts or before.next_at is None else before.next_at,
        "interval_s": None if starts else before.interval_s,
        "site_id": before.site_id if page.site_id is None else page.site_id,
        "depth": page.depth if starts else before.depth,
        "every_s": before.every_s if page.every_s is None else page.every_s,
        "windows": before.windows if page.windows is None else page.windows,
    }


def _starts(before: Any, page: NewPage) -> bool:
    """Whether a known page was only known from a capture, or becomes a page of a site: it is due, without interval."""
    return before.state == _CAPTURED or (page.site_id is not None and page.site_id != before.site_id)


def _locked(connection: Connection, key: Any, values: Sequence[Any]) -> list[Any]:
    """The known pages among these; their rows stay locked until the transaction ends."""
    found: list[Any] = []
    for chunk in chunks(values):
        query = _KNOWN.where(key.in_(chunk)).order_by(pages.c.id).with_for_update()
        found += connection.execute(query).all()
    return found


def _watch_hosts(connection: Connection, names: set[str], delta: TotalsDelta) -> None:
    rows_of_hosts = [{"host": name} for name in sorted(names)]
    delta.counts["hosts"] += insert_missing(connection, watched_hosts, ["host"], rows_of_hosts)


def _tag(connection: Connection, wanted: dict[str, tuple[str, ...]]) -> None:
    for chunk in chunks(list(wanted)):
        ids = connection.execute(select(pages.c.url, pages.c.id).where(pages.c.url.in_(chunk)))
        pairs = sorted({(tag, page) for url, page in ids for tag in wanted[url]})
        insert_missing(
            connection, page_tags, ["tag", "page_id"], [{"tag": tag, "page_id": page} for tag, page in pairs]
        )


# ── pausing ─────────────────────────────────────────────────────────────────────────────────────────────────


def pause(connection: Connection, urls: Sequence[str]) -> int:
    """Pause pages; returns how many were active. A visit in progress is still committed."""
    delta = TotalsDelta()
    active = [
        row
        for row in _locked(connection, pages.c.url, [url for url in set(urls) if is_storable(url)])
        if row.state == _ACTIVE
    ]
    for row in active:
        delta.count(row.role, _ACTIVE, -1)
        delta.count(row.role, _PAUSED)
        delta.rate(rate(_ACTIVE, row.interval_s), 0)
    for chunk in chunks([row.id for row in active]):
        connection.execute(update(pages).where(pages.c.id.in_(chunk)).values(state=_PAUSED))
        queue_rows.update_due(connection, chunk)
    delta.write(connection)
    return len(active)


# ── reading ─────────────────────────────────────────────────────────────────────────────────────────────────


def page(connection: Connection, url: str) -> Page | None:
    if not is_storable(url):
        return None
    row = connection.execute(select(*rows.PAGE_COLUMNS).where(pages.c.url == url)).first()
    return None if row is None else rows.page(row)


def by_url(connection: Connection, urls: Sequence[str]) -> dict[str, Page]:
    """The pages with these URLs."""
    found: dict[str, Page] = {}
    for chunk in chunks([url for url in urls if is_storable(url)]):
        for row in connection.execute(select(*rows.PAGE_COLUMNS).where(pages.c.url.in_(chunk))):
            found[row.url] = rows.page(row)
    return found


def known(connection: Connection, urls: Sequence[str]) -> dict[str, int]:
    return {
        url: id_
        for chunk in chunks([url for url in urls if is_storable(url)])
        for url, id_ in connection.execute(select(pages.c.url, pages.c.id).where(pages.c.url.in_(chunk)))
    }


def settled(connection: Connection, urls: Sequence[str]) -> set[str]:
    found: set[str] = set()
    for chunk in chunks([url for url in urls if is_storable(url)]):
        found.update(connection.execute(select(pages.c.url).where(pages.c.url.in_(chunk), ~_IS_ADOPTABLE)).scalars())
    return found


def pages_after(
    connection: Connection, query: Select[Any], order: Order, last: tuple[float | None, int] | None, limit: int
) -> list[tuple[float | None, Page]]:
    """The next pages of a listing, each with its sort key: a stream is several short transactions."""
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
    """The query for all matching pages, without an order."""
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
