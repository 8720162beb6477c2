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
from sqlalchemy import Engine, create_engine, event, inspect, text

from webstrata.clock import ManualClock
from webstrata.errors import StoreError
from webstrata.records import ArchivedCopy
from webstrata.remember import engine as store_engine
from webstrata.remember.engine import open_store
from webstrata.remember.integrity.row_checksums import COLUMN, register
from webstrata.remember.migrations.upgrade import HEAD, upgrade
from webstrata.remember.tables import metadata
from webstrata.testing.store.examples import NOW, new, page_of

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


def engine_of(url: str) -> Engine:
    return create_engine(url)


def indexes(engine: Engine) -> list[str]:
    """Every index as the engine itself spells it, with the schema's name taken out."""
    query = {
        "sqlite": "SELECT sql FROM sqlite_master WHERE sql IS NOT NULL AND type = 'index'",
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
        opts = {"compare_type": True, "include_name": lambda name, kind, _: (kind, name) != ("column", COLUMN)}
        context = MigrationContext.configure(connection, opts=opts)
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
    config.set_main_option("script_location", str(Path(store_engine.__file__).parent / "migrations"))
    assert ScriptDirectory.from_config(config).get_current_head() == HEAD


def test_a_database_of_the_first_version_is_upgraded(store_url: str) -> None:
    """Its pages stay, and what later versions store can be stored."""
    engine = engine_of(store_url)
    if engine.dialect.name == "sqlite":
        event.listen(engine, "connect", lambda connection, _: register(connection))
    with engine.begin() as connection:
        upgrade(connection, "0001")
        connection.execute(text("INSERT INTO robots (origin, host, at, status, body) VALUES ('o', 'h', 1, 200, '')"))
    engine.dispose()

    async def use() -> None:
        store = open_store(store_url, ManualClock(NOW), create=False)
        await store.pages.add([new("1")], NOW)
        await store.copies.add([ArchivedCopy(url=new("1").url, at=1.0, archive="x", links=b"")], None, NOW)
        page = await page_of(store, "1")
        await store.facts.save_features({page.id: {"size": 1.0}}, NOW)
        assert (await store.copies.page_ids(0, 9), await store.facts.links([page.id])) == ([page.id], {page.id: b""})
        assert (await store.maintenance.changed_rows()).faults == ()
        await store.close()

    asyncio.run(use())
    with engine.connect() as connection:
        assert connection.execute(text("SELECT host FROM robots")).scalars().all() == ["h"]
    engine.dispose()


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
    """A database of another program is not changed."""
    engine = engine_of(store_url)
    with engine.begin() as connection:
        connection.execute(text("CREATE TABLE pages (x integer)"))
    with pytest.raises(StoreError, match="another program"):
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
