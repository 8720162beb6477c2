"""Opening a database by URL (`sqlite:///path/to/file` or `postgresql+psycopg://user@host/name`) and migrating it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any

from sqlalchemy import URL, Connection, Dialect, Engine, NullPool, create_engine, event, inspect, make_url, text
from sqlalchemy.exc import ArgumentError, DBAPIError, NoSuchModuleError
from sqlalchemy.util import LRUCache

from webstrata.errors import DamagedStore, StoreError
from webstrata.ports import Clock
from webstrata.remember.db_thread import DbThread, damaged, explained, unreadable
from webstrata.remember.integrity.opening_check import require_tables, require_whole_file
from webstrata.remember.integrity.row_checksums import register
from webstrata.remember.migrations.upgrade import HEAD, upgrade
from webstrata.remember.read_only import is_writable, readable_uri
from webstrata.remember.store import Database, SqlStore

KNOWN = {f"{number:04}" for number in range(1, int(HEAD) + 1)}

_MAKE_AGAIN = (
    "The archive is not affected. Restore the database from a backup, or run `webstrata rebuild` to make it again from "
    "the WARC files."
)
VERSIONS = "alembic_version"
"""The table with the version of the tables."""
_LOCK = 0x77656273  # the advisory lock that allows one migration at a time on PostgreSQL


def bring_up_to_date(engine: Engine, create: bool) -> None:
    """Run the missing migrations in one transaction: after a crash the database has the old version."""
    with engine.connect() as connection:
        if version(connection) == HEAD:
            require_tables(connection)
            return
    with engine.execution_options(webstrata_begin="BEGIN IMMEDIATE").connect() as connection, connection.begin():
        if connection.dialect.name == "postgresql":
            connection.execute(text("SET LOCAL statement_timeout = 0"))
            connection.execute(text("SET LOCAL lock_timeout = 0"))
            connection.execute(text(f"SELECT pg_advisory_xact_lock({_LOCK})"))
        _refuse_foreign_tables(connection, create)
        upgrade(connection, HEAD)


def version(connection: Connection) -> str | None:
    """The version of the database; None if it has no Webstrata tables."""
    if not inspect(connection).has_table(VERSIONS):
        return None
    found: str | None = connection.execute(text(f"SELECT version_num FROM {VERSIONS}")).scalar()
    return found


def _refuse_foreign_tables(connection: Connection, create: bool) -> None:
    where = connection.engine.url.render_as_string()
    found = version(connection)
    if found is None and inspect(connection).has_table("pages"):
        if not create:
            raise damaged(f"the table {VERSIONS} is missing or empty", where)
        raise StoreError(f"{where} holds tables of another program. Name an empty database.")
    if found is None and not create:
        raise DamagedStore(f"the tables of the database {where} are missing", _MAKE_AGAIN)
    if found is not None and not found.isdigit():
        raise damaged(f"the version of its tables is {found!r:.20}", where)
    if found is not None and found not in KNOWN:
        raise StoreError(
            f"{where} was written by a newer Webstrata (its tables are version {found}, this program knows {HEAD}). "
            "Install the newer version."
        )


PATIENCE_S = 30.0

_LONGEST_WAIT_MS = 5_000
_STATEMENT_MS = 60_000

# FULL: the write-ahead log is synced at every commit, so that committed data survives a power failure.
# The log is checkpointed every 16 MB and truncated to 64 MB. Each connection caches 16 MB of the file; the operating
# system caches the rest.
_PRAGMAS_OF_ALL = (
    "PRAGMA cache_size=-16384",
    "PRAGMA temp_store=MEMORY",
    "PRAGMA trusted_schema=ON",  # the checksums of rows are computed by a function of this program
)
_PRAGMAS = (
    "PRAGMA journal_mode=WAL",
    "PRAGMA synchronous=FULL",
    "PRAGMA wal_autocheckpoint=4000",
    "PRAGMA journal_size_limit=67108864",
    *_PRAGMAS_OF_ALL,
)
_READ_PRAGMAS = ("PRAGMA query_only=ON", *_PRAGMAS_OF_ALL)


def open_store(url: str, clock: Clock, create: bool = True, patience_s: float = PATIENCE_S) -> SqlStore:
    """Open the store at this URL and migrate its tables, or raise `StoreError` with the reason.

    `create`: create the tables in an empty or missing database; otherwise such a database is an error.
    `patience_s`: how long to retry transient errors. An SQLite file that may not be written is opened for reading.
    """
    # A single lock wait is shorter than the patience, so that a connection lost while waiting is noticed.
    wait_ms = min(_LONGEST_WAIT_MS, round(patience_s * 500))
    engine = _engine(_parsed(url), create, wait_ms)
    try:
        bring_up_to_date(engine, create)
    except DBAPIError as error:
        raise explained(error, engine.url.render_as_string(), 0.0) from error
    except UnicodeDecodeError as error:
        raise unreadable(error, engine.url.render_as_string()) from error
    writer = engine.execution_options(webstrata_begin="BEGIN IMMEDIATE")
    database = Database(
        writer=DbThread(writer, "writer", clock, patience_s),
        reader=DbThread(engine, "reader", clock, patience_s),
        clock=clock,
    )
    return SqlStore(database)


def sqlite_file(url: str) -> Path | None:
    """The file of an SQLite database; None for a server."""
    parsed = _parsed(url)
    return Path(parsed.database) if parsed.drivername == "sqlite" and parsed.database else None


def postgres_engine(url: str) -> Engine:
    """An engine without limits of time, for long transactions. Raises StoreError without the driver."""
    return _engine(_parsed(url), True, 0)


def _parsed(url: str) -> URL:
    try:
        parsed = make_url(url)
    except ArgumentError:
        raise StoreError(f"not a database URL: {url!r}. Write sqlite:///path or postgresql+psycopg://…") from None
    if parsed.drivername == "postgresql":
        parsed = parsed.set(drivername="postgresql+psycopg")
    if parsed.drivername not in {"sqlite", "postgresql+psycopg"}:
        raise StoreError(f"unknown kind of database: {parsed.drivername}. Use sqlite or postgresql+psycopg.")
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
        raise StoreError("the store needs a file: sqlite:///path/to/file.")
    path = Path(url.database)
    if not create and not path.exists():
        raise DamagedStore(f"the database {path} is missing", _MAKE_AGAIN)
    if not create and path.stat().st_size == 0:  # SQLite takes an empty file for an empty database
        raise DamagedStore(f"the database {path} is empty (0 bytes)", _MAKE_AGAIN)
    require_whole_file(path)
    dialect = _sqlite_dialect()
    words, options = dialect.create_connect_args(url)
    options["timeout"] = wait_ms / 1000
    if is_read_only := path.exists() and not is_writable(path):
        words, options["uri"] = [readable_uri(path)], True
    pool = NullPool(lambda: dialect.connect(*words, **options), dialect=dialect)
    engine = Engine(pool, dialect, url, execution_options={"compiled_cache": _COMPILED})
    event.listen(engine, "connect", partial(_prepare_sqlite, _READ_PRAGMAS if is_read_only else _PRAGMAS))
    event.listen(engine, "begin", _begin_sqlite)
    return engine


# Compiling the statements of a crawl takes longer than running them on a small home. SQLAlchemy keeps compiled
# statements by dialect and by engine, so all files share one dialect and one cache.
_COMPILED: LRUCache[Any, Any] = LRUCache(1000)


@cache
def _sqlite_dialect() -> Dialect:
    engine = create_engine("sqlite://", poolclass=NullPool)
    with engine.connect():
        return engine.dialect  # the first connection has initialised it


def _prepare_sqlite(pragmas: Sequence[str], connection: Any, _record: object) -> None:
    # Python's implicit transactions leave DDL outside of transactions, so BEGIN is always explicit here.
    connection.isolation_level = None
    cursor = connection.cursor()
    for pragma in pragmas:
        cursor.execute(pragma)
    cursor.close()
    register(connection)


def _begin_sqlite(connection: Connection) -> None:
    # A writer takes the write lock at BEGIN, so that it never waits for it within the transaction.
    connection.exec_driver_sql(connection.get_execution_options().get("webstrata_begin", "BEGIN"))


def _postgres(url: URL, wait_ms: int) -> Engine:
    user_options = url.query.get("options", "")  # for example a search_path
    options = f"-c statement_timeout={_STATEMENT_MS} -c lock_timeout={wait_ms} {user_options}"
    return create_engine(url, poolclass=NullPool, connect_args={"connect_timeout": 10, "options": options})
