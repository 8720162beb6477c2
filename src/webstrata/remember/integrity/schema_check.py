"""Comparison of the tables and indexes of an SQLite database with those that the migrations create.

SQLite keeps their definitions as text and parses it at every start, so that a changed letter in it changes a name, a
type or a condition. Its own check does not look at this text.
"""

from __future__ import annotations

from functools import cache

from sqlalchemy import Connection, StaticPool, create_engine, event

from webstrata.remember.integrity.row_checksums import register
from webstrata.remember.migrations.upgrade import HEAD, upgrade

# Not those of statistics and sequences; the names of automatic indexes are compared.
_DEFINITIONS = "SELECT type, name, tbl_name, sql FROM sqlite_schema WHERE name NOT LIKE 'sqlite_s%'"


def schema_faults(connection: Connection) -> list[str]:
    """Definitions that differ, one sentence each; none on PostgreSQL, which checks its own catalogue."""
    if connection.dialect.name == "postgresql":
        return []
    found, wanted = _definitions(connection), _migrated()
    faults = [f"the {kind} {name} is missing" for kind, name in sorted(wanted.keys() - found.keys())]
    faults += [f"the {kind} {name} is not one of Webstrata's" for kind, name in sorted(found.keys() - wanted.keys())]
    faults += [
        f"the definition of the {kind} {name} was changed"
        for kind, name in sorted(wanted.keys() & found.keys())
        if wanted[kind, name] != found[kind, name]
    ]
    return faults


@cache
def _migrated() -> dict[tuple[str, str], tuple[str, str]]:
    """The definitions of a new database."""
    engine = create_engine("sqlite://", poolclass=StaticPool)
    event.listen(engine, "connect", lambda opened, _: register(opened))
    try:
        with engine.begin() as connection:
            upgrade(connection, HEAD)
            return _definitions(connection)
    finally:
        engine.dispose()


def _definitions(connection: Connection) -> dict[tuple[str, str], tuple[str, str]]:
    rows = connection.exec_driver_sql(_DEFINITIONS)
    return {(str(kind), str(name)): (str(table), str(sql)) for kind, name, table, sql in rows}
