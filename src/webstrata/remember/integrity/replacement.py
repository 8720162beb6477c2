"""`DatabaseReplacement`: builds a database beside the one that it replaces, and puts it in place in one step.

SQLite: a file of its own, which is renamed. PostgreSQL: a schema of its own, whose tables are moved in one transaction.
A process that is killed before that step leaves the old state; the next replacement begins anew. Nothing is deleted:
files and schemas in the way are renamed.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from msgspec import structs
from sqlalchemy import Connection, make_url
from sqlalchemy.exc import DBAPIError

from webstrata.errors import StoreError
from webstrata.ports import Clock
from webstrata.remember.db_thread import explained, shown
from webstrata.remember.engine import open_store, postgres_engine, sqlite_file
from webstrata.remember.homes.schemas import VERSIONS, create_schema, version
from webstrata.remember.homes.store_home import StoreHome
from webstrata.remember.integrity.lost_counts import lost_counts
from webstrata.remember.store import SqlStore
from webstrata.remember.tables import metadata

_SIDE_FILES = ("", "-wal", "-shm")


class DatabaseReplacement:
    """The database of a home, made again. `open` an empty store, fill and close it, then `put_in_place`."""

    def __init__(self, url: str, clock: Clock, home: StoreHome) -> None:
        self._url = url
        self._clock = clock
        self._home = home
        self._file = sqlite_file(url)

    def open(self, *, replace: bool) -> SqlStore:
        """An empty store. Raises StoreError if there is a database already, unless it is to be replaced."""
        if self._file is not None:
            return self._open_file(self._file, replace)
        return self._open_schema(replace)

    def lost_counts(self) -> dict[str, int]:
        """How much of what only the database holds is in the one that is replaced, as far as it can be read."""
        return lost_counts(self._file) if self._file is not None else {}

    def put_in_place(self, stamp: str) -> list[str]:
        """Replace the database by the one that was built; returns the new names of what was in the way.

        `stamp` becomes part of these names.
        """
        if self._file is not None:
            return self._rename(self._file, stamp)
        return self._move_tables(stamp)

    # ── SQLite ──────────────────────────────────────────────────────────────────────────────────────────────────

    def _open_file(self, file: Path, replace: bool) -> SqlStore:
        if not replace and file.exists() and file.stat().st_size:
            raise StoreError(
                f"the database {file} exists, and a rebuilt one lacks what only it holds (rules, tags, schedules). "
                "`webstrata check --deep` tells if it is damaged. To replace it, run `webstrata rebuild --replace`; "
                "the file is kept under another name."
            )
        part = _part(file)
        for suffix in _SIDE_FILES:
            part.with_name(part.name + suffix).unlink(missing_ok=True)
        return open_store(f"sqlite:///{part}", self._clock, home=self._home)

    def _rename(self, file: Path, stamp: str) -> list[str]:
        kept: list[str] = []
        for suffix in _SIDE_FILES:
            # A log of the old file must not stay beside the new one: SQLite would apply it.
            old = file.with_name(file.name + suffix)
            if old.exists():
                kept.append(f"{file.name}.damaged-{stamp}{suffix}")
                old.rename(file.with_name(kept[-1]))
        _part(file).rename(file)
        return kept

    # ── PostgreSQL ──────────────────────────────────────────────────────────────────────────────────────────────

    def _open_schema(self, replace: bool) -> SqlStore:
        building = f"{self._home.schema}_rebuilding"
        with self._transaction() as connection:
            if version(connection, self._home.schema) is not None:
                self._refuse_tables(connection, replace)
            connection.exec_driver_sql(f"DROP SCHEMA IF EXISTS {building} CASCADE")  # of a rebuild that was killed
            connection.exec_driver_sql(f"CREATE SCHEMA {building}")
        # The politeness of the archived visits is built there, too, and dropped: other homes share the present one.
        parsed = make_url(self._url)
        options = f"{parsed.query.get('options', '')} -csearch_path={building}".strip()
        url = parsed.update_query_dict({"options": options})
        home = structs.replace(self._home, schema="")
        return open_store(url.render_as_string(hide_password=False), self._clock, home=home)

    def _refuse_tables(self, connection: Connection, replace: bool) -> None:
        where = f"{shown(connection.engine.url)} (schema {self._home.schema})"
        if not replace:
            raise StoreError(
                f"{where} holds Webstrata tables, and rebuilt ones lack what only they hold (rules, tags, schedules). "
                "To replace them, run `webstrata rebuild --replace`; the schema is kept under another name."
            )
        if self._home.shares:
            raise StoreError(
                f"{where} holds the tables of several homes, and the archive of this one does not hold the visits of "
                "the others. Restore the database from a backup, or set another store.schema, delete the file "
                "`database` of the home, and run `webstrata rebuild`."
            )

    def _move_tables(self, stamp: str) -> list[str]:
        """Rename the schema that is in the way, if it has tables, and move the new tables to its place."""
        schema, building = self._home.schema, f"{self._home.schema}_rebuilding"
        kept = f"{schema}_damaged_{stamp}"
        with self._transaction() as connection:
            is_in_way = version(connection, schema) is not None
            if is_in_way:
                connection.exec_driver_sql(f'ALTER SCHEMA "{schema}" RENAME TO {kept}')
            create_schema(connection, schema)
            for table in (*sorted(name for name, table in metadata.tables.items() if not table.info), VERSIONS):
                connection.exec_driver_sql(f'ALTER TABLE {building}.{table} SET SCHEMA "{schema}"')
            connection.exec_driver_sql(f"DROP SCHEMA {building} CASCADE")
        return [f"the schema {kept}"] if is_in_way else []

    @contextmanager
    def _transaction(self) -> Iterator[Connection]:
        engine = postgres_engine(self._url)
        try:
            with engine.begin() as connection:
                yield connection
        except DBAPIError as error:
            raise explained(error, shown(engine.url), 0.0) from error
        finally:
            engine.dispose()


def _part(file: Path) -> Path:
    return file.with_name(file.name + ".rebuilding")
