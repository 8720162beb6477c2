"""INSERT … ON CONFLICT in the words of either engine, and IN lists in bites that either engine takes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any, TypeVar

from sqlalchemy import Connection, Table
from sqlalchemy.dialects import sqlite

from webstrata.remember.many import execute_many

T = TypeVar("T")

BITE = 500
"""Values in one IN list: below every engine's limit, and few enough shapes for the statement cache."""


def insert_into(connection: Connection, table: Table) -> sqlite.Insert:
    """An INSERT that knows ON CONFLICT. Both dialects spell it alike; the type names one of them."""
    return _insert(connection.dialect.name, table)


def _insert(dialect: str, table: Table) -> sqlite.Insert:
    if dialect == "postgresql":
        from sqlalchemy.dialects import postgresql  # takes a while to load: only where it is spoken

        statement: Any = postgresql.insert(table)
        return statement  # type: ignore[no-any-return]
    return sqlite.insert(table)


# Statements are built once: building one takes longer than running it on a few rows.


@cache
def _inserting_missing(dialect: str, table: Table, key: tuple[str, ...]) -> sqlite.Insert:
    return _insert(dialect, table).on_conflict_do_nothing(index_elements=key)


@cache
def _putting(dialect: str, table: Table, key: str, names: tuple[str, ...]) -> sqlite.Insert:
    statement = _insert(dialect, table)
    changed = {name: statement.excluded[name] for name in names}
    return statement.on_conflict_do_update(index_elements=[key], set_=changed)


@cache
def _adding_up(dialect: str, table: Table, key: tuple[str, ...], names: tuple[str, ...]) -> sqlite.Insert:
    statement = _insert(dialect, table)
    sums = {name: table.c[name] + statement.excluded[name] for name in names}
    return statement.on_conflict_do_update(index_elements=key, set_=sums)


def insert_missing(connection: Connection, table: Table, key: Sequence[str], rows: Sequence[Any]) -> int:
    """Insert rows whose key is not there yet; how many those were."""
    return execute_many(connection, _inserting_missing(connection.dialect.name, table, tuple(key)), rows)


def put(
    connection: Connection,
    table: Table,
    key: str,
    rows: Sequence[dict[str, Any]],
    changing: Sequence[str] | None = None,
) -> None:
    """Insert rows, or overwrite those with the same key in the columns given. In the key's order: no deadlocks.

    `changing`: of a row that is there, only these columns are overwritten.
    """
    if not rows:
        return
    names = tuple(changing if changing is not None else (name for name in rows[0] if name != key))
    statement = _putting(connection.dialect.name, table, key, names)
    execute_many(connection, statement, sorted(rows, key=lambda row: row[key]))


def add_up(connection: Connection, table: Table, key: Sequence[str], rows: Sequence[dict[str, Any]]) -> None:
    """Insert rows of counts, or add them to the row with the same key."""
    if not rows:
        return
    names = tuple(name for name in rows[0] if name not in key)
    statement = _adding_up(connection.dialect.name, table, tuple(key), names)
    execute_many(connection, statement, sorted(rows, key=lambda row: [row[name] for name in key]))


def bites(values: Sequence[T], size: int = BITE) -> Iterator[Sequence[T]]:
    for start in range(0, len(values), size):
        yield values[start : start + size]
