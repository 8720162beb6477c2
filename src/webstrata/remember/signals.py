"""Announcements of feeds and sitemaps about watched pages, and how often each source was right.

There is one row for each page and source: the latest announcement. A repeated announcement writes nothing.
Announcements about URLs that are not watched are in `unwatched_signals`.
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import itemgetter
from typing import Any

from sqlalchemy import (
    Connection,
    Double,
    Insert,
    Integer,
    bindparam,
    case,
    cast,
    delete,
    func,
    literal,
    select,
    update,
)

from webstrata.records import (
    READ_COUNTS,
    VISIT_COUNTS,
    Announcement,
    NewAnnouncements,
    PageRole,
    PageState,
    SignalSource,
    SourceCheck,
)
from webstrata.remember import queue, unwatched_signals
from webstrata.remember.statements import chunks, insert_into
from webstrata.remember.tables import pages, signals, sources
from webstrata.remember.text import is_storable, named

_COUNTS = (*VISIT_COUNTS, *READ_COUNTS)

# ── announcements ──────────────────────────────────────────────────────────────────────────────────────


def announce(connection: Connection, announced: Sequence[NewAnnouncements]) -> None:
    """Store new announcements and move the next visits of announced pages forward. Safe to repeat."""
    for one in sorted(announced, key=lambda one: one.source):
        source = _source_id(connection, one)
        said = [signal for signal in one.signals if is_storable(signal[0])]
        if said:
            values = [
                {"source": source, "page": url, "given": at, "seen": one.seen_at, "until": until}
                for url, at, until in sorted(said, key=itemgetter(0))
            ]
            connection.execute(_insert_announcement(connection), values)
        gone = sorted(url for url in one.dropped if is_storable(url))
        if gone:
            connection.execute(_DROP, [{"source": source, "page": url} for url in gone])
        unwatched_signals.keep(connection, source, one)
        _call(connection, one)


def _source_id(connection: Connection, one: NewAnnouncements) -> int:
    values: dict[str, Any] = {"url": named(one.source, "URL"), "kind": one.kind, **dict.fromkeys(_COUNTS, 0.0)}
    values |= {**one.counted, "recent_reads": 1.0, "listed": one.listed, "read_at": one.seen_at}
    values["finds_pages"] = one.finds_pages
    statement = insert_into(connection, sources).values(**values, reads=1, floods=int(one.flood))
    statement = statement.on_conflict_do_update(
        index_elements=["url"],
        set_={
            "kind": one.kind,
            "reads": sources.c.reads + 1,
            "recent_reads": sources.c.recent_reads + 1.0,
            "floods": sources.c.floods + int(one.flood),
            "listed": one.listed,
            "read_at": one.seen_at,
            "finds_pages": one.finds_pages,
            **{name: sources.c[name] * one.keep + one.counted.get(name, 0.0) for name in READ_COUNTS},
        },
        where=func.coalesce(sources.c.read_at, 0.0) < one.seen_at,
    )
    connection.execute(statement)
    return int(connection.execute(select(sources.c.id).where(sources.c.url == one.source)).scalar_one())


_UNTIL = cast(bindparam("until"), Double)
_IS_NEWS = func.coalesce(
    pages.c.last_seen_at < _UNTIL, False
)  # for a page that was never seen, no announcement is news


def _insert_announcement(connection: Connection) -> Insert:
    """Insert the row; update an existing row only if the announced time is later."""
    found = select(
        pages.c.id,
        cast(bindparam("source"), signals.c.source_id.type),
        cast(bindparam("given"), Double),
        cast(bindparam("seen"), Double),
        case((_IS_NEWS, literal(1, Integer)), else_=literal(0, Integer)),
    ).where(pages.c.url == bindparam("page"))
    names = ["page_id", "source_id", "given_at", "seen_at", "news"]
    statement = insert_into(connection, signals).from_select(names, found)
    new = statement.excluded
    return statement.on_conflict_do_update(
        index_elements=["page_id", "source_id"],
        set_={"given_at": new.given_at, "seen_at": new.seen_at, "news": signals.c.news + new.news},
        where=func.coalesce(new.given_at > signals.c.given_at, new.given_at.is_not(None)),
    )


_DROP = delete(signals).where(
    signals.c.source_id == bindparam("source"),
    signals.c.page_id == select(pages.c.id).where(pages.c.url == bindparam("page")).scalar_subquery(),
)

_NOW = cast(bindparam("now"), Double)
_EARLIEST = pages.c.last_visit_at + cast(bindparam("rest"), Double)
_NEXT_AT = case((_EARLIEST > _NOW, _EARLIEST), else_=_NOW)
_CALL = (
    update(pages)
    .where(
        pages.c.url == bindparam("page"),
        pages.c.state == PageState.ACTIVE.value,
        pages.c.role == PageRole.PAGE.value,
        pages.c.every_s.is_(None),  # a fixed rhythm stays, whatever is announced
        pages.c.next_at > _NEXT_AT,
        _IS_NEWS,
    )
    .values(next_at=_NEXT_AT, reason=bindparam("why"))
)


def _call(connection: Connection, one: NewAnnouncements) -> None:
    """Move next visits forward, never back, and only for pages not seen since the announced time."""
    until = {url: at for url, _, at in one.signals}
    called = [url for url in sorted(one.visit_soon) if is_storable(url) and until.get(url) is not None]
    values = [
        {"page": url, "until": until[url], "now": one.seen_at, "rest": one.rest_s, "why": one.reason} for url in called
    ]
    locked = queue.lock_urls(connection, called)
    if locked:
        connection.execute(_CALL, values)
        queue.update_due(connection, locked)


# ── how often a source was right ────────────────────────────────────────────────────────────────────────────

_CHECK = (
    update(sources)
    .where(sources.c.id == bindparam("source"))
    .values({name: sources.c[name] * bindparam("keep") + bindparam(f"new_{name}") for name in VISIT_COUNTS})
)
_CLEAR_NEWS = (
    update(signals)
    .where(
        signals.c.page_id == bindparam("page"),
        signals.c.source_id == bindparam("source"),
        signals.c.seen_at == bindparam("seen"),  # a later announcement stays news
    )
    .values(news=0)
)


def check(connection: Connection, checked: Sequence[SourceCheck]) -> None:
    """Add the results of visits to the sources' counts. Not safe to repeat: the caller passes only new visits."""
    found = sorted(checked, key=lambda one: one.source_id)
    if found:
        connection.execute(_CHECK, [_counts(one) for one in found])
    settled = [
        {"page": page, "source": one.source_id, "seen": seen_at} for one in found for page, seen_at in one.settled
    ]
    if settled:
        connection.execute(_CLEAR_NEWS, settled)


def _counts(one: SourceCheck) -> dict[str, float]:
    added = {f"new_{name}": one.added.get(name, 0.0) for name in VISIT_COUNTS}
    return {"source": one.source_id, "keep": one.keep, **added}


# ── reading ───────────────────────────────────────────────────────────────────────────────────────────────

_SOURCES = select(
    sources.c.id, sources.c.url, sources.c.kind, *(sources.c[name] for name in _COUNTS),
    sources.c.reads, sources.c.floods, sources.c.listed, sources.c.read_at, sources.c.finds_pages,
).order_by(sources.c.id)  # fmt: skip
_ANNOUNCEMENTS = select(
    signals.c.page_id, signals.c.source_id, signals.c.given_at.label("at"), signals.c.seen_at, signals.c.news
).order_by(signals.c.page_id, signals.c.source_id)
_OF_PAGES = _ANNOUNCEMENTS.where(signals.c.page_id.in_(bindparam("ids", expanding=True)))
_LISTED = (
    select(pages.c.url, signals.c.given_at)
    .join(signals, signals.c.page_id == pages.c.id)
    .join(sources, sources.c.id == signals.c.source_id)
    .where(sources.c.url == bindparam("source"))
)


def listed_by(connection: Connection, source: str) -> dict[str, float | None]:
    found = connection.execute(_LISTED, {"source": source})
    return {row.url: row.given_at for row in found}


def announcements(connection: Connection, page_ids: Sequence[int]) -> list[Announcement]:
    return [
        Announcement(**row._mapping)
        for chunk in chunks(sorted(set(page_ids)))
        for row in connection.execute(_OF_PAGES, {"ids": chunk})
    ]


def announcements_after(connection: Connection, after: int, limit: int) -> list[Announcement]:
    """The latest announcements about the next `limit` pages by id."""
    page_ids = select(signals.c.page_id).where(signals.c.page_id > after).distinct()
    chosen = page_ids.order_by(signals.c.page_id).limit(limit).subquery()
    query = _ANNOUNCEMENTS.where(signals.c.page_id.in_(select(chosen.c.page_id)))
    return [Announcement(**row._mapping) for row in connection.execute(query)]


def sources_of(connection: Connection, urls: Sequence[str] | None = None) -> list[SignalSource]:
    if urls is None:
        return [_source(row) for row in connection.execute(_SOURCES)]
    return [
        _source(row)
        for chunk in chunks(sorted({url for url in urls if is_storable(url)}))
        for row in connection.execute(_SOURCES.where(sources.c.url.in_(chunk)))
    ]


def sources_by_id(connection: Connection, ids: Sequence[int]) -> dict[int, SignalSource]:
    return {
        source.id: source
        for chunk in chunks(sorted(set(ids)))
        for source in map(_source, connection.execute(_SOURCES.where(sources.c.id.in_(chunk))))
    }


def _source(row: Sequence[Any]) -> SignalSource:
    """The columns of `_SOURCES` have the order of the fields."""
    return SignalSource(**dict(zip(SignalSource.__struct_fields__, row, strict=True)))
