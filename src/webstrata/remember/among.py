"""Rows whose id is one of many, the ids being one parameter: as a list each of them would cost as much as its row."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache
from typing import Any

from sqlalchemy import ARRAY, BigInteger, ColumnElement, Connection, CursorResult, any_, bindparam, func, select

Build = Callable[[Callable[[ColumnElement[int]], ColumnElement[bool]]], Any]


def execute_among(connection: Connection, build: Build, ids: Iterable[int], **others: Any) -> CursorResult[Any]:
    """Run the statement that `build` makes with the condition `among(column)`, for these ids.

    `build` is a function of a module, not made anew for each call: its statement is built once for each engine.
    """
    wanted: Any = sorted(set(ids))
    if connection.dialect.name == "sqlite":
        wanted = f"[{','.join(map(str, wanted))}]"
    return connection.execute(_built(connection.dialect.name, build), {"ids": wanted, **others})


@cache
def _built(dialect: str, build: Build) -> Any:
    return build(_in_json if dialect == "sqlite" else _in_array)


def _in_json(column: ColumnElement[int]) -> ColumnElement[bool]:
    return column.in_(select(func.json_each(bindparam("ids")).table_valued("value").c.value))


def _in_array(column: ColumnElement[int]) -> ColumnElement[bool]:
    return column == any_(bindparam("ids", type_=ARRAY(BigInteger)))
