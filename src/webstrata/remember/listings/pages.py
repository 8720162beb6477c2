"""Pages in any order: the database sorts their ids, and the pages are then read in chunks.

Only the order by URL and by age has an index. The other orders are read rarely, and an index would be written at every
visit; a sort of a million ids takes about as long as it takes to read the pages.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, Select, collate, select

from webstrata.records import Outcome, Page, PageFilter, PageOrder, PageRole, PageState
from webstrata.remember import rows
from webstrata.remember.statements import chunks
from webstrata.remember.tables import page_tags, pages

_KEYS: dict[PageOrder, Any] = {
    "url": pages.c.url,
    "added": pages.c.id,
    "next": pages.c.next_at,
    "changed": pages.c.last_change_at,
    "visited": pages.c.last_visit_at,
    "changes": pages.c.changes,
    "failures": pages.c.failures,
    "size": pages.c.full_bytes,
}
_FROM_SMALLEST = frozenset({"url", "added", "next"})


def sorted_ids(
    connection: Connection, wanted: PageFilter, order: PageOrder, *, reverse: bool, limit: int | None
) -> list[int]:
    """The ids of the pages of a listing in order. Pages without the value (never visited) are always last."""
    key = _KEYS[order]
    if order == "url" and connection.dialect.name == "postgresql":
        key = collate(key, "C")  # by characters, as SQLite sorts, in any locale of the server
    is_ascending = (order in _FROM_SMALLEST) is not reverse
    query = _filtered(select(pages.c.id), wanted).order_by(
        *([key.is_(None)] if _KEYS[order].nullable else []),
        key.asc() if is_ascending else key.desc(),
        pages.c.id,
    )
    return list(connection.execute(query.limit(limit)).scalars())


def _filtered(query: Select[Any], wanted: PageFilter) -> Select[Any]:
    if wanted.tag is not None:
        query = query.join(page_tags, page_tags.c.page_id == pages.c.id).where(page_tags.c.tag == wanted.tag)
    if wanted.host is not None:
        query = query.where(pages.c.host == wanted.host)
    if wanted.state is not None:
        query = query.where(pages.c.state == wanted.state.value)
    else:
        query = query.where(pages.c.state != PageState.CAPTURED.value)
    if not wanted.requisites:
        query = query.where(pages.c.role != PageRole.REQUISITE.value)
    if wanted.changed:
        query = query.where(pages.c.changes > 0)
    if wanted.since is not None:
        query = query.where(pages.c.last_change_at >= wanted.since)
    if wanted.errors:
        query = query.where(pages.c.last_outcome == Outcome.ERROR.value)
    return query


def pages_by_id(connection: Connection, ids: Sequence[int]) -> dict[int, Page]:
    """The pages with these ids."""
    found: dict[int, Page] = {}
    for chunk in chunks(ids):
        for row in connection.execute(select(*rows.PAGE_COLUMNS).where(pages.c.id.in_(chunk))):
            found[row.id] = rows.page(row)
    return found
