"""Statements for many rows that work on both engines.

- `execute_among`: a condition on a list of ids or names, passed as one parameter instead of one per id.
- `execute_many`: one compiled statement for many rows, without SQLAlchemy's work for each row. Both drivers accept the
  values (instants, flags, bytes) without conversion.
- INSERT … ON CONFLICT, and IN lists in chunks below the engines' limits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache, lru_cache, partial
from operator import itemgetter
from typing import Any, TypeVar

from msgspec import json
from sqlalchemy import (
    ARRAY,
    BigInteger,
    ColumnElement,
    Connection,
    CursorResult,
    Dialect,
    Table,
    Text,
    any_,
    bindparam,
    func,
    select,
)
from sqlalchemy.dialects import sqlite
from sqlalchemy.sql.expression import UpdateBase
from sqlalchemy.types import TypeEngine

Build = Callable[[Callable[[ColumnElement[Any]], ColumnElement[bool]]], Any]


def execute_among(connection: Connection, build: Build, ids: Iterable[int], **others: Any) -> CursorResult[Any]:
    """Run the statement that `build` makes with the condition `among(column)`, for these ids.

    `build` is a function of a module, not made anew for each call: its statement is built once for each engine.
    """
    wanted: Any = sorted(set(ids))
    if connection.dialect.name == "sqlite":
        wanted = f"[{','.join(map(str, wanted))}]"
    return connection.execute(_built(connection.dialect.name, build), {"ids": wanted, **others})


def execute_among_names(connection: Connection, build: Build, names: Iterable[str], **others: Any) -> CursorResult[Any]:
    """The same for names."""
    wanted: Any = sorted(set(names))
    if connection.dialect.name == "sqlite":
        wanted = json.encode(wanted).decode()
    return connection.execute(_built(connection.dialect.name, build, Text), {"ids": wanted, **others})


@cache
def _built(dialect: str, build: Build, kind: type[TypeEngine[Any]] = BigInteger) -> Any:
    return build(_in_json if dialect == "sqlite" else partial(_in_array, kind))


def _in_json(column: ColumnElement[Any]) -> ColumnElement[bool]:
    return column.in_(select(func.json_each(bindparam("ids")).table_valued("value").c.value))


def _in_array(kind: type[TypeEngine[Any]], column: ColumnElement[Any]) -> ColumnElement[bool]:
    return column == any_(bindparam("ids", type_=ARRAY(kind)))


Rows = Sequence[Mapping[str, Any]]


def execute_many(connection: Connection, statement: UpdateBase, rows: Rows) -> int:
    """Run the statement for each row (all with the same keys); returns the number of changed rows."""
    if not rows:
        return 0
    sql, arranged = _compiled(connection.dialect, statement, tuple(rows[0]))
    return connection.exec_driver_sql(sql, [arranged(row) for row in rows]).rowcount


@lru_cache(maxsize=256)
def _compiled(
    dialect: Dialect, statement: UpdateBase, names: tuple[str, ...]
) -> tuple[str, Callable[[Mapping[str, Any]], Any]]:
    compiled: Any = statement.compile(dialect=dialect, column_keys=list(names))
    fixed = {name: value for name, value in compiled.params.items() if name not in names}
    if not compiled.positional:
        return str(compiled), lambda row: {**fixed, **row}
    order = compiled.positiontup
    in_order: Any = itemgetter(*order) if len(order) > 1 else lambda row: (row[order[0]],)
    if not fixed:
        return str(compiled), in_order
    return str(compiled), lambda row: in_order({**fixed, **row})


T = TypeVar("T")

CHUNK = 500
"""Values in one IN list: below every engine's limit, and few enough shapes for the statement cache."""


def insert_into(connection: Connection, table: Table) -> sqlite.Insert:
    """An INSERT with ON CONFLICT. Both dialects have the same methods; the annotation names one of them."""
    return insert_for(connection.dialect.name, table)


def insert_for(dialect: str, table: Table) -> sqlite.Insert:
    """The same for statements that are built once for each engine."""
    if dialect == "postgresql":
        from sqlalchemy.dialects import postgresql  # takes a while to load: only where it is spoken

        statement: Any = postgresql.insert(table)
        return statement  # type: ignore[no-any-return]
    return sqlite.insert(table)


# Statements are built once: building one takes longer than running it on a few rows.


@cache
def _inserting_missing(dialect: str, table: Table, key: tuple[str, ...]) -> sqlite.Insert:
    return insert_for(dialect, table).on_conflict_do_nothing(index_elements=key)


@cache
def _putting(dialect: str, table: Table, key: str, names: tuple[str, ...]) -> sqlite.Insert:
    statement = insert_for(dialect, table)
    changed = {name: statement.excluded[name] for name in names}
    return statement.on_conflict_do_update(index_elements=[key], set_=changed)


@cache
def _adding_up(dialect: str, table: Table, key: tuple[str, ...], names: tuple[str, ...]) -> sqlite.Insert:
    statement = insert_for(dialect, table)
    sums = {name: table.c[name] + statement.excluded[name] for name in names}
    return statement.on_conflict_do_update(index_elements=key, set_=sums)


def insert_missing(connection: Connection, table: Table, key: Sequence[str], rows: Sequence[Any]) -> int:
    """Insert rows whose key does not exist yet; returns their number."""
    return execute_many(connection, _inserting_missing(connection.dialect.name, table, tuple(key)), rows)


def put(
    connection: Connection,
    table: Table,
    key: str,
    rows: Sequence[dict[str, Any]],
    changing: Sequence[str] | None = None,
) -> None:
    """Insert rows, or overwrite those with the same key in the columns given.

    Rows are sorted by key, which prevents deadlocks.

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


def chunks(values: Sequence[T], size: int = CHUNK) -> Iterator[Sequence[T]]:
    for start in range(0, len(values), size):
        yield values[start : start + size]
