"""Opening a database by URL: `sqlite:///path/to/file` or `postgresql+psycopg://user@host/name`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sqlalchemy import URL, Connection, Engine, NullPool, create_engine, event, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, NoSuchModuleError

from webstrata.errors import StoreError
from webstrata.ports import Clock
from webstrata.remember import schema
from webstrata.remember.db_thread import DbThread
from webstrata.remember.faults import explained
from webstrata.remember.role import Database
from webstrata.remember.store import SqlStore

PATIENCE_S = 30.0

_LONGEST_WAIT_MS = 5_000
_STATEMENT_MS = 60_000

# FULL: the write-ahead log is synced at every commit, so that what was acknowledged survives a loss of power.
# The log is copied back every 16 MB and cut to 64 MB if it ever grew larger.
# Each connection keeps 16 MB of the file; the system keeps the rest. More would make a long crawl look as if it leaked.
_PRAGMAS = (
    "PRAGMA journal_mode=WAL",
    "PRAGMA synchronous=FULL",
    "PRAGMA wal_autocheckpoint=4000",
    "PRAGMA journal_size_limit=67108864",
    "PRAGMA cache_size=-16384",
    "PRAGMA temp_store=MEMORY",
)


def open_store(url: str, clock: Clock, create: bool = True, patience_s: float = PATIENCE_S) -> SqlStore:
    """The store at that URL, its tables brought up to date; `StoreError` says why not.

    `create`: an empty or absent database gets its tables. `patience_s`: how long passing faults are tried again.
    """
    # One wait for a lock is shorter than the patience: a lock that was lost with its connection shows up in between.
    wait_ms = min(_LONGEST_WAIT_MS, round(patience_s * 500))
    engine = _engine(_parsed(url), create, wait_ms)
    try:
        schema.bring_up_to_date(engine, create)
    except DBAPIError as error:
        raise explained(error, engine.url.render_as_string(), 0.0) from error
    writer = engine.execution_options(webstrata_begin="BEGIN IMMEDIATE")
    database = Database(
        writer=DbThread(writer, "writer", clock, patience_s),
        reader=DbThread(engine, "reader", clock, patience_s),
        clock=clock,
    )
    return SqlStore(database)


def _parsed(url: str) -> URL:
    try:
        parsed = make_url(url)
    except ArgumentError:
        raise StoreError(f"not a database URL: {url!r}. Write sqlite:///path or postgresql+psycopg://…") from None
    if parsed.drivername == "postgresql":
        parsed = parsed.set(drivername="postgresql+psycopg")
    if parsed.drivername not in {"sqlite", "postgresql+psycopg"}:
        raise StoreError(f"no such kind of database: {parsed.drivername}. Use sqlite or postgresql+psycopg.")
    return parsed


def _engine(url: URL, create: bool, wait_ms: int) -> Engine:
    try:
        if url.drivername == "sqlite":
            return _sqlite(url, create, wait_ms)
        return _postgres(url, wait_ms)
    except (ImportError, NoSuchModuleError):
        raise StoreError("PostgreSQL needs its driver: pip install 'webstrata[postgres]'.") from None


def _sqlite(url: URL, create: bool, wait_ms: int) -> Engine:
    if not url.database or url.database == ":memory:":
        raise StoreError("the store needs a file that can be kept: sqlite:///path/to/file.")
    path = Path(url.database)
    if not create and not path.exists():
        raise StoreError(f"there is no database at {path}. Run `webstrata init` first.")
    engine = create_engine(url, poolclass=NullPool, connect_args={"timeout": wait_ms / 1000})
    event.listen(engine, "connect", _prepare_sqlite)
    event.listen(engine, "begin", _begin_sqlite)
    return engine


def _prepare_sqlite(connection: Any, _record: object) -> None:
    # Python's own transaction rules leave DDL outside of transactions; here BEGIN is always said aloud.
    connection.isolation_level = None
    cursor = connection.cursor()
    for pragma in _PRAGMAS:
        cursor.execute(pragma)
    cursor.close()


def _begin_sqlite(connection: Connection) -> None:
    # A writer says so at once: waiting for its turn then happens here and never half way through.
    connection.exec_driver_sql(connection.get_execution_options().get("webstrata_begin", "BEGIN"))


def _postgres(url: URL, wait_ms: int) -> Engine:
    asked = url.query.get("options", "")  # a search_path, say: a schema of one's own
    options = f"-c statement_timeout={_STATEMENT_MS} -c lock_timeout={wait_ms} {asked}"
    return create_engine(url, poolclass=NullPool, connect_args={"connect_timeout": 10, "options": options})
