"""Which pages have copies that a policy has not learned from, and what there is to learn from."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import msgspec
from sqlalchemy import Connection, bindparam, case, delete, exists, func, select, update

from webstrata.records import PageRole, SightedPage
from webstrata.remember import statements
from webstrata.remember.statements import chunks, execute_many
from webstrata.remember.tables import copies, learned_pages, pages, site_states, visits

_HAS_COPIES = exists().where(copies.c.page_id == pages.c.id)
_LEARNED = (
    update(pages)
    .where(
        pages.c.id == bindparam("page"),
        (pages.c.last_visit_at.is_(None)) | (pages.c.last_visit_at <= bindparam("until")),
    )
    .values(policy=bindparam("policy_name"), policy_state=bindparam("learned"))
)
_headers = msgspec.json.Decoder(dict[str, str])


def forget_learned(connection: Connection, ids: Collection[int]) -> None:
    """These pages have copies that no policy has learned from."""
    for chunk in chunks(sorted(ids)):
        connection.execute(delete(learned_pages).where(learned_pages.c.page_id.in_(chunk)))


def save_learned(
    connection: Connection,
    policy: str,
    states: Sequence[tuple[int, bytes]],
    sites: Sequence[tuple[str, bytes]],
    now: float,
) -> None:
    """Store the states of pages and of sites that a policy learned from copies."""
    ordered = sorted(_not_visited_since(connection, states, now))
    rows = [{"page": id_, "until": now, "policy_name": policy, "learned": state} for id_, state in ordered]
    execute_many(connection, _LEARNED, rows)
    statements.put(connection, site_states, "host", [{"host": host, "state": state} for host, state in sites])
    statements.put(connection, learned_pages, "page_id", [{"page_id": id_, "at": now} for id_, _ in ordered])


def learned_at(connection: Connection) -> float | None:
    """When states were last learned from copies."""
    found: float | None = connection.execute(select(func.max(learned_pages.c.at))).scalar()
    return found


def _not_visited_since(
    connection: Connection, states: Sequence[tuple[int, bytes]], at: float
) -> list[tuple[int, bytes]]:
    """The states of pages without a later visit: those of the others have to be learned again, with that visit."""
    visited: set[int] = set()
    for chunk in chunks(sorted(id_ for id_, _ in states)):
        query = select(pages.c.id).where(pages.c.id.in_(chunk), pages.c.last_visit_at > at)
        visited.update(connection.execute(query).scalars())
    return [one for one in states if one[0] not in visited]


def hosts_to_learn(connection: Connection, policy: str) -> list[tuple[str, int]]:
    """The hosts with a page whose copies were not learned by this policy, and the number of their pages with copies."""
    if connection.execute(select(copies.c.page_id).limit(1)).first() is None:
        return []  # most homes have no copies: their pages need not be read
    is_known = exists().where(learned_pages.c.page_id == pages.c.id) & (pages.c.policy == policy)
    query = (
        select(pages.c.host, func.count())
        .where(_HAS_COPIES)
        .group_by(pages.c.host)
        .having(func.sum(case((is_known, 0), else_=1)) > 0)
        .order_by(pages.c.host)
    )
    return [(host, number) for host, number in connection.execute(query)]


def sighted_pages(connection: Connection, hosts: Sequence[str]) -> list[SightedPage]:
    """The pages of these hosts of which there are copies or own visits, by id."""
    found: list[SightedPage] = []
    for chunk in chunks(sorted(set(hosts))):
        of_hosts = pages.c.host.in_(chunk) & (pages.c.role == PageRole.PAGE.value)
        first = (
            select(visits.c.page_id, func.min(visits.c.at).label("at"))
            .join(pages, pages.c.id == visits.c.page_id)
            .where(of_hosts, pages.c.last_seen_at.is_not(None), visits.c.failure.is_(None))
            .group_by(visits.c.page_id)
            .subquery()
        )
        query = (
            select(
                pages.c.id, pages.c.host, _HAS_COPIES, visits.c.at, visits.c.text, visits.c.payload, visits.c.headers
            )
            .join_from(pages, first, first.c.page_id == pages.c.id, isouter=True)
            .join(visits, (visits.c.page_id == first.c.page_id) & (visits.c.at == first.c.at), isouter=True)
            .where(of_hosts, _HAS_COPIES | first.c.at.is_not(None))
        )
        found += [_sighted(row) for row in connection.execute(query)]
    return sorted(found, key=lambda page: page.page_id)


def _sighted(row: Sequence[Any]) -> SightedPage:
    page_id, host, has_copies, at, text, payload, headers = row
    return SightedPage(
        page_id=page_id,
        host=host,
        has_copies=bool(has_copies),
        first_at=at,
        first_text=text or "",
        first_payload=payload or "",
        first_coding="" if headers is None else _headers.decode(headers).get("content-encoding", ""),
    )
