"""What the allocator asks of the facts: pages as far as it needs them, what is due, how budgets stand, wishes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, bindparam, delete, select

from webstrata.records import Announcement, Boost, DuePage, IntervalLimit, PageRole, PageState, PageSummary
from webstrata.remember import rows, statements
from webstrata.remember.statements import bites
from webstrata.remember.tables import boosts, limits, pages, queue, signals, site_states, visits
from webstrata.remember.text import named

_REQUISITE = PageRole.REQUISITE.value
_WATCHED = (pages.c.state == PageState.ACTIVE.value) & (pages.c.role != _REQUISITE)
_OUTLINE = select(
    pages.c.id, pages.c.url, pages.c.host, pages.c.weight, pages.c.tags, pages.c.policy, pages.c.policy_state,
    pages.c.last_seen_at, pages.c.failures, pages.c.next_at, pages.c.visits, pages.c.changes, pages.c.added_at,
).where(_WATCHED)  # fmt: skip


def outlines(connection: Connection, after: int, limit: int) -> list[PageSummary]:
    """The next watched pages by id."""
    query = _OUTLINE.where(pages.c.id > after).order_by(pages.c.id).limit(limit)
    return [_outline(row) for row in connection.execute(query)]


def outlines_of(connection: Connection, ids: Sequence[int]) -> list[PageSummary]:
    """Those of the pages that are watched for their own sake."""
    return [
        _outline(row)
        for bite in bites(sorted(set(ids)))
        for row in connection.execute(_OUTLINE.where(pages.c.id.in_(bite)).order_by(pages.c.id))
    ]


def _outline(row: Sequence[Any]) -> PageSummary:
    id_, url, host, weight, tags, policy, state, seen_at, failures, next_at, visited, changes, added_at = row
    return PageSummary(
        id=id_, url=url, host=host, weight=weight, tags=rows.unpacked(tags), policy=policy, policy_state=state,
        last_seen_at=seen_at, failures=failures, next_at=next_at, visits=visited, changes=changes, added_at=added_at,
    )  # fmt: skip


_DUE = (
    select(pages.c.id, pages.c.host, pages.c.tags, pages.c.role, pages.c.last_seen_at)
    .join(queue, queue.c.page_id == pages.c.id)
    .where(queue.c.due_at <= bindparam("now"))
    .order_by(queue.c.due_at, queue.c.page_id)
    .limit(bindparam("most"))
)


def due_pages(connection: Connection, now: float, limit: int) -> list[DuePage]:
    """What may be claimed now, most overdue first."""
    found = connection.execute(_DUE, {"now": now, "most": limit})
    return [
        DuePage(id=id_, host=host, tags=rows.unpacked(tags), is_extra=role == _REQUISITE or seen_at is None)
        for id_, host, tags, role, seen_at in found
    ]


def logged(connection: Connection, ids: Sequence[int]) -> list[tuple[int, float, bool]]:
    """(page, when, whether it had changed) of the visits that saw these pages, by page and time."""
    return [
        (id_, at, counts)
        for bite in bites(sorted(set(ids)))
        for id_, at, counts in connection.execute(
            select(visits.c.page_id, visits.c.at, visits.c.counts)
            .where(visits.c.page_id.in_(bite), visits.c.failure.is_(None))
            .order_by(visits.c.page_id, visits.c.at)
        )
    ]


def announcements_after(connection: Connection, after: int, limit: int) -> list[Announcement]:
    """The last words of all sources on the next pages by id; all words on a page come together."""
    page_ids = select(signals.c.page_id).where(signals.c.page_id > after).distinct()
    chosen = page_ids.order_by(signals.c.page_id).limit(limit).subquery()
    query = (
        select(signals.c.page_id, signals.c.source_id, signals.c.given_at, signals.c.seen_at, signals.c.news)
        .where(signals.c.page_id.in_(select(chosen.c.page_id)))
        .order_by(signals.c.page_id, signals.c.source_id)
    )
    return [
        Announcement(page_id=page, source_id=source, at=at, seen_at=seen_at, news=news)
        for page, source, at, seen_at, news in connection.execute(query)
    ]


# ── sites ─────────────────────────────────────────────────────────────────────────────────────────────────


def all_site_states(connection: Connection, hosts: Sequence[str] | None = None) -> dict[str, bytes]:
    query = select(site_states.c.host, site_states.c.state)
    if hosts is None:
        return {row.host: row.state for row in connection.execute(query)}
    return {
        host: state
        for bite in bites(sorted(set(hosts)))
        for host, state in connection.execute(query.where(site_states.c.host.in_(bite)))
    }


def save_site_states(connection: Connection, states: Sequence[tuple[str, bytes]]) -> None:
    statements.put(connection, site_states, "host", [{"host": host, "state": state} for host, state in states])


# ── wishes ──────────────────────────────────────────────────────────────────────────────────────────────────


def all_boosts(connection: Connection) -> list[Boost]:
    found = connection.execute(select(boosts.c.tag, boosts.c.factor, boosts.c.since, boosts.c.until))
    return sorted(
        (Boost(tag=tag, factor=factor, since=since, until=until) for tag, factor, since, until in found),
        key=lambda boost: boost.tag,
    )


def set_boost(connection: Connection, boost: Boost) -> None:
    values = {"tag": named(boost.tag, "tag"), "factor": boost.factor, "since": boost.since, "until": boost.until}
    statements.put(connection, boosts, "tag", [values])


def end_boost(connection: Connection, tag: str) -> int:
    return connection.execute(delete(boosts).where(boosts.c.tag == tag)).rowcount


def all_limits(connection: Connection) -> list[IntervalLimit]:
    found = connection.execute(select(limits.c.kind, limits.c.name, limits.c.min_s, limits.c.max_s))
    return sorted(
        (IntervalLimit(kind=kind, name=name, min_s=least, max_s=most) for kind, name, least, most in found),
        key=lambda limit: (limit.kind, limit.name),
    )


def set_limit(connection: Connection, limit: IntervalLimit) -> None:
    """Take the place of the limit of this page or tag; without a shortest and a longest there is none any more."""
    connection.execute(delete(limits).where(limits.c.kind == limit.kind, limits.c.name == limit.name))
    if limit.min_s is not None or limit.max_s is not None:
        name = named(limit.name, "URL" if limit.kind == "page" else "tag")
        values = {"kind": limit.kind, "name": name, "min_s": limit.min_s, "max_s": limit.max_s}
        connection.execute(limits.insert().values(values))
