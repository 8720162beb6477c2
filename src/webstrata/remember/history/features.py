"""Static features of pages, and their importance in the link graph."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec
from msgspec.structs import asdict
from sqlalchemy import Connection, delete, select

from webstrata.records import Importance
from webstrata.remember.statements import chunks, execute_many, insert_into
from webstrata.remember.tables import page_features, page_importance
from webstrata.remember.text import packed

_features = msgspec.json.Decoder(dict[str, float])


def features_of(connection: Connection, ids: Sequence[int]) -> dict[int, dict[str, float]]:
    """The stored features of these pages."""
    return {
        page_id: _features.decode(features)
        for chunk in chunks(sorted(set(ids)))
        for page_id, features in connection.execute(
            select(page_features.c.page_id, page_features.c.features).where(page_features.c.page_id.in_(chunk))
        )
    }


def save_features(
    connection: Connection, features: Mapping[int, Mapping[str, float]], at: float | Mapping[int, float]
) -> None:
    """Store the features of contents of this time, or of each page's. Those of a later content are kept."""
    insert = insert_into(connection, page_features)
    upsert = insert.on_conflict_do_update(
        index_elements=["page_id"],
        set_={"features": insert.excluded.features, "at": insert.excluded.at},
        where=page_features.c.at <= insert.excluded.at,
    )
    times = at if isinstance(at, Mapping) else dict.fromkeys(features, at)
    rows = [{"page_id": id_, "features": packed(dict(features[id_])), "at": times[id_]} for id_ in sorted(features)]
    execute_many(connection, upsert, rows)


def importance_of(connection: Connection, ids: Sequence[int]) -> dict[int, Importance]:
    """The stored importance of these pages."""
    columns = [page_importance.c[name] for name in Importance.__struct_fields__]
    return {
        row.page_id: Importance(**row._mapping)
        for chunk in chunks(sorted(set(ids)))
        for row in connection.execute(select(*columns).where(page_importance.c.page_id.in_(chunk)))
    }


def save_importance(connection: Connection, rows: Sequence[Importance]) -> None:
    """Replace the importance of all pages."""
    connection.execute(delete(page_importance))
    execute_many(connection, page_importance.insert(), [asdict(row) for row in rows])
