"""Opening a database by URL (`sqlite:///path/to/file` or `postgresql+psycopg://user@host/name`) and migrating it."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

from sqlalchemy import URL, Connection, Dialect, Engine, NullPool, create_engine, event, inspect, make_url, text
from sqlalchemy.exc import ArgumentError, DBAPIError, NoSuchModuleError
from sqlalchemy.util import LRUCache

from webstrata.errors import StoreError
from webstrata.ports import Clock
from webstrata.remember.db_thread import DbThread, explained
from webstrata.remember.store import Database, SqlStore

HEAD = "0001"
"""The newest migration (a test compares it with the scripts). Alembic is loaded only if the database is older."""

KNOWN = {f"{number:04}" for number in range(1, int(HEAD) + 1)}

_MIGRATIONS = Path(__file__).parent / "migrations"
_VERSIONS = "alembic_version"
_LOCK = 0x77656273  # the advisory lock that allows one migration at a time on PostgreSQL


def bring_up_to_date(engine: Engine, create: bool) -> None:
    """Run the missing migrations in one transaction: after a crash the database has the old version."""
    with engine.connect() as connection:
        if version(connection) == HEAD:
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
    if not inspect(connection).has_table(_VERSIONS):
        return None
    found: str | None = connection.execute(text(f"SELECT version_num FROM {_VERSIONS}")).scalar()
    return found


def upgrade(connection: Connection, target: str) -> None:
    """Run the migrations up to a version inside the connection's transaction."""
    from alembic import command  # loading it takes 100 ms, which only a migration needs
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(_MIGRATIONS).replace("%", "%%"))
    config.attributes["connection"] = connection
    command.upgrade(config, target)


def _refuse_foreign_tables(connection: Connection, create: bool) -> None:
    where = connection.engine.url.render_as_string()
    found = version(connection)
    if found is None and inspect(connection).has_table("pages"):
        raise StoreError(f"{where} holds tables of another program. Name an empty database.")
    if found is None and not create:
        raise StoreError(f"{where} holds no Webstrata tables. Run `webstrata init` first.")
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
_PRAGMAS = (
    "PRAGMA journal_mode=WAL",
    "PRAGMA synchronous=FULL",
    "PRAGMA wal_autocheckpoint=4000",
    "PRAGMA journal_size_limit=67108864",
    "PRAGMA cache_size=-16384",
    "PRAGMA temp_store=MEMORY",
)


def open_store(url: str, clock: Clock, create: bool = True, patience_s: float = PATIENCE_S) -> SqlStore:
    """Open the store at this URL and migrate its tables, or raise `StoreError` with the reason.

    `create`: create the tables in an empty or missing database. `patience_s`: how long to retry transient errors.
    """
    # A single lock wait is shorter than the patience, so that a connection lost while waiting is noticed.
    wait_ms = min(_LONGEST_WAIT_MS, round(patience_s * 500))
    engine = _engine(_parsed(url), create, wait_ms)
    try:
        bring_up_to_date(engine, create)
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
        raise StoreError(f"there is no database at {path}. Run `webstrata init` first.")
    dialect = _sqlite_dialect()
    words, options = dialect.create_connect_args(url)
    options["timeout"] = wait_ms / 1000
    pool = NullPool(lambda: dialect.connect(*words, **options), dialect=dialect)
    engine = Engine(pool, dialect, url, execution_options={"compiled_cache": _COMPILED})
    event.listen(engine, "connect", _prepare_sqlite)
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


def _prepare_sqlite(connection: Any, _record: object) -> None:
    # Python's implicit transactions leave DDL outside of transactions, so BEGIN is always explicit here.
    connection.isolation_level = None
    cursor = connection.cursor()
    for pragma in _PRAGMAS:
        cursor.execute(pragma)
    cursor.close()


def _begin_sqlite(connection: Connection) -> None:
    # A writer takes the write lock at BEGIN, so that it never waits for it within the transaction.
    connection.exec_driver_sql(connection.get_execution_options().get("webstrata_begin", "BEGIN"))


def _postgres(url: URL, wait_ms: int) -> Engine:
    user_options = url.query.get("options", "")  # for example a search_path
    options = f"-c statement_timeout={_STATEMENT_MS} -c lock_timeout={wait_ms} {user_options}"
    return create_engine(url, poolclass=NullPool, connect_args={"connect_timeout": 10, "options": options})
