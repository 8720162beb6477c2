"""The database engine's own integrity check: SQLite's, or amcheck of PostgreSQL where the user may run it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from msgspec import Struct
from sqlalchemy import Connection, text
from sqlalchemy.exc import DBAPIError

from webstrata.records import EngineCheck
from webstrata.remember.tables import metadata


def check_engine(connection: Connection) -> EngineCheck:
    if connection.dialect.name == "postgresql":
        return _postgres(connection)
    found = connection.exec_driver_sql("PRAGMA integrity_check(100)").scalars().all()
    return EngineCheck(faults=() if found == ["ok"] else tuple(str(line) for line in found))


# ── PostgreSQL: amcheck where permitted, else a full read through tables and indexes ─────────────────────────────

_INDEXES = text("""
SELECT i.indexrelid::regclass::text AS name, t.relname AS table_name, pg_get_expr(i.indpred, i.indrelid) AS holds,
       array_to_string(
           ARRAY(SELECT pg_get_indexdef(i.indexrelid, k, true) FROM generate_series(1, i.indnkeyatts) k), ', ') AS keys
FROM pg_index i JOIN pg_class t ON t.oid = i.indrelid JOIN pg_class x ON x.oid = i.indexrelid
WHERE pg_table_is_visible(t.oid) AND t.relname = ANY(:tables)
  AND x.relam = (SELECT oid FROM pg_am WHERE amname = 'btree')
ORDER BY 2, 1
""")
_AMCHECK = text(
    "SELECT nspname FROM pg_extension e JOIN pg_namespace n ON n.oid = extnamespace WHERE extname = 'amcheck'"
)
_BY_TABLE = "SET LOCAL enable_seqscan = on; SET LOCAL enable_indexscan = off; SET LOCAL enable_indexonlyscan = off"
_BY_INDEX = (
    "SET LOCAL enable_seqscan = off; SET LOCAL enable_indexscan = on; SET LOCAL enable_indexonlyscan = on; "
    "SET LOCAL enable_bitmapscan = off; SET LOCAL enable_sort = off"
)

_NOT_PERMITTED = {"42501", "42883"}  # no permission; an older server without the function


class _IndexInfo(Struct, frozen=True):
    name: str
    table: str
    holds: str
    keys: str


def _postgres(connection: Connection) -> EngineCheck:
    connection.exec_driver_sql("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")  # one snapshot for all counts
    connection.exec_driver_sql("SET LOCAL statement_timeout = 0")
    tables = sorted(metadata.tables)
    indexes = [
        _IndexInfo(row.name, row.table_name, row.holds or "true", row.keys)
        for row in connection.execute(_INDEXES, {"tables": tables})
    ]
    refusal, faults = _by_amcheck(connection, tables, indexes)
    if refusal is None:
        return EngineCheck(faults=tuple(faults))
    note = (
        f"PostgreSQL's own check (amcheck) is not available ({refusal}). Instead, every row was read and counted "
        "through every index. For a full check, ask the server's administrator to run `pg_amcheck`."
    )
    return EngineCheck(faults=tuple(_by_reading(connection, tables, indexes)), unchecked=(note,))


def _by_amcheck(connection: Connection, tables: list[str], indexes: list[_IndexInfo]) -> tuple[str | None, list[str]]:
    """Why amcheck is not available, or what it found. An extension created for the check is removed afterwards."""
    faults: list[str] = []
    savepoint = connection.begin_nested()
    try:
        if connection.execute(_AMCHECK).scalar() is None:
            connection.exec_driver_sql("CREATE EXTENSION amcheck")
        schema = connection.execute(_AMCHECK).scalar_one()
        heap = text(f'SELECT blkno, msg FROM "{schema}".verify_heapam(CAST(:name AS regclass)) LIMIT 100')
        tree = text(f'SELECT "{schema}".bt_index_check(CAST(:name AS regclass), true)')
        for table in tables:
            with _noting(connection, table, faults):
                found = connection.execute(heap, {"name": table}).all()
                faults += [f"{table}, block {block}: {what}" for block, what in found]
        for index in indexes:
            with _noting(connection, index.name, faults):
                connection.execute(tree, {"name": index.name})
    except DBAPIError as error:
        return _words(error), []
    finally:
        savepoint.rollback()
    return None, faults


def _by_reading(connection: Connection, tables: list[str], indexes: list[_IndexInfo]) -> list[str]:
    """Read all values of all rows; then compare the row counts of every index and its table."""
    faults: list[str] = []
    for table in tables:
        with _noting(connection, table, faults):
            connection.exec_driver_sql(f"SELECT count({table}::text) FROM {table}")
    for index in indexes:
        with _noting(connection, index.name, faults):
            rows = f"SELECT 1 FROM {index.table} WHERE {index.holds}"
            connection.exec_driver_sql(_BY_TABLE)
            there = connection.exec_driver_sql(f"SELECT count(*) FROM ({rows}) found").scalar_one()
            connection.exec_driver_sql(_BY_INDEX)
            indexed = connection.exec_driver_sql(
                f"SELECT count(*) FROM ({rows} ORDER BY {index.keys} OFFSET 0) found"
            ).scalar_one()
            if indexed != there:
                faults.append(
                    f"{index.name} holds {indexed} of {there} rows. Rebuild it with `REINDEX INDEX {index.name}`"
                )
    return faults


@contextmanager
def _noting(connection: Connection, what: str, faults: list[str]) -> Iterator[None]:
    """Record an engine error as a fault; re-raise a missing permission or a lost connection."""
    step = connection.begin_nested()
    try:
        yield
    except DBAPIError as error:
        step.rollback()
        if error.connection_invalidated or getattr(error.orig, "sqlstate", None) in _NOT_PERMITTED:
            raise
        faults.append(f"{what}: {_words(error)}")
    else:
        step.commit()


def _words(error: DBAPIError) -> str:
    return str(error.orig).strip().partition("\n")[0]
