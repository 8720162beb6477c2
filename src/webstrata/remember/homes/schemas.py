"""Creating and migrating the tables: all in one place, or, for the homes of a PostgreSQL database, in two schemas."""

from __future__ import annotations

from typing import NamedTuple

from sqlalchemy import Connection, Engine, inspect, text
from sqlalchemy.exc import DBAPIError

from webstrata.errors import DamagedStore, StoreError
from webstrata.remember.db_thread import damaged, shown
from webstrata.remember.homes import owners
from webstrata.remember.homes.store_home import POLITENESS_SCHEMA, StoreHome
from webstrata.remember.integrity.opening_check import require_tables
from webstrata.remember.migrations.upgrade import HEAD, Part, upgrade

KNOWN = {f"{number:04}" for number in range(1, int(HEAD) + 1)}
MAKE_AGAIN = (
    "The archive is not affected. Restore the database from a backup, or run `webstrata rebuild` to make it again from "
    "the WARC files."
)
VERSIONS = "alembic_version"
"""The table with the version of the tables; each schema has one."""
_LOCK = 0x77656273  # the advisory lock that allows one migration at a time on PostgreSQL
_NOT_PERMITTED = "42501"


class TablePart(NamedTuple):
    """A part of the tables, and the schema in which it is (empty: where the connection creates tables)."""

    part: Part
    schema: str


def table_parts(schema: str) -> tuple[TablePart, ...]:
    """The parts of the tables of a home with this schema; of one without, all tables are in one place."""
    if not schema:
        return (TablePart("all", ""),)
    return TablePart("politeness", POLITENESS_SCHEMA), TablePart("home", schema)


def bring_up_to_date(engine: Engine, create: bool, home: StoreHome | None = None) -> None:
    """Run the missing migrations in one transaction: after a crash the database has the old version.

    Raises StoreError if the tables belong to another home; without `create`, also if they are missing or do not belong
    to the home yet.
    """
    parts = table_parts(home.schema if home is not None else "")
    try:
        if not _is_ready(engine, parts, home):
            _prepare(engine, parts, create, home)
    except DBAPIError as error:
        if getattr(error.orig, "sqlstate", None) == _NOT_PERMITTED and home is not None and home.schema:
            raise _not_permitted(engine, home, error) from error
        raise


def _is_ready(engine: Engine, parts: tuple[TablePart, ...], home: StoreHome | None) -> bool:
    with engine.connect() as connection:
        if any(version(connection, part.schema) != HEAD for part in parts):
            return False
        require_tables(connection)
        return home is None or owners.is_registered(connection, home)


def _prepare(engine: Engine, parts: tuple[TablePart, ...], create: bool, home: StoreHome | None) -> None:
    with engine.execution_options(webstrata_begin="BEGIN IMMEDIATE").connect() as connection, connection.begin():
        if connection.dialect.name == "postgresql":
            connection.execute(text("SET LOCAL statement_timeout = 0"))
            connection.execute(text("SET LOCAL lock_timeout = 0"))
            connection.execute(text(f"SELECT pg_advisory_xact_lock({_LOCK})"))
        for part in parts:
            _refuse_foreign_tables(connection, part, create)
        for part in parts:
            _migrate(connection, part)
        if home is None:
            return
        if not create and not home.is_inside and not owners.is_registered(connection, home):
            raise StoreError(
                f"the tables of {_place(connection, home.schema)} are not those of this home ({home.node}). Correct "
                "store.url and store.schema, or create a home for them with `webstrata init`."
            )
        owners.register(connection, home)


def version(connection: Connection, schema: str = "") -> str | None:
    """The version of the tables in a schema; None if it has no Webstrata tables."""
    if not inspect(connection).has_table(VERSIONS, schema=schema or None):
        return None
    table = f'"{schema}".{VERSIONS}' if schema else VERSIONS
    found: str | None = connection.execute(text(f"SELECT version_num FROM {table}")).scalar()
    return found


def _refuse_foreign_tables(connection: Connection, part: TablePart, create: bool) -> None:
    where = _place(connection, part.schema)
    found = version(connection, part.schema)
    some_table = "hosts" if part.part == "politeness" else "pages"
    if found is None and inspect(connection).has_table(some_table, schema=part.schema or None):
        if not create:
            raise damaged(f"the table {VERSIONS} is missing or empty", where)
        raise StoreError(f"{where} holds tables of another program. Name an empty database.")
    if found is None and not create and part.part != "politeness":  # politeness is learned again
        raise DamagedStore(f"the tables of the database {where} are missing", MAKE_AGAIN)
    if found is not None and not found.isdigit():
        raise damaged(f"the version of its tables is {found!r:.20}", where)
    if found is not None and found not in KNOWN:
        raise StoreError(
            f"{where} was written by a newer Webstrata (its tables are version {found}, this program knows {HEAD}). "
            "Install the newer version."
        )


def _migrate(connection: Connection, part: TablePart) -> None:
    if part.schema:
        create_schema(connection, part.schema)
        connection.exec_driver_sql(f'SET LOCAL search_path = "{part.schema}"')
    upgrade(connection, HEAD, part.part)
    if part.schema:
        connection.exec_driver_sql(f'SET LOCAL search_path = "{part.schema}", {POLITENESS_SCHEMA}')


def create_schema(connection: Connection, name: str) -> None:
    """Create a schema, unless it is there: whoever may not create one can then use one that was created for it."""
    if connection.execute(text("SELECT to_regnamespace(:name)"), {"name": name}).scalar() is None:
        connection.exec_driver_sql(f'CREATE SCHEMA "{name}"')


def _not_permitted(engine: Engine, home: StoreHome, error: DBAPIError) -> StoreError:
    """What the administrator must do: create the schemas, or let the user create them."""
    url = engine.url
    user, database = url.username or "USER", url.database or "DATABASE"
    schema = home.schema if home.shares else "NAME"
    cause = str(error.orig).strip().partition("\n")[0]
    return StoreError(
        f"the user of the database {shown(url)} lacks a permission ({cause}). Ask the administrator of the "
        f'database to run `GRANT CREATE ON DATABASE "{database}" TO "{user}"`; or to run `CREATE SCHEMA '
        f'{POLITENESS_SCHEMA} AUTHORIZATION "{user}"` and `CREATE SCHEMA {schema} AUTHORIZATION "{user}"`, and set '
        f"store.schema to {schema}. If another user owns {POLITENESS_SCHEMA}: `GRANT USAGE ON SCHEMA "
        f'{POLITENESS_SCHEMA} TO "{user}"` and `GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA '
        f'{POLITENESS_SCHEMA} TO "{user}"`.'
    )


def _place(connection: Connection, schema: str) -> str:
    name = shown(connection.engine.url)
    return f"{name} (schema {schema})" if schema else name
