"""The visits of all pages by time, and the last failures of pages.

Changes and failures have partial indexes by time, which only visits of these kinds enter: a commit of visits without a
change writes one index entry by time.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from sqlalchemy import ColumnElement, Connection, Select, exists, func, literal_column, select, true, tuple_

from webstrata.records import FailingPage, Failure, FailureKind, PageRole, PageVisit, VisitFilter
from webstrata.remember import rows
from webstrata.remember.statements import chunks
from webstrata.remember.tables import page_tags, pages, visits

VisitOrder = Literal["newest", "oldest"]
Place = tuple[float, int]
"""Time and page of a visit: no two visits have the same."""

_SIZE = len(rows.VISIT_COLUMNS)
# As in the definitions of the indexes: an engine uses a partial index only if the query has its condition.
_IS_VERSION: ColumnElement[bool] = literal_column("(visits.counts OR visits.kind = 'new')")
_HAS_FAILED = visits.c.failure.is_not(None)
_BEFORE = visits.alias("before")
_SEEN_BEFORE = (
    select(_BEFORE.c.at)
    .where(_BEFORE.c.page_id == visits.c.page_id, _BEFORE.c.at < visits.c.at, _BEFORE.c.failure.is_(None))
    .order_by(_BEFORE.c.at.desc())
    .limit(1)
    .correlate(visits)
    .scalar_subquery()
)


def visits_by_time(
    connection: Connection, wanted: VisitFilter, order: VisitOrder, last: Place | None, size: int
) -> list[PageVisit]:
    """The next visits of a listing, after the one at `last`: a listing is several short transactions."""
    is_change = wanted.which in ("changes", "versions")
    before = [_SEEN_BEFORE.label("seen_before")] if is_change else []
    page = (pages.c.url, pages.c.host, pages.c.tags, pages.c.role)
    query = _filtered(select(*rows.VISIT_COLUMNS, *page, *before), wanted)
    key = (visits.c.at, visits.c.page_id)
    query = query.order_by(*(key if order == "oldest" else (column.desc() for column in key)))
    if last is not None:
        place, found_last = tuple_(*key), tuple_(*last)
        query = query.where(place > found_last if order == "oldest" else place < found_last)
    return [_page_visit(row) for row in connection.execute(query.limit(size))]


def count_visits_by_time(connection: Connection, wanted: VisitFilter) -> tuple[int, int]:
    """The number of visits of a listing, and that of their pages."""
    counts: Any = select(func.count(), func.count(visits.c.page_id.distinct()))
    number, of_pages = connection.execute(_filtered(counts, wanted)).one()
    return number, of_pages


def _filtered(query: Select[Any], wanted: VisitFilter) -> Select[Any]:
    query = query.select_from(visits.join(pages, pages.c.id == visits.c.page_id)).where(*_conditions(wanted))
    if wanted.tag is not None:
        tagged = exists().where(page_tags.c.tag == wanted.tag, page_tags.c.page_id == visits.c.page_id)
        query = query.where(tagged)
    return query


def _conditions(wanted: VisitFilter) -> list[ColumnElement[bool]]:
    found: list[ColumnElement[bool]] = []
    if wanted.which in ("changes", "versions"):
        found.append(_IS_VERSION)
    if wanted.which == "changes":
        found.append(visits.c.counts == true())
    if wanted.which == "errors":
        found.append(_HAS_FAILED)
    if wanted.since is not None:
        found.append(visits.c.at >= wanted.since)
    if wanted.until is not None:
        found.append(visits.c.at <= wanted.until)
    if wanted.host is not None:
        found.append(pages.c.host == wanted.host)
    if wanted.kind is not None:
        found.append(visits.c.kind == wanted.kind.value)
    if wanted.min_significance > 0:
        found.append(visits.c.significance >= wanted.min_significance)
    if not wanted.requisites:
        found.append(pages.c.role != PageRole.REQUISITE.value)
    return found


def _page_visit(row: Sequence[Any]) -> PageVisit:
    url, host, tags, role, *before = row[_SIZE:]
    return PageVisit(
        visit=rows.visit(row[:_SIZE]),
        url=url,
        host=host,
        tags=rows.unpacked(tags),
        role=PageRole(role),
        seen_before_at=before[0] if before else None,
    )


# ── failures ────────────────────────────────────────────────────────────────────────────────────────────────


def _of_page(*columns: Any) -> Any:
    """Visits of the page of the surrounding query."""
    return select(*columns).where(_BEFORE.c.page_id == pages.c.id).correlate(pages)


_LAST_AT = _of_page(_BEFORE.c.at).order_by(_BEFORE.c.at.desc()).limit(1).scalar_subquery()
_FAILING_SINCE = (
    _of_page(_BEFORE.c.at)
    .where(_BEFORE.c.at > func.coalesce(pages.c.last_seen_at, -1e300))
    .order_by(_BEFORE.c.at)
    .limit(1)
    .scalar_subquery()
)
_FAILING = (
    select(visits.c.page_id, visits.c.at, visits.c.status, visits.c.failure, visits.c.failure_detail, _FAILING_SINCE)
    .select_from(pages.join(visits, (visits.c.page_id == pages.c.id) & (visits.c.at == _LAST_AT)))
    .where(_HAS_FAILED)
)


def failing_pages(connection: Connection, ids: Sequence[int]) -> dict[int, FailingPage]:
    """The pages among these whose last visit failed."""
    return {
        page_id: FailingPage(
            page_id=page_id,
            at=at,
            since=at if since is None else since,
            status=status,
            failure=Failure(kind=FailureKind(kind), detail=detail),
        )
        for chunk in chunks(sorted(set(ids)))
        for page_id, at, status, kind, detail, since in connection.execute(_FAILING.where(pages.c.id.in_(chunk)))
    }
