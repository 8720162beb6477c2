"""The database is asked about its own files, by whatever means the server grants."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest

from webstrata.clock import ManualClock
from webstrata.records import EngineCheck, NewPage
from webstrata.remember.engine import open_store


def soundness_of(url: str, *add: str) -> EngineCheck:
    async def run() -> EngineCheck:
        store = open_store(url, ManualClock())
        try:
            await store.pages.add([NewPage(url=one, host="a.example") for one in add], 0.0)
            return await store.maintenance.check_engine()
        finally:
            await store.close()

    return asyncio.run(run())


@pytest.mark.parametrize("index", ["ix_pages_host", "uq_pages_url", "pk_queue", "ix_queue_due"])
def test_a_row_that_an_index_misses_is_found(postgres: Any, postgres_url: str, index: str) -> None:
    """An index that lost an entry, plain or partial, is named with the way to build it anew."""
    assert soundness_of(postgres_url, "https://a.example/1").faults == ()
    schema = postgres_url.rpartition("%3D")[2]
    ready = "UPDATE pg_index SET indisready = {0}, indisvalid = {0} WHERE indexrelid = '{1}.{2}'::regclass"
    with psycopg.connect(postgres.get_uri(), autocommit=True) as connection:
        # Without its index a row gets no entry there, and ON CONFLICT no help: so the row is written by hand.
        connection.execute(ready.format("false", schema, index))
        connection.execute(f"SET search_path = {schema}")
        connection.execute("CREATE TEMP TABLE another AS SELECT * FROM pages")
        connection.execute("UPDATE another SET id = 9, url = 'https://a.example/9'")
        connection.execute("INSERT INTO pages SELECT * FROM another")
        connection.execute("INSERT INTO queue (page_id, due_at) VALUES (9, 0.0)")
        connection.execute(ready.format("true", schema, index))

    (fault,) = soundness_of(postgres_url).faults

    assert index in fault
    with psycopg.connect(postgres.get_uri(), autocommit=True) as connection:
        connection.execute(f"REINDEX INDEX {schema}.{index}")
    assert soundness_of(postgres_url).faults == ()


@pytest.fixture
def humble_url(postgres: Any) -> Iterator[str]:
    """A schema of a user who may do nothing else on the server."""
    name = f"h{uuid.uuid4().hex}"
    with psycopg.connect(postgres.get_uri(), autocommit=True) as connection:
        connection.execute(f"CREATE ROLE {name} LOGIN")
        connection.execute(f"CREATE SCHEMA AUTHORIZATION {name}")
        yield postgres.get_uri(driver="psycopg").replace("postgres:@", f"{name}:@", 1)
        connection.execute(f"DROP SCHEMA {name} CASCADE")
        connection.execute(f"DROP ROLE {name}")


def test_a_user_with_few_rights_is_told_what_was_not_looked_at(humble_url: str) -> None:
    """Where the server's own check may not be used, all is read instead, and that is said."""
    found = soundness_of(humble_url, "https://a.example/1")
    assert found.faults == ()
    (note,) = found.unchecked
    assert "every row was read" in note
    assert "pg_amcheck" in note


def test_nothing_is_left_behind(postgres: Any, postgres_url: str) -> None:
    """The check makes no extension, no table and no function that stays."""
    schema = postgres_url.rpartition("%3D")[2]
    query = (
        "SELECT (SELECT count(*) FROM pg_extension), (SELECT count(*) FROM pg_proc p JOIN pg_namespace n "
        f"ON n.oid = pronamespace WHERE nspname = '{schema}')"
    )
    with psycopg.connect(postgres.get_uri(), autocommit=True) as connection:
        before = connection.execute(query).fetchone()
        soundness_of(postgres_url, "https://a.example/1")
        assert connection.execute(query).fetchone() == before
