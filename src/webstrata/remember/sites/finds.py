"""Counts of what discovery found on a site, by source and by path, and what its bounds left out."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import asdict
from sqlalchemy import Connection, select

from webstrata.records import SiteFind
from webstrata.remember.statements import chunks, execute_many, insert_into
from webstrata.remember.tables import site_finds
from webstrata.remember.text import is_storable

_KEY = ("site_id", "kind", "name")


def add(connection: Connection, finds: Sequence[SiteFind]) -> None:
    """Add what was found to the counts, and replace what was left out."""
    rows = [asdict(find) for find in finds if is_storable(find.name)]
    statement = insert_into(connection, site_finds)
    new = statement.excluded
    changed = {"found": site_finds.c.found + new.found, "left_out": new.left_out, "why": new.why}
    statement = statement.on_conflict_do_update(index_elements=_KEY, set_=changed)
    execute_many(connection, statement, sorted(rows, key=lambda row: [row[name] for name in _KEY]))


def finds(connection: Connection, keys: Sequence[tuple[int, str, str]]) -> list[SiteFind]:
    wanted = set(keys)
    names = sorted({name for _, _, name in wanted if is_storable(name)})
    # All columns of the key are named, so that the engine looks rows up instead of reading all of a site.
    columns = (
        site_finds.c.site_id.in_(sorted({key[0] for key in wanted})),
        site_finds.c.kind.in_(sorted({key[1] for key in wanted})),
    )
    found: list[SiteFind] = []
    for chunk in chunks(names):
        query = select(site_finds).where(*columns, site_finds.c.name.in_(chunk))
        found += [SiteFind(**row._mapping) for row in connection.execute(query)]
    return [find for find in found if (find.site_id, find.kind, find.name) in wanted]


def left_out(connection: Connection) -> list[SiteFind]:
    query = select(site_finds).where(site_finds.c.left_out > 0)
    return [SiteFind(**row._mapping) for row in connection.execute(query.order_by(*(site_finds.c[n] for n in _KEY)))]
