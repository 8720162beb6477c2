"""One statement for many rows, without the work that SQLAlchemy does for each of them.

A statement is compiled once for each engine; rows then go to the driver as it wants them. Whatever SQLAlchemy would
convert on the way (instants, flags, bytes) both drivers take as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from operator import itemgetter
from typing import Any

from sqlalchemy import Connection, Dialect
from sqlalchemy.sql.expression import UpdateBase

Rows = Sequence[Mapping[str, Any]]


def execute_many(connection: Connection, statement: UpdateBase, rows: Rows) -> int:
    """Run it for each row (all with the same keys); how many rows of the table that changed."""
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
    in_order = itemgetter(*compiled.positiontup)
    if not fixed:
        return str(compiled), in_order
    return str(compiled), lambda row: in_order({**fixed, **row})
