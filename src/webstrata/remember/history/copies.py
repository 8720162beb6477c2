"""Copies of pages in other archives: storing them with the progress of their import, and reading them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, bindparam, func, select, update

from webstrata import urls
from webstrata.records import ArchivedCopy, CopyRow, ImportProgress, NewPage, PageState
from webstrata.remember import statements
from webstrata.remember.history import imports
from webstrata.remember.history.learned import forget_learned, not_visited_since
from webstrata.remember.history.links import add_links
from webstrata.remember.pages import insert_pages, known
from webstrata.remember.statements import chunks, execute_many, insert_into, insert_missing
from webstrata.remember.tables import archives, copies, learned_pages, pages, site_states
from webstrata.remember.text import required
from webstrata.remember.totals import TotalsDelta

_ROW = select(
    copies.c.page_id, copies.c.at, archives.c.name, copies.c.digest, copies.c.text, copies.c.status, copies.c.has_links
).join(archives, archives.c.id == copies.c.archive_id)

_COMPLETE = (
    update(copies)
    .where(copies.c.page_id == bindparam("page"), copies.c.at == bindparam("time"))
    .values({name: bindparam(name) for name in ("digest", "text", "status", "has_links")})
)
_LEARNED = (
    update(pages)
    .where(
        pages.c.id == bindparam("page"),
        (pages.c.last_visit_at.is_(None)) | (pages.c.last_visit_at <= bindparam("until")),
    )
    .values(policy=bindparam("policy_name"), policy_state=bindparam("learned"))
)


# ── importing ───────────────────────────────────────────────────────────────────────────────────────────────


def add(
    connection: Connection, found: Sequence[ArchivedCopy], progress: ImportProgress | None, now: float
) -> list[bool]:
    """Store copies and the progress of their import; for each copy whether it is new.

    A transaction that is repeated changes nothing, but then reports no copy as new.
    """
    ids = _page_ids(connection, sorted({copy.url for copy in found}), now)
    names = _archive_ids(connection, sorted({required(copy.archive) for copy in found}))
    before = _stored(connection, {ids[copy.url] for copy in found}, [copy.at for copy in found])
    is_new: list[bool] = []
    missing: dict[tuple[int, float], dict[str, Any]] = {}
    completed: dict[tuple[int, float], dict[str, Any]] = {}
    for copy in found:
        values = _values(copy, ids[copy.url], names)
        key = (values["page_id"], copy.at)
        known_values = missing.get(key) or completed.get(key) or before.get(key)
        is_new.append(known_values is None)
        if known_values is None:
            missing[key] = values
        elif (more := _completed(known_values, values)) is not None:
            (missing if key in missing else completed)[key] = more
    insert_missing(connection, copies, ["page_id", "at"], [missing[key] for key in sorted(missing)])
    execute_many(connection, _COMPLETE, [_completing(key, completed[key]) for key in sorted(completed)])
    forget_learned(connection, {key[0] for key in (*missing, *completed)})
    add_links(connection, [(ids[copy.url], copy.at, copy.links) for copy in found if copy.links is not None])
    if progress is not None:
        imports.put(connection, progress)
    return is_new


def _page_ids(connection: Connection, wanted: Sequence[str], now: float) -> dict[str, int]:
    """The id of each page; unknown pages are added as pages that are not visited."""
    ids = known(connection, wanted)
    missing = [url for url in wanted if url not in ids]
    if missing:
        delta = TotalsDelta()
        new = [NewPage(url=url, host=urls.host_of(url), state=PageState.CAPTURED) for url in missing]
        insert_pages(connection, new, now, delta)
        delta.write(connection)
        ids |= known(connection, missing)
    return ids


def _archive_ids(connection: Connection, names: Sequence[str]) -> dict[str, int]:
    insert_missing(connection, archives, ["name"], [{"name": name} for name in names])
    found = connection.execute(select(archives.c.name, archives.c.id).where(archives.c.name.in_(names)))
    return {row.name: row.id for row in found}


def _stored(
    connection: Connection, ids: set[int], times: Sequence[float]
) -> dict[tuple[int, float], Mapping[str, Any]]:
    """The stored copies of these pages in the range of these times."""
    stored: dict[tuple[int, float], Mapping[str, Any]] = {}
    for chunk in chunks(sorted(ids)):
        query = select(*copies.c).where(copies.c.page_id.in_(chunk), copies.c.at.between(min(times), max(times)))
        for row in connection.execute(query):
            stored[row.page_id, row.at] = dict(row._mapping)
    return stored


def _values(copy: ArchivedCopy, page_id: int, names: Mapping[str, int]) -> dict[str, Any]:
    return {
        "page_id": page_id,
        "at": copy.at,
        "archive_id": names[required(copy.archive)],
        "digest": required(copy.digest),
        "text": required(copy.text),
        "status": copy.status,
        "has_links": copy.links is not None,
    }


def _completed(before: Mapping[str, Any], more: Mapping[str, Any]) -> dict[str, Any] | None:
    """The stored copy with what it lacks; None if it lacks nothing."""
    changed = {
        name: more[name] for name in ("digest", "text", "status", "has_links") if more[name] and not before[name]
    }
    return {**before, **changed} if changed else None


def _completing(key: tuple[int, float], values: Mapping[str, Any]) -> dict[str, Any]:
    named = {name: values[name] for name in ("digest", "text", "status", "has_links")}
    return {"page": key[0], "time": key[1], **named}


# ── reading ─────────────────────────────────────────────────────────────────────────────────────────────────


def copy_rows(connection: Connection, ids: Sequence[int]) -> list[CopyRow]:
    """The copies of these pages, by page and time."""
    return [
        _copy_row(row)
        for chunk in chunks(sorted(set(ids)))
        for row in connection.execute(_ROW.where(copies.c.page_id.in_(chunk)).order_by(copies.c.page_id, copies.c.at))
    ]


def latest(connection: Connection, ids: Sequence[int]) -> dict[int, CopyRow]:
    """The latest copy of each of these pages."""
    found: dict[int, CopyRow] = {}
    for chunk in chunks(sorted(set(ids))):
        last = (
            select(copies.c.page_id, func.max(copies.c.at).label("last"))
            .where(copies.c.page_id.in_(chunk))
            .group_by(copies.c.page_id)
            .subquery()
        )
        query = _ROW.join(last, (last.c.page_id == copies.c.page_id) & (last.c.last == copies.c.at))
        found |= {row.page_id: _copy_row(row) for row in connection.execute(query)}
    return found


def _copy_row(row: Sequence[Any]) -> CopyRow:
    page_id, at, archive, digest, text, status, has_links = row
    return CopyRow(
        page_id=page_id, at=at, archive=archive, digest=digest, text=text, status=status, has_links=has_links
    )


def page_ids(connection: Connection, after: int, limit: int, host: str | None = None) -> list[int]:
    """The next pages by id that have copies."""
    query = select(copies.c.page_id).where(copies.c.page_id > after).distinct()
    if host is not None:
        query = query.join(pages, pages.c.id == copies.c.page_id).where(pages.c.host == host)
    return list(connection.execute(query.order_by(copies.c.page_id).limit(limit)).scalars())


# ── what was learned from copies ────────────────────────────────────────────────────────────────────────────


def save_learned(
    connection: Connection,
    policy: str,
    states: Sequence[tuple[int, bytes]],
    sites: Sequence[tuple[str, bytes]],
    now: float,
) -> None:
    """Store the states of pages and of sites that a policy learned from copies."""
    ordered = sorted(not_visited_since(connection, states, now))
    rows = [{"page": id_, "until": now, "policy_name": policy, "learned": state} for id_, state in ordered]
    execute_many(connection, _LEARNED, rows)
    statements.put(connection, site_states, "host", [{"host": host, "state": state} for host, state in sites])
    insert = insert_into(connection, learned_pages)
    upsert = insert.on_conflict_do_update(index_elements=["page_id"], set_={"at": insert.excluded.at})
    execute_many(connection, upsert, [{"page_id": id_, "at": now} for id_, _ in ordered])


def learned_at(connection: Connection) -> float | None:
    """When states were last learned from copies."""
    found: float | None = connection.execute(select(func.max(learned_pages.c.at))).scalar()
    return found
