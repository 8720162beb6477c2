"""Copies of pages in other archives: storing them with the progress of their import, and reading them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, bindparam, exists, func, select, update

from webstrata import urls
from webstrata.records import ArchivedCopy, CopyRow, ImportProgress, NewPage, PageState
from webstrata.remember import queue
from webstrata.remember.history import imports
from webstrata.remember.history.learned import forget_learned
from webstrata.remember.history.links import add_links
from webstrata.remember.pages import insert_pages, known
from webstrata.remember.statements import chunks, execute_many, insert_missing
from webstrata.remember.tables import archives, copies, pages
from webstrata.remember.text import is_nameable, required
from webstrata.remember.totals import TotalsDelta

_ROW = select(
    copies.c.page_id, copies.c.at, archives.c.name, copies.c.digest, copies.c.text, copies.c.status, copies.c.has_links
).join(archives, archives.c.id == copies.c.archive_id)

_Key = tuple[int, float]
"""Page id and time."""
_LONGEST_ARCHIVE = 200
_LONGEST_DIGEST = 300
"""A SHA-512 in hexadecimal has 128 characters."""
_LARGEST_STATUS = 999

_COMPLETE = (
    update(copies)
    .where(copies.c.page_id == bindparam("page"), copies.c.at == bindparam("time"))
    .values({name: bindparam(name) for name in ("digest", "text", "status", "has_links")})
)
_SAME = copies.alias("same")


def _pages_with_copies() -> Any:
    """From page to page by look-ups: the copies of a page, of which there may be thousands, are not read."""
    first = select(func.min(copies.c.page_id).label("id")).where(copies.c.page_id > bindparam("after"))
    found = first.cte("found", recursive=True)
    following = select(func.min(copies.c.page_id)).where(copies.c.page_id > found.c.id).scalar_subquery()
    found = found.union_all(select(following).where(found.c.id.is_not(None)))
    return select(found.c.id).where(found.c.id.is_not(None)).limit(bindparam("limit"))


_PAGES_WITH_COPIES = _pages_with_copies()


# ── importing ───────────────────────────────────────────────────────────────────────────────────────────────


def add(
    connection: Connection, found: Sequence[ArchivedCopy], progress: ImportProgress | None, now: float
) -> list[bool]:
    """Store copies and the progress of their import; for each copy whether it is new.

    A copy that cannot be stored (its URL is too long or has an unpaired surrogate, its time is no number) is left out,
    and is not new. A transaction that is repeated changes nothing, but then reports no copy as new.
    """
    ids = _page_ids(connection, sorted({copy.url for copy in found if _is_storable(copy)}), now)
    kept = [copy for copy in found if copy.url in ids and _is_storable(copy)]
    names = _archive_ids(connection, sorted({_archive_name(copy.archive) for copy in kept}))
    before = _stored(connection, {(ids[copy.url], copy.at) for copy in kept})
    is_new: list[bool] = []
    missing: dict[_Key, dict[str, Any]] = {}
    completed: dict[_Key, dict[str, Any]] = {}
    for copy in found:
        if copy.url not in ids or not _is_storable(copy):
            is_new.append(False)
            continue
        values = _values(copy, ids[copy.url], names)
        key = (ids[copy.url], copy.at)
        known_values = missing.get(key) or completed.get(key) or before.get(key)
        is_new.append(known_values is None)
        if known_values is None:
            missing[key] = values
        elif (more := _completed(known_values, values)) is not None:
            (missing if key in missing else completed)[key] = more
    insert_missing(connection, copies, ["page_id", "at"], [missing[key] for key in sorted(missing)])
    execute_many(connection, _COMPLETE, [_completing(key, completed[key]) for key in sorted(completed)])
    forget_learned(connection, {key[0] for key in (*missing, *completed)})
    add_links(connection, [(ids[copy.url], copy.at, copy.links) for copy in kept if copy.links is not None])
    if progress is not None:
        imports.put(connection, progress)
    return is_new


def _is_storable(copy: ArchivedCopy) -> bool:
    return is_nameable(copy.url) and math.isfinite(copy.at)


def _page_ids(connection: Connection, wanted: Sequence[str], now: float) -> dict[str, int]:
    """The id of each page, which stays locked; unknown pages are added as pages that are not visited.

    Known pages are locked before others are added, like in all transactions, which prevents deadlocks.
    """
    locked = queue.lock_urls(connection, wanted)
    ids = known(connection, wanted)
    missing = [url for url in wanted if url not in ids]
    if missing:
        delta = TotalsDelta()
        new = [NewPage(url=url, host=urls.host_of(url), state=PageState.CAPTURED) for url in missing]
        insert_pages(connection, new, now, delta)
        delta.write(connection)
        ids |= known(connection, missing)
        queue.lock(connection, set(ids.values()) - set(locked))
    return ids


def _archive_name(name: str) -> str:
    return required(name)[:_LONGEST_ARCHIVE]


def _archive_ids(connection: Connection, names: Sequence[str]) -> dict[str, int]:
    insert_missing(connection, archives, ["name"], [{"name": name} for name in names])
    return {
        row.name: row.id
        for chunk in chunks(names)
        for row in connection.execute(select(archives.c.name, archives.c.id).where(archives.c.name.in_(chunk)))
    }


def _stored(connection: Connection, keys: set[_Key]) -> dict[_Key, Mapping[str, Any]]:
    """The stored copies of these pages at these times: no others, as a page may have very many."""
    stored: dict[_Key, Mapping[str, Any]] = {}
    mark = "(%s::bigint, %s::float8)" if connection.dialect.name == "postgresql" else "(?, ?)"
    for chunk in chunks(sorted(keys)):
        values = tuple(value for key in chunk for value in key)
        for row in connection.exec_driver_sql(stored_query(mark, len(chunk)), values):
            stored[row.page_id, row.at] = dict(row._mapping)
    return stored


def stored_query(mark: str, number: int) -> str:
    """The SQL for a number of pages and times, each written as `mark`. SQLite would read the whole table for a
    condition on pairs, and looks rows up for a join."""
    wanted = ", ".join([mark] * number)
    return f"WITH wanted (page_id, at) AS (VALUES {wanted}) SELECT copies.* FROM wanted JOIN copies USING (page_id, at)"


def _values(copy: ArchivedCopy, page_id: int, names: Mapping[str, int]) -> dict[str, Any]:
    return {
        "page_id": page_id,
        "at": copy.at,
        "archive_id": names[_archive_name(copy.archive)],
        "digest": _digest(copy.digest),
        "text": _digest(copy.text),
        "status": copy.status if 0 <= copy.status <= _LARGEST_STATUS else 0,
        "has_links": copy.links is not None,
    }


def _digest(text: str) -> str:
    """What is longer than a digest is none: nothing is known then."""
    return required(text) if len(text) <= _LONGEST_DIGEST else ""


def _completed(before: Mapping[str, Any], more: Mapping[str, Any]) -> dict[str, Any] | None:
    """The stored copy with what it lacks; None if it lacks nothing, or if the other is a copy of another content."""
    algorithms = [one["digest"].partition(":")[0] for one in (before, more)]
    if algorithms[0] == algorithms[1] and before["digest"] != more["digest"]:
        return None
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


def stored(connection: Connection, keys: Sequence[tuple[str, float]]) -> list[bool]:
    """For each URL and time whether a copy is stored."""
    ids = known(connection, sorted({url for url, _ in keys}))
    found = _stored(connection, {(ids[url], at) for url, at in keys if url in ids})
    return [(ids.get(url, -1), at) in found for url, at in keys]


def latest(connection: Connection, ids: Sequence[int]) -> dict[int, CopyRow]:
    """The latest copy of each of these pages."""
    last = select(func.max(_SAME.c.at)).where(_SAME.c.page_id == pages.c.id).scalar_subquery()
    query = _ROW.join(pages, (pages.c.id == copies.c.page_id) & (copies.c.at == last))  # one look-up for each page
    return {
        row.page_id: _copy_row(row)
        for chunk in chunks(sorted(set(ids)))
        for row in connection.execute(query.where(pages.c.id.in_(chunk)))
    }


def _copy_row(row: Sequence[Any]) -> CopyRow:
    page_id, at, archive, digest, text, status, has_links = row
    return CopyRow(
        page_id=page_id, at=at, archive=archive, digest=digest, text=text, status=status, has_links=has_links
    )


def page_ids(connection: Connection, after: int, limit: int, host: str | None = None) -> list[int]:
    """The next pages by id that have copies."""
    if host is not None:
        has_copies = exists().where(copies.c.page_id == pages.c.id)
        query = select(pages.c.id).where(pages.c.host == host, pages.c.id > after, has_copies)
        return list(connection.execute(query.order_by(pages.c.id).limit(limit)).scalars())
    return list(connection.execute(_PAGES_WITH_COPIES, {"after": after, "limit": limit}).scalars())
