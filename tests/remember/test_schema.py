"""Tables come from migrations, wholly or not at all."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Engine, create_engine, inspect, text

from webstrata.clock import ManualClock
from webstrata.errors import StoreError
from webstrata.remember import schema
from webstrata.remember.engine import open_store
from webstrata.remember.tables import metadata

OPEN_AND_DIE = """
import os, signal, sys
from sqlalchemy import Engine, event
from webstrata.clock import ManualClock
from webstrata.remember.engine import open_store

left = int(sys.argv[2])

@event.listens_for(Engine, "before_cursor_execute")
def count(connection, cursor, statement, *rest):
    global left
    left -= statement.startswith(("\\nCREATE", "CREATE", "INSERT"))
    if left < 0:
        os.kill(os.getpid(), signal.SIGKILL)

open_store(sys.argv[1], ManualClock())
"""


FORMER = """
INSERT INTO pages (id, url, host, weight, tags, role, depth, requisites, state, added_at, next_at, due_at, lease_until,
                   lease_owner, policy_state, reason, visits, changes, failures, gone, memory, edits)
VALUES (:id, 'https://a.example/' || :id, 'a.example', 1.5, '["x"]', 'page', 0, :no, :state, 1.25, :next, :due, :until,
        :owner, :bytes, 'because', :id, 0, 0, :no, :bytes, 3)
"""
FORMER_PAGES = [
    # state, next visit, place in the queue, lease
    ("active", 10.0, 10.0, None, None),
    ("active", 20.0, 99.5, 99.5, "me"),
    ("paused", 30.0, None, None, None),
    ("paused", 40.0, None, 99.5, "me"),
    ("active", None, None, None, None),
]


def engine_of(url: str) -> Engine:
    return create_engine(url)


def indexes(engine: Engine) -> list[str]:
    """Every index as the engine itself spells it, with the schema's name taken out."""
    query = {
        # SQLite keeps the words by which a table was made and altered: of altered ones they differ and mean the same.
        "sqlite": "SELECT sql FROM sqlite_master WHERE sql IS NOT NULL "
        "AND name NOT IN ('alembic_version', 'pages', 'visits')",
        "postgresql": "SELECT replace(indexdef, schemaname || '.', '') FROM pg_indexes "
        "WHERE schemaname = current_schema() AND tablename <> 'alembic_version'",
    }[engine.dialect.name]
    with engine.connect() as connection:
        return sorted(" ".join(line.split()) for line in connection.execute(text(query)).scalars())


def test_migrated_equals_declared(store_url: str) -> None:
    """The migrations lead to exactly the tables and indexes that the code declares."""
    open_store(store_url, ManualClock())
    engine = engine_of(store_url)
    with engine.connect() as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True})
        assert compare_metadata(context, metadata) == []
    migrated = indexes(engine)
    for table in metadata.tables.values():
        for index in table.indexes:  # declared for one engine, meant for both
            index.dialect_options["postgresql"]["where"] = index.dialect_options["sqlite"]["where"]
    metadata.drop_all(engine)
    metadata.create_all(engine)
    assert indexes(engine) == migrated
    engine.dispose()


def test_head_is_the_newest_script() -> None:
    """The version that the code names is the newest migration."""
    config = Config()
    config.set_main_option("script_location", str(Path(schema.__file__).parent / "migrations"))
    assert ScriptDirectory.from_config(config).get_current_head() == schema.HEAD


def test_a_newer_database_is_refused(store_url: str) -> None:
    """Tables of a newer version are left alone, and the text says what to do."""
    open_store(store_url, ManualClock())
    engine = engine_of(store_url)
    with engine.begin() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    with pytest.raises(StoreError, match=r"newer Webstrata.*9999.*Install"):
        open_store(store_url, ManualClock())
    engine.dispose()


def test_foreign_tables_are_refused(store_url: str) -> None:
    """A database that something else uses is not touched."""
    engine = engine_of(store_url)
    with engine.begin() as connection:
        connection.execute(text("CREATE TABLE pages (x integer)"))
    with pytest.raises(StoreError, match="something else"):
        open_store(store_url, ManualClock())
    assert inspect(engine).get_table_names() == ["pages"]
    engine.dispose()


@pytest.mark.parametrize("statements", [1, 9, 16])
def test_a_migration_killed_half_way_is_as_if_never_begun(store_url: str, statements: int) -> None:
    """After kill -9 in a migration the database is empty, and the next start finishes."""
    environment: dict[str, Any] = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    killed = subprocess.run(
        [sys.executable, "-c", OPEN_AND_DIE, store_url, str(statements)], env=environment, check=False
    )
    assert killed.returncode == -9
    engine = engine_of(store_url)
    assert inspect(engine).get_table_names() == []
    engine.dispose()
    open_store(store_url, ManualClock())


def test_a_former_database_is_moved_without_loss(store_url: str) -> None:
    """Pages of the version before, leased, paused or waiting, keep every value, their place and their holder."""
    engine = engine_of(store_url)
    with engine.begin() as connection:
        schema.upgrade(connection, "0003")
        for id_, (state, next_at, due_at, until, owner) in enumerate(FORMER_PAGES, 1):
            values = {"id": id_, "state": state, "next": next_at, "due": due_at, "until": until, "owner": owner}
            connection.execute(text(FORMER), {**values, "no": False, "bytes": b"\x00\xff"})
        before = [dict(row._mapping) for row in connection.execute(text("SELECT * FROM pages ORDER BY id"))]

    async def moved() -> list[int]:
        store = open_store(store_url, ManualClock())
        claimed = await store.queue.claim(50.0, 9, 200.0, "you")
        claimed += await store.queue.claim(100.0, 9, 200.0, "you")
        await store.close()
        return [page.id for page in claimed]

    open_store(store_url, ManualClock())
    with engine.connect() as connection:
        after = [dict(row._mapping) for row in connection.execute(text("SELECT * FROM pages ORDER BY id"))]
        places = [tuple(row) for row in connection.execute(text("SELECT * FROM queue ORDER BY page_id"))]
    engine.dispose()
    moving = {"due_at", "lease_until", "lease_owner"}
    assert after == [{name: value for name, value in row.items() if name not in moving} for row in before]
    assert places == [(row["id"], row["due_at"], row["lease_until"], row["lease_owner"]) for row in before]
    assert asyncio.run(moved()) == [1, 2]
