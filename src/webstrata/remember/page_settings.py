"""What users set for pages that are watched: tags, and the times of their visits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlalchemy import Connection, bindparam, delete, select, update

from webstrata.records import PageState, VisitTimes
from webstrata.remember import queue as queue_rows
from webstrata.remember import rows
from webstrata.remember.page_rules import forget_validators
from webstrata.remember.statements import chunks, insert_missing
from webstrata.remember.tables import is_timed, page_tags, pages, sites, tag_rules

_VISIT_TIMES = select(pages.c.id, pages.c.every_s, pages.c.windows, pages.c.snoozed_until).where(
    is_timed, pages.c.state == PageState.ACTIVE.value
)
_SET_TIMES = (
    update(pages)
    .where(pages.c.id == bindparam("page"))
    .values({name: bindparam(f"new_{name}") for name in ("every_s", "windows", "snoozed_until")})
)
_SET_NEXT = update(pages).where(pages.c.id == bindparam("page")).values(next_at=bindparam("new_next_at"))
_SET_TAGS = update(pages).where(pages.c.id == bindparam("page")).values(tags=bindparam("new_tags"))


def retag(connection: Connection, ids: Sequence[int], add: Sequence[str], remove: Sequence[str]) -> int:
    """Add tags to pages and remove others; returns the number of pages that changed."""
    changes = []
    for chunk in chunks(sorted(set(ids))):
        query = select(pages.c.id, pages.c.tags).where(pages.c.id.in_(chunk)).order_by(pages.c.id).with_for_update()
        for page_id, before in connection.execute(query):
            kept = [tag for tag in (*rows.unpacked(before), *add) if tag not in remove]
            if (after := rows.packed_tags(kept)) != before:
                changes.append({"page": page_id, "new_tags": after})
    if not changes:
        return 0
    connection.execute(_SET_TAGS, changes)
    changed = [change["page"] for change in changes]
    added = [{"tag": tag, "page_id": page_id} for tag in sorted({*add} - {*remove}) for page_id in changed]
    insert_missing(connection, page_tags, ["tag", "page_id"], added)
    for chunk in chunks(changed):
        removed = page_tags.c.tag.in_(remove) & page_tags.c.page_id.in_(chunk)
        connection.execute(delete(page_tags).where(removed))
    _forget_tag_rules(connection, changed, {*add, *remove})
    return len(changes)


def _forget_tag_rules(connection: Connection, ids: Sequence[int], tags: set[str]) -> None:
    """Rules of a tag may ask for another response: a 304 must not stand for it."""
    if connection.execute(select(tag_rules.c.tag).where(tag_rules.c.tag.in_(sorted(tags)))).first() is not None:
        for chunk in chunks(ids):
            forget_validators(connection, pages.c.id.in_(chunk))


def remove_site_tags(connection: Connection, remove: Sequence[str]) -> int:
    """Pages that are discovered from now on do not get these tags; returns the number of sites that changed."""
    changed = 0
    for site in connection.execute(select(sites.c.id, sites.c.tags).order_by(sites.c.id).with_for_update()).all():
        kept = rows.packed_tags([tag for tag in rows.unpacked(site.tags) if tag not in remove])
        if kept != site.tags:
            connection.execute(update(sites).where(sites.c.id == site.id).values(tags=kept))
            changed += 1
    return changed


# ── visit times ─────────────────────────────────────────────────────────────────────────────────────────────────


def visit_times(connection: Connection) -> list[VisitTimes]:
    """The visit times of the active pages for which a user set some."""
    return [
        VisitTimes(page_id=page_id, every_s=every_s, windows=windows, snoozed_until=until)
        for page_id, every_s, windows, until in connection.execute(_VISIT_TIMES.order_by(pages.c.id))
    ]


def set_visit_times(connection: Connection, times: Sequence[VisitTimes], next_at: Mapping[int, float]) -> None:
    """Replace the visit times of pages, and set the next visits of some of them."""
    locked = queue_rows.lock(connection, (one.page_id for one in times))
    values = [
        {
            "page": one.page_id,
            "new_every_s": one.every_s,
            "new_windows": one.windows,
            "new_snoozed_until": one.snoozed_until,
        }
        for one in times
    ]
    if locked:
        connection.execute(_SET_TIMES, values)
        moved = [{"page": id_, "new_next_at": next_at[id_]} for id_ in locked if id_ in next_at]
        if moved:
            connection.execute(_SET_NEXT, moved)
        queue_rows.update_due(connection, locked)
