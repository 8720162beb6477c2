"""What budgets are spent on: summaries of active pages, policy states of sites, boosts and interval interval_limits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from msgspec.structs import asdict
from sqlalchemy import Connection, delete, select

from webstrata.records import Boost, IntervalLimit, PageRole, PageState, PageSummary
from webstrata.remember import rows, statements
from webstrata.remember.statements import chunks
from webstrata.remember.tables import boosts, interval_limits, pages, site_states
from webstrata.remember.text import named

_REQUISITE = PageRole.REQUISITE.value
_ACTIVE_PAGES = (pages.c.state == PageState.ACTIVE.value) & (pages.c.role != _REQUISITE)
_SUMMARY = select(
    pages.c.id, pages.c.url, pages.c.host, pages.c.weight, pages.c.tags, pages.c.policy, pages.c.policy_state,
    pages.c.last_seen_at, pages.c.failures, pages.c.next_at, pages.c.visits, pages.c.changes, pages.c.added_at,
    pages.c.interval_s, pages.c.full_bytes, pages.c.answers_304,
).where(_ACTIVE_PAGES)  # fmt: skip


def page_summaries(connection: Connection, after: int, limit: int) -> list[PageSummary]:
    """The next active pages by id, without requisites."""
    query = _SUMMARY.where(pages.c.id > after).order_by(pages.c.id).limit(limit)
    return [_summary(row) for row in connection.execute(query)]


def page_summaries_of(connection: Connection, ids: Sequence[int]) -> list[PageSummary]:
    """The active pages among these, without requisites."""
    return [
        _summary(row)
        for chunk in chunks(sorted(set(ids)))
        for row in connection.execute(_SUMMARY.where(pages.c.id.in_(chunk)).order_by(pages.c.id))
    ]


def _summary(row: Sequence[Any]) -> PageSummary:
    (
        id_, url, host, weight, tags, policy, state, seen_at, failures, next_at, visits, changes, added_at, interval_s,
        full_bytes, answers_304,
    ) = row  # fmt: skip
    return PageSummary(
        id=id_, url=url, host=host, weight=weight, tags=rows.unpacked(tags), policy=policy, policy_state=state,
        last_seen_at=seen_at, failures=failures, next_at=next_at, visits=visits, changes=changes, added_at=added_at,
        interval_s=interval_s, full_bytes=full_bytes, answers_304=answers_304,
    )  # fmt: skip


# ── policy states of sites ──────────────────────────────────────────────────────────────────────────────────────


def site_states_of(connection: Connection, hosts: Sequence[str] | None = None) -> dict[str, bytes]:
    query = select(site_states.c.host, site_states.c.state)
    if hosts is None:
        return {row.host: row.state for row in connection.execute(query)}
    return {
        host: state
        for chunk in chunks(sorted(set(hosts)))
        for host, state in connection.execute(query.where(site_states.c.host.in_(chunk)))
    }


def save_site_states(connection: Connection, states: Sequence[tuple[str, bytes]]) -> None:
    statements.put(connection, site_states, "host", [{"host": host, "state": state} for host, state in states])


# ── boosts and interval limits ────────────────────────────────────────────────────────────────────────────────────


def all_boosts(connection: Connection) -> list[Boost]:
    found = (Boost(**row._mapping) for row in connection.execute(select(boosts)))
    return sorted(found, key=lambda boost: boost.tag)


def set_boost(connection: Connection, boost: Boost) -> None:
    named(boost.tag, "tag")
    statements.put(connection, boosts, "tag", [asdict(boost)])


def end_boost(connection: Connection, tag: str) -> int:
    return connection.execute(delete(boosts).where(boosts.c.tag == tag)).rowcount


def all_limits(connection: Connection) -> list[IntervalLimit]:
    found = (IntervalLimit(**row._mapping) for row in connection.execute(select(interval_limits)))
    return sorted(found, key=lambda limit: (limit.kind, limit.name))


def set_limit(connection: Connection, limit: IntervalLimit) -> None:
    """Replace the limit of this page or tag. A limit without minimum and maximum removes it."""
    connection.execute(
        delete(interval_limits).where(interval_limits.c.kind == limit.kind, interval_limits.c.name == limit.name)
    )
    if limit.min_s is not None or limit.max_s is not None:
        named(limit.name, "URL" if limit.kind == "page" else "tag")
        connection.execute(interval_limits.insert().values(asdict(limit)))
