"""Reading the visit log: visits of a page, archive positions, payload originals, download times."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Literal

from msgspec.structs import asdict, replace
from sqlalchemy import Connection, bindparam, case, delete, func, select

from webstrata.clock import DAY_S
from webstrata.records import Original, Outcome, Page, PageState, Position, RoundTiming, UnparsableContent, Visit
from webstrata.remember import rows
from webstrata.remember.statements import chunks
from webstrata.remember.tables import host_days, originals, pages, rounds, unparsable, visits

_CHANGES = [Outcome.NEW.value, Outcome.CHANGED.value, Outcome.GONE.value, Outcome.BACK.value]


def of_page(
    connection: Connection,
    page_id: int,
    *,
    changes_only: bool = False,
    errors_only: bool = False,
    since: float | None = None,
    until: float | None = None,
    limit: int | None = None,
    order: Literal["oldest", "newest"] = "newest",
) -> list[Visit]:
    query = select(*rows.VISIT_COLUMNS).where(visits.c.page_id == page_id).limit(limit)
    if changes_only:
        query = query.where(visits.c.outcome.in_(_CHANGES))
    if errors_only:
        query = query.where(visits.c.failure.is_not(None))
    if since is not None:
        query = query.where(visits.c.at >= since)
    if until is not None:
        query = query.where(visits.c.at <= until)
    query = query.order_by(visits.c.at if order == "oldest" else visits.c.at.desc())
    return [rows.visit(row) for row in connection.execute(query)]


_ORIGINALS = select(*(column for column in originals.c if column.name != "home"))
_NAMED_ORIGINALS = _ORIGINALS.where(
    originals.c.payload.in_(bindparam("payloads", expanding=True)), originals.c.home == bindparam("home")
)


def known_originals(connection: Connection, payloads: Sequence[str], home: str = "") -> dict[str, Original]:
    """The originals in the archive of this home: a revisit record must not refer to another archive."""
    found = {}
    for chunk in chunks(sorted(set(payloads))):
        for row in connection.execute(_NAMED_ORIGINALS, {"payloads": chunk, "home": home}):
            found[row.payload] = _original(row)
    return found


def readable_alone(connection: Connection, found: Sequence[Page], home: str) -> list[Page]:
    """The pages, without the validators of versions that only the archive of another home has.

    A 304 response would then be a record whose content is in no file of this archive.
    """
    own = known_originals(connection, [page.payload for page in found if page.payload is not None], home)
    return [page if page.payload in own else replace(page, etag=None, last_modified=None) for page in found]


def _original(row: Sequence[Any]) -> Original:
    payload, record_id, at, url, file, offset = row
    return Original(payload=payload, record_id=record_id, at=at, url=url, file=file, offset=offset)


_POSITIONS = select(
    visits.c.id, visits.c.file, visits.c.file_offset, visits.c.length, visits.c.record_id, visits.c.record_kind,
    visits.c.payload, visits.c.hops,
)  # fmt: skip


def positions_after(
    connection: Connection, last_id: int, size: int
) -> tuple[int | None, list[tuple[Position, str | None]]]:
    """The id of the last of the next `size` visits (None at the end of the log), and the positions of these visits."""
    found = connection.execute(_POSITIONS.where(visits.c.id > last_id).order_by(visits.c.id).limit(size)).all()
    positions = [position for row in found for position in _positions(*row[1:])]
    return (found[-1].id if found else None), positions


def _positions(
    file: str | None, offset: int, length: int, record_id: str, kind: str, payload: str | None, hops: str | None
) -> Iterator[tuple[Position, str | None]]:
    for hop in rows.hops(hops):
        if hop.position is not None:
            yield hop.position, None
    position = rows.position(file, offset, length, record_id, kind)
    if position is not None:
        yield position, payload


def visits_after(connection: Connection, last_id: int, size: int) -> list[Visit]:
    """The next visits of the log, by id."""
    query = select(*rows.VISIT_COLUMNS).where(visits.c.id > last_id).order_by(visits.c.id).limit(size)
    return [rows.visit(row) for row in connection.execute(query)]


def originals_after(connection: Connection, last: str, size: int, home: str = "") -> list[Original]:
    """The next originals in the archive of this home, by payload digest."""
    query = _ORIGINALS.where(originals.c.payload > last, originals.c.home == home)
    return [_original(row) for row in connection.execute(query.order_by(originals.c.payload).limit(size))]


def observations(connection: Connection, ids: Sequence[int]) -> list[tuple[int, float, bool]]:
    """(page id, time, changed) of the visits that saw the content of these pages, by page and time."""
    return [
        (id_, at, counts)
        for chunk in chunks(sorted(set(ids)))
        for id_, at, counts in connection.execute(
            select(visits.c.page_id, visits.c.at, visits.c.counts)
            .where(visits.c.page_id.in_(chunk), visits.c.failure.is_(None))
            .order_by(visits.c.page_id, visits.c.at)
        )
    ]


# ── download times and demand, for planning ─────────────────────────────────────────────────────────────────

_IS_ACTIVE = pages.c.state == PageState.ACTIVE.value
_LATEST = (
    select(pages.c.host, visits.c.duration_s, visits.c.status, visits.c.hops)
    .join(pages, pages.c.id == visits.c.page_id)
    .order_by(visits.c.id.desc())
)


def download_times(connection: Connection, limit: int) -> list[tuple[str, float, int]]:
    """(host, seconds, requests) of the latest visits; 0 requests if the visit ended before the first request."""
    found = connection.execute(_LATEST.limit(limit))
    return [
        (host, seconds, 1 + len(rows.hops(hops)) if status is not None or seconds > 0 else 0)
        for host, seconds, status, hops in found
    ]


def download_sums(connection: Connection) -> dict[str, tuple[int, float]]:
    """(visits, seconds) of every host since its first visit."""
    sums = select(host_days.c.host, func.sum(host_days.c.visits), func.sum(host_days.c.duration_s))
    return {host: (int(n), float(s)) for host, n, s in connection.execute(sums.group_by(host_days.c.host))}


def demand(connection: Connection) -> list[tuple[str, str, int, float]]:
    """(host, one of its pages, number of pages, visits per day at their current intervals) of active pages."""
    has_interval = pages.c.interval_s > 0
    per_day = func.coalesce(func.sum(case((has_interval, DAY_S / pages.c.interval_s), else_=0.0)), 0.0)
    query = select(pages.c.host, func.min(pages.c.url), func.count(), per_day).where(
        _IS_ACTIVE, pages.c.next_at.is_not(None)
    )
    found = connection.execute(query.group_by(pages.c.host).order_by(pages.c.host))
    return [(host, url, int(number), float(visits_per_day)) for host, url, number, visits_per_day in found]


_KEPT_ROUNDS = 100


def add_round(connection: Connection, timing: RoundTiming) -> None:
    """Add the timing of a round, and forget old ones."""
    connection.execute(rounds.insert(), asdict(timing))
    last = select(func.max(rounds.c.id)).scalar_subquery()
    connection.execute(delete(rounds).where(rounds.c.id <= last - _KEPT_ROUNDS))


def latest_rounds(connection: Connection, limit: int) -> list[RoundTiming]:
    """The timings of the latest rounds, latest first."""
    columns = (rounds.c.at, rounds.c.visits, rounds.c.seconds, rounds.c.limited_s)
    found = connection.execute(select(*columns).order_by(rounds.c.id.desc()).limit(limit))
    return [RoundTiming(at=at, visits=n, seconds=seconds, limited_s=limited_s) for at, n, seconds, limited_s in found]


_KEPT_UNPARSABLE = 10_000


def add_unparsable(connection: Connection, content: UnparsableContent) -> None:
    """Add a content that cannot be parsed, and forget the oldest ones."""
    connection.execute(delete(unparsable).where(unparsable.c.key == content.key))
    connection.execute(unparsable.insert(), asdict(content))
    newest = select(unparsable.c.key).order_by(unparsable.c.at.desc(), unparsable.c.key).limit(_KEPT_UNPARSABLE)
    count = connection.execute(select(func.count()).select_from(unparsable)).scalar_one()
    if count > _KEPT_UNPARSABLE:
        connection.execute(delete(unparsable).where(unparsable.c.key.not_in(newest.scalar_subquery())))


def unparsable_contents(connection: Connection, limit: int) -> list[UnparsableContent]:
    """The latest contents that cannot be parsed, latest first."""
    columns = [unparsable.c[name] for name in UnparsableContent.__struct_fields__]
    found = connection.execute(select(*columns).order_by(unparsable.c.at.desc(), unparsable.c.key).limit(limit))
    return [UnparsableContent(**row._mapping) for row in found]
