"""Places in the queue: when each page may be claimed, and who holds it.

A page's place is its next visit; while it is leased, the end of the lease; none if it is paused or has no next visit.
Places follow from the pages' rows. Whoever sets one holds the page's row, so that no two writers disagree; a claim
touches nothing but the queue.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from sqlalchemy import Connection, Select, bindparam, case, func, select, update

from webstrata.records import PageState
from webstrata.remember.among import execute_among
from webstrata.remember.tables import pages, queue
from webstrata.remember.upsert import bites, insert_into

_IS_ACTIVE = pages.c.state == PageState.ACTIVE.value
PLACE = case((_IS_ACTIVE, func.coalesce(queue.c.lease_until, pages.c.next_at)))
"""Where a page belongs."""
_HOLD = select(pages.c.id).order_by(pages.c.id).with_for_update(key_share=True)
_HAS_URL = pages.c.url.in_(bindparam("urls", expanding=True))
_HOLD_URLS = _HOLD.where(_HAS_URL)
_IDS = select(pages.c.id).where(_HAS_URL)


def newest(connection: Connection) -> int:
    """The largest id of a page so far."""
    return int(connection.execute(select(func.max(pages.c.id))).scalar() or 0)


def enter(connection: Connection, after: int) -> None:
    """Give the pages that this transaction added a place. Those of others beyond that id have theirs already."""
    added = select(pages.c.id, pages.c.next_at).where(pages.c.id > after).order_by(pages.c.id)
    statement = insert_into(connection, queue).from_select(["page_id", "due_at"], added)
    connection.execute(statement.on_conflict_do_nothing(index_elements=["page_id"]))


def hold(connection: Connection, ids: Iterable[int]) -> list[int]:
    """Keep others from changing pages until the transaction ends; those that there are."""
    return list(execute_among(connection, _holding, ids).scalars())


def hold_urls(connection: Connection, urls: Iterable[str]) -> list[int]:
    """The same by address; their ids."""
    return _each_bite(connection, _HOLD_URLS, urls)


def ids_of(connection: Connection, urls: Iterable[str]) -> list[int]:
    """The pages at these addresses, as far as there are any."""
    return _each_bite(connection, _IDS, urls)


def _each_bite(connection: Connection, query: Select[Any], urls: Iterable[str]) -> list[int]:
    found: list[int] = []
    for bite in bites(sorted(set(urls))):
        found += connection.execute(query, {"urls": bite}).scalars()
    return found


def place(connection: Connection, ids: Iterable[int]) -> None:
    """Put pages that the caller holds where they belong. Leases stay."""
    execute_among(connection, _placing, ids)


def release(connection: Connection, ids: Iterable[int]) -> None:
    """End the leases of pages that the caller holds, and put them where they belong."""
    execute_among(connection, _releasing, ids)


def _holding(among: Any) -> Any:
    return _HOLD.where(among(pages.c.id))


def _placing(among: Any) -> Any:
    misplaced = queue.c.due_at.is_distinct_from(PLACE)
    return update(queue).where(queue.c.page_id == pages.c.id, among(queue.c.page_id), misplaced).values(due_at=PLACE)


def _releasing(among: Any) -> Any:
    return (
        update(queue)
        .where(queue.c.page_id == pages.c.id, among(queue.c.page_id))
        .values(lease_until=None, lease_owner=None, due_at=case((_IS_ACTIVE, pages.c.next_at)))
    )
