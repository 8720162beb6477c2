"""The crawl log read back: a page's visits, and every place in the archive that the log names."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal

from sqlalchemy import Connection, bindparam, select

from webstrata.records import Original, Outcome, Position, Visit
from webstrata.remember import rows
from webstrata.remember.statements import bites
from webstrata.remember.tables import originals, visits

_CHANGES = [Outcome.NEW.value, Outcome.CHANGED.value, Outcome.GONE.value, Outcome.BACK.value]


def of_page(
    connection: Connection,
    page_id: int,
    *,
    changes_only: bool = False,
    since: float | None = None,
    until: float | None = None,
    limit: int | None = None,
    order: Literal["oldest", "newest"] = "newest",
) -> list[Visit]:
    query = select(*rows.VISIT_COLUMNS).where(visits.c.page_id == page_id).limit(limit)
    if changes_only:
        query = query.where(visits.c.outcome.in_(_CHANGES))
    if since is not None:
        query = query.where(visits.c.at >= since)
    if until is not None:
        query = query.where(visits.c.at <= until)
    query = query.order_by(visits.c.at if order == "oldest" else visits.c.at.desc())
    return [rows.visit(row) for row in connection.execute(query)]


_ORIGINALS = select(originals).where(originals.c.payload.in_(bindparam("payloads", expanding=True)))


def known_originals(connection: Connection, payloads: Sequence[str]) -> dict[str, Original]:
    found = {}
    for bite in bites(sorted(set(payloads))):
        for row in connection.execute(_ORIGINALS, {"payloads": bite}):
            payload, record_id, at, url, file, offset = row
            found[payload] = Original(payload=payload, record_id=record_id, at=at, url=url, file=file, offset=offset)
    return found


_PLACES = select(
    visits.c.id, visits.c.file, visits.c.file_offset, visits.c.length, visits.c.record_id, visits.c.record_kind,
    visits.c.payload, visits.c.hops,
)  # fmt: skip


def places_after(
    connection: Connection, last_id: int, size: int
) -> tuple[int | None, list[tuple[Position, str | None]]]:
    """Positions of the next `size` visits, and the last of their ids (none: the log is at its end)."""
    found = connection.execute(_PLACES.where(visits.c.id > last_id).order_by(visits.c.id).limit(size)).all()
    places = [place for row in found for place in _places(*row[1:])]
    return (found[-1].id if found else None), places


def _places(
    file: str | None, offset: int, length: int, record_id: str, kind: str, payload: str | None, hops: str | None
) -> Iterator[tuple[Position, str | None]]:
    for hop in rows.hops(hops):
        if hop.position is not None:
            yield hop.position, None
    place = rows.position(file, offset, length, record_id, kind)
    if place is not None:
        yield place, payload
