"""`DatabaseReplacement`: builds a database beside the one that it replaces, and puts it in place in one step.

SQLite: a file of its own, which is renamed. PostgreSQL: a schema of its own, whose tables are moved in one transaction.
A process that is killed before that step leaves the old state; the next replacement begins anew. Nothing is deleted:
files in the way are renamed, and tables in the way are an error.
"""

from __future__ import annotations

from pathlib import Path

from sqlalchemy import Connection, inspect, make_url, text
from sqlalchemy.exc import DBAPIError

from webstrata.errors import StoreError
from webstrata.ports import Clock
from webstrata.remember.db_thread import explained
from webstrata.remember.engine import VERSIONS, open_store, postgres_engine, sqlite_file, version
from webstrata.remember.integrity.lost_counts import lost_counts
from webstrata.remember.store import SqlStore
from webstrata.remember.tables import metadata

_SIDE_FILES = ("", "-wal", "-shm")
_SCHEMA = "webstrata_rebuilding"


class DatabaseReplacement:
    """The database at this URL, made again. `open` an empty store, fill and close it, then `put_in_place`."""

    def __init__(self, url: str, clock: Clock) -> None:
        self._url = url
        self._clock = clock
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
        """Replace the database by the one that was built; returns the new names of files that were in the way.

        `stamp` becomes part of these names.
        """
        if self._file is not None:
            return self._rename(self._file, stamp)
        self._move_tables()
        return []

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
        return open_store(f"sqlite:///{part}", self._clock)

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
        engine = postgres_engine(self._url)
        try:
            with engine.begin() as connection:
                if version(connection) is not None:
                    hint = "--replace does not delete tables" if replace else "a rebuilt database lacks rules and tags"
                    raise StoreError(
                        f"{engine.url.render_as_string()} holds Webstrata tables, and {hint}. Name an empty database "
                        "or schema in store.url, or move the tables away (ALTER SCHEMA … RENAME TO …), then run "
                        "`webstrata rebuild` again."
                    )
                connection.exec_driver_sql(f"DROP SCHEMA IF EXISTS {_SCHEMA} CASCADE")  # of a rebuild that was killed
                connection.exec_driver_sql(f"CREATE SCHEMA {_SCHEMA}")
        except DBAPIError as error:
            raise explained(error, engine.url.render_as_string(), 0.0) from error
        finally:
            engine.dispose()
        url = make_url(self._url).update_query_dict({"options": f"-csearch_path={_SCHEMA}"})
        return open_store(url.render_as_string(hide_password=False), self._clock)

    def _move_tables(self) -> None:
        engine = postgres_engine(self._url)
        try:
            with engine.begin() as connection:
                _move_tables(connection)
        except DBAPIError as error:
            raise explained(error, engine.url.render_as_string(), 0.0) from error
        finally:
            engine.dispose()


def _move_tables(connection: Connection) -> None:
    target = connection.execute(text("SELECT quote_ident(current_schema())")).scalar_one()
    for table in (*sorted(metadata.tables), VERSIONS):
        if inspect(connection).has_table(table, schema=_SCHEMA):
            connection.exec_driver_sql(f"ALTER TABLE {_SCHEMA}.{table} SET SCHEMA {target}")
    connection.exec_driver_sql(f"DROP SCHEMA {_SCHEMA}")


def _part(file: Path) -> Path:
    return file.with_name(file.name + ".rebuilding")
