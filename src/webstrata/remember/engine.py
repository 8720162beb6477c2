"""Opening a database by URL (`sqlite:///path/to/file` or `postgresql+psycopg://user@host/name`) and migrating it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress
from functools import cache, partial
from pathlib import Path
from typing import Any

from msgspec.structs import replace
from sqlalchemy import URL, Connection, Dialect, Engine, NullPool, create_engine, event, make_url
from sqlalchemy.exc import ArgumentError, NoSuchModuleError
from sqlalchemy.util import LRUCache

from webstrata.errors import DamagedStore, StoreError
from webstrata.masking import masked
from webstrata.ports import Clock
from webstrata.remember.db_thread import DbThread, shown, with_retries
from webstrata.remember.homes.schemas import MAKE_AGAIN, bring_up_to_date
from webstrata.remember.homes.store_home import POLITENESS_SCHEMA, StoreHome
from webstrata.remember.integrity.opening_check import require_whole_file
from webstrata.remember.integrity.row_checksums import register
from webstrata.remember.read_only import is_writable, readable_uri
from webstrata.remember.store import Database, SqlStore

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


def open_store(
    url: str,
    clock: Clock,
    create: bool = True,
    patience_s: float = PATIENCE_S,
    home: StoreHome | None = None,
) -> SqlStore:
    """Open the store at this URL and migrate its tables, or raise `StoreError` with the reason.

    `create`: create the tables in an empty or missing database; otherwise such a database is an error.
    `patience_s`: how long to retry transient errors. `home`: who opens it; tables of another home are an error. Without
    it, all tables are in one place, and belong to nobody. An SQLite file that may not be written is opened for reading.
    """
    # A single lock wait is shorter than the patience, so that a connection lost while waiting is noticed.
    wait_ms = min(_LONGEST_WAIT_MS, round(patience_s * 500))
    parsed = _parsed(url)
    if home is not None and parsed.drivername == "sqlite":
        home = replace(home, schema="")  # a file has one set of tables
    engine = _engine(parsed, create, wait_ms, home.schema if home is not None else "")
    # SQLite does not wait for the lock under which a new file gets its log, if another process does the same. A server
    # that cannot be reached is reported at once.
    opening_s = patience_s if parsed.drivername == "sqlite" else 0.0
    with_retries(lambda: bring_up_to_date(engine, create, home), shown(engine.url), opening_s)
    writer = engine.execution_options(webstrata_begin="BEGIN IMMEDIATE")
    database = Database(
        writer=DbThread(writer, "writer", clock, patience_s),
        reader=DbThread(engine, "reader", clock, patience_s),
        clock=clock,
        home=home.node if home is not None and home.shares else "",
    )
    return SqlStore(database)


def check_url(url: str) -> None:
    """Raise StoreError unless this is the URL of a kind of database that can be used; opens nothing."""
    parsed = _parsed(url)
    if parsed.drivername == "sqlite":
        _required_file(parsed)


def sqlite_file(url: str) -> Path | None:
    """The file of an SQLite database; None for a server."""
    parsed = _parsed(url)
    return Path(parsed.database) if parsed.drivername == "sqlite" and parsed.database else None


def without_password(url: str) -> str:
    """The address of a database as it may be stored and shown."""
    parsed = _parsed(url).difference_update_query(["password", "sslpassword"])
    return URL.create(
        parsed.drivername,
        username=parsed.username,
        host=parsed.host,
        port=parsed.port,
        database=parsed.database,
        query=parsed.query,
    ).render_as_string()


def postgres_engine(url: str, schema: str = "") -> Engine:
    """An engine without limits of time, for long transactions. Raises StoreError without the driver."""
    return _engine(_parsed(url), True, 0, schema)


def _parsed(url: str) -> URL:
    try:
        parsed = make_url(url)
        if parsed.port is not None and not 0 < parsed.port < 65536:
            raise ValueError
    except (ArgumentError, ValueError):  # the URL is not shown: where a password begins and ends is not known
        raise StoreError(
            "not a database URL. Write sqlite:///path or postgresql+psycopg://user@host:5432/name, the port as a "
            "number, and @ : / ? # in a password as %40 %3A %2F %3F %23."
        ) from None
    if parsed.drivername == "postgresql":
        parsed = parsed.set(drivername="postgresql+psycopg")
    if parsed.drivername not in {"sqlite", "postgresql+psycopg"}:
        raise StoreError(f"unknown kind of database: {parsed.drivername[:40]!r}. Use sqlite or postgresql+psycopg.")
    return parsed


def _engine(url: URL, create: bool, wait_ms: int, schema: str) -> Engine:
    try:
        if url.drivername == "sqlite":
            return _sqlite(url, create, wait_ms)
        return _postgres(url, wait_ms, schema)
    except ArgumentError as problem:
        raise StoreError(f"not a database URL: {masked(str(problem))}. Correct it in the settings.") from None
    except (ImportError, NoSuchModuleError):
        raise StoreError("PostgreSQL needs its driver: pip install 'webstrata[postgres]'.") from None


def _sqlite(url: URL, create: bool, wait_ms: int) -> Engine:
    path = _required_file(url)
    if not create and not path.exists():
        raise DamagedStore(f"the database {path} is missing", MAKE_AGAIN)
    if not create and path.stat().st_size == 0:  # SQLite takes an empty file for an empty database
        raise DamagedStore(f"the database {path} is empty (0 bytes)", MAKE_AGAIN)
    if create:
        _create_private(path)
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


def _create_private(path: Path) -> None:
    """Create an empty file that only its owner can read; SQLite gives its side files the same mode."""
    with suppress(OSError):  # it exists already, or SQLite will say why it cannot be created
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))


def _required_file(url: URL) -> Path:
    if not url.database or url.database == ":memory:":
        raise StoreError("the store needs a file: sqlite:///path/to/file.")
    return Path(url.database)


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


def _postgres(url: URL, wait_ms: int, schema: str) -> Engine:
    user_options = str(url.query.get("options", ""))
    if schema and "search_path" in user_options:
        raise StoreError("store.url sets a search_path. Remove it, and name the schema of the home in store.schema.")
    options = f"-c statement_timeout={_STATEMENT_MS} -c lock_timeout={wait_ms} {user_options}"
    if schema:
        options += f" -c search_path={schema},{POLITENESS_SCHEMA}"
    return create_engine(url, poolclass=NullPool, connect_args={"connect_timeout": 10, "options": options})
