"""The tables' version: bringing a database up to date, in one transaction, or saying why that cannot be."""

from __future__ import annotations

from pathlib import Path

from sqlalchemy import Connection, Engine, inspect, text

from webstrata.errors import StoreError

HEAD = "0006"
"""Newest migration (a test compares it with the scripts): if the database has it, Alembic is not even loaded."""

KNOWN = {f"{number:04}" for number in range(1, int(HEAD) + 1)}

_MIGRATIONS = Path(__file__).parent / "migrations"
_VERSIONS = "alembic_version"
_LOCK = 0x77656273  # one migration at a time on a PostgreSQL server: an advisory lock by this number


def bring_up_to_date(engine: Engine, create: bool) -> None:
    """Run what is missing. All migrations are one transaction: a crash in between leaves the old version whole."""
    with engine.connect() as connection:
        if version(connection) == HEAD:
            return
    with engine.execution_options(webstrata_begin="BEGIN IMMEDIATE").connect() as connection, connection.begin():
        if connection.dialect.name == "postgresql":
            connection.execute(text("SET LOCAL statement_timeout = 0"))
            connection.execute(text("SET LOCAL lock_timeout = 0"))
            connection.execute(text(f"SELECT pg_advisory_xact_lock({_LOCK})"))
        _refuse_what_is_not_ours(connection, create)
        upgrade(connection, HEAD)


def version(connection: Connection) -> str | None:
    """The database's version; none if it has no tables of ours."""
    if not inspect(connection).has_table(_VERSIONS):
        return None
    found: str | None = connection.execute(text(f"SELECT version_num FROM {_VERSIONS}")).scalar()
    return found


def upgrade(connection: Connection, target: str) -> None:
    """Run the migrations up to a version inside the connection's transaction."""
    from alembic import command  # costs 100 ms that only a migration should pay
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(_MIGRATIONS).replace("%", "%%"))
    config.attributes["connection"] = connection
    command.upgrade(config, target)


def _refuse_what_is_not_ours(connection: Connection, create: bool) -> None:
    where = connection.engine.url.render_as_string()
    found = version(connection)
    if found is None and inspect(connection).has_table("pages"):
        raise StoreError(f"{where} holds tables of something else. Name an empty database.")
    if found is None and not create:
        raise StoreError(f"{where} holds no Webstrata tables. Run `webstrata init` first.")
    if found is not None and found not in KNOWN:
        raise StoreError(
            f"{where} was written by a newer Webstrata (its tables are version {found}, this program knows {HEAD}). "
            "Install the newer version."
        )
