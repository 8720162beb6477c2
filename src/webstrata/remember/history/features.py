"""Static features of pages, and their importance in the link graph."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import cache

import msgspec
from msgspec.structs import asdict
from sqlalchemy import Connection, delete, select, text
from sqlalchemy.dialects import sqlite

from webstrata.records import Importance
from webstrata.remember.statements import CHUNK, chunks, execute_many, insert_for
from webstrata.remember.tables import page_features, page_importance
from webstrata.remember.text import packed

_features = msgspec.json.Decoder(dict[str, float])
_WRITTEN = 20 * CHUNK
"""Rows that are written at a time, so that a home of a million pages does not need them all in memory twice."""


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
    """Store the features of contents of this time, or of each page's, unless those of a later content are stored."""
    times = at if isinstance(at, Mapping) else dict.fromkeys(features, at)
    put_features(connection, [(page_id, times[page_id], values) for page_id, values in features.items()])


def put_features(connection: Connection, found: Sequence[tuple[int, float, Mapping[str, float]]]) -> None:
    """The same for contents of different times: (page id, time, features)."""
    ordered = sorted(found, key=lambda one: one[:2])
    rows = [{"page_id": id_, "features": packed(_numbers(values)), "at": at} for id_, at, values in ordered]
    execute_many(connection, _putting_later(connection.dialect.name), rows)


@cache
def _putting_later(dialect: str) -> sqlite.Insert:
    insert = insert_for(dialect, page_features)
    return insert.on_conflict_do_update(
        index_elements=["page_id"],
        set_={"features": insert.excluded.features, "at": insert.excluded.at},
        where=page_features.c.at <= insert.excluded.at,
    )


def _numbers(features: Mapping[str, float]) -> dict[str, float]:
    """The features that are numbers, integers without a decimal point: JSON has no NaN."""
    return {
        name: int(value) if value == int(value) else value for name, value in features.items() if math.isfinite(value)
    }


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
    if connection.dialect.name == "postgresql":  # a second writer would not see, and so not replace, the rows of this
        connection.execute(text(f"LOCK TABLE {page_importance.name} IN SHARE ROW EXCLUSIVE MODE"))
    connection.execute(delete(page_importance))
    insert = page_importance.insert()
    for chunk in chunks(rows, _WRITTEN):
        execute_many(connection, insert, [asdict(row) for row in chunk])
