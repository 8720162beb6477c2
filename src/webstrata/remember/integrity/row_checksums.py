"""Checksums of the rows of an SQLite database, which find a value that changed by itself.

SQLite checks the structure of its file, not the values in it. Every table therefore has a generated column `checksum`,
which SQLite computes with the function `row_checksum` whenever a row is written and stores in the row. PostgreSQL has
checksums of its own for the pages of its files.

See docs/decisions/0057-row-checksums.md.
"""

from __future__ import annotations

import sqlite3
import zlib
from typing import Any

import msgspec
from sqlalchemy import Connection
from sqlalchemy.exc import DBAPIError

from webstrata.records import EngineCheck
from webstrata.wording import agreeing, counted

COLUMN = "checksum"
_FUNCTION = "row_checksum"
_STORED = 3
"""How SQLite's `table_xinfo` marks a generated column whose value is stored."""

_pack = msgspec.msgpack.Encoder().encode
_NO_CHECKSUMS = (
    "The PostgreSQL server keeps no checksums of its files (`SHOW data_checksums` is off), so a value that changed by "
    "itself is not found. The server's administrator can enable them with `pg_checksums --enable`."
)


def row_checksum(*values: Any) -> int:
    """The CRC-32 of the values of a row and of their types: it finds every flipped bit, and takes a third of the time
    of a cryptographic digest."""
    return zlib.crc32(_pack(values))


def register(connection: sqlite3.Connection) -> None:
    """Make the function known to a connection; without it, rows can be read but not written."""
    connection.create_function(_FUNCTION, -1, row_checksum, deterministic=True)


def changed_rows(connection: Connection) -> EngineCheck:
    """Rows whose values do not match their checksums, one sentence for each table."""
    if connection.dialect.name == "postgresql":
        has_checksums = connection.exec_driver_sql("SHOW data_checksums").scalar_one() == "on"
        return EngineCheck(faults=(), unchecked=() if has_checksums else (_NO_CHECKSUMS,))
    faults: list[str] = []
    for table in connection.exec_driver_sql("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name").all():
        columns = connection.exec_driver_sql(f'PRAGMA table_xinfo("{table.name}")').all()
        if any(column.name == COLUMN and column.hidden == _STORED for column in columns):
            faults += _changed_rows(connection, table.name, columns)
    return EngineCheck(faults=tuple(faults))


def _changed_rows(connection: Connection, table: str, columns: Any) -> list[str]:
    values = ", ".join(f'"{column.name}"' for column in columns if column.name != COLUMN)
    keys = [f'"{column.name}"' for column in columns if column.pk]
    query = f'SELECT {", ".join(keys)} FROM "{table}" WHERE {COLUMN} IS NOT {_FUNCTION}({values})'
    try:
        found = connection.exec_driver_sql(query).all()
    except DBAPIError as error:  # a text that is not UTF-8 any more
        return [f"{table} cannot be read: {str(error.orig).strip()}"]
    if not found:
        return []
    first = " ".join(str(value)[:200] for value in found[0])
    rows = f"{counted(len(found), 'row')} of {table} {agreeing(len(found), 'has', 'have')}"
    return [f"{rows} other values than were written; the first is {first}"]
