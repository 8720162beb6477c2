"""Homes of one PostgreSQL database: tables of their own, one politeness."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import create_engine, text

from tests.remember.conftest import postgres, postgres_database, sqlite_url  # noqa: F401 - fixtures
from webstrata.clock import ManualClock
from webstrata.errors import StoreError
from webstrata.records import Batch, ClockReading, HostState, NewPage, RobotsState
from webstrata.remember.engine import open_store
from webstrata.remember.homes.store_home import POLITENESS_SCHEMA, StoreHome, is_schema_name, own_schema
from webstrata.remember.store import SqlStore
from webstrata.remember.tables import metadata

NOW = 1_790_000_000.0
ONE = StoreHome(node="node-one", schema="webstrata_node_one")
TWO = StoreHome(node="node-two", schema="webstrata_node_two")


def opened(url: str, home: StoreHome, *, create: bool = True) -> SqlStore:
    return open_store(url, ManualClock(NOW), create=create, home=home)


@contextmanager
def connected(url: str) -> Iterator[psycopg.Connection]:
    with psycopg.connect(url.replace("+psycopg", ""), autocommit=True) as connection:
        yield connection


def tables_of(url: str, schema: str) -> set[str]:
    with connected(url) as connection:
        found = connection.execute("SELECT tablename FROM pg_tables WHERE schemaname = %s", [schema])
        return {name for (name,) in found} - {"alembic_version"}


def test_tables_are_in_two_schemas(postgres_database: str) -> None:  # noqa: F811
    """The tables that are marked as shared are in the schema of politeness, all others in that of the home."""
    opened(postgres_database, ONE)
    shared = {name for name, table in metadata.tables.items() if table.info}
    assert tables_of(postgres_database, POLITENESS_SCHEMA) == shared
    assert tables_of(postgres_database, ONE.schema) == set(metadata.tables) - shared
    engine = create_engine(
        postgres_database, connect_args={"options": f"-csearch_path={ONE.schema},{POLITENESS_SCHEMA}"}
    )
    with engine.connect() as connection:
        found = compare_metadata(MigrationContext.configure(connection, opts={"compare_type": True}), metadata)
        # Alembic lists the tables of one schema only.
        assert {step[1].name for step in found if step[0] == "add_table"} <= shared
        assert [step for step in found if not str(step[0]).startswith(("add_table", "add_index"))] == []
        for name in shared:
            columns = connection.execute(text(f"SELECT * FROM {name}")).keys()
            assert list(columns) == [column.name for column in metadata.tables[name].c]
    engine.dispose()


def test_homes_have_their_own_pages_and_one_politeness(postgres_database: str) -> None:  # noqa: F811
    """Pages, counts and log of one home are not seen by the other; gaps, back-off and robots.txt are."""

    async def scenario() -> None:
        one, two = opened(postgres_database, ONE), opened(postgres_database, TWO)
        await one.pages.add([NewPage(url="http://a.test/1", host="a.test")], NOW)
        await two.pages.add([NewPage(url=f"http://a.test/{n}", host="a.test") for n in (2, 3)], NOW)
        assert [page.url async for page in one.pages.stream()] == ["http://a.test/1"]
        assert (await one.maintenance.totals(NOW)).pages == 1
        totals = await two.maintenance.totals(NOW)
        assert (totals.pages, totals.hosts) == (2, 1)
        state = HostState(host="a.test", next_at=NOW + 5, backoff_until=NOW + 60, backoff_count=1)
        robots = RobotsState(origin="http://a.test", at=NOW, status=200, body=b"User-agent: *")
        await one.visit_log.commit(Batch(hosts=(state,), robots=(robots,)))
        assert await two.queue.politeness() == ([state], [], [robots])
        times = {"now": NOW, "wish_until": NOW + 9, "changed_since": NOW - 9, "clock_difference_s": 0.0}
        assert (await one.hosts.lease("node-one", {"a.test": NOW + 10}, **times))["a.test"].is_held
        assert not (await two.hosts.lease("node-two", {"a.test": NOW + 10}, **times))["a.test"].is_held
        for store in (one, two):
            assert await store.maintenance.contradictions() == []
            assert (await store.maintenance.check_engine()).faults == ()
            assert 100_000 < await store.maintenance.size_bytes() < 2_000_000
        await one.close()
        await two.close()

    asyncio.run(scenario())


def test_a_dropped_schema_leaves_the_other_home(postgres_database: str) -> None:  # noqa: F811
    """Dropping the schema of a home removes this home and nothing else."""

    async def scenario() -> None:
        for home in (ONE, TWO):
            store = opened(postgres_database, home)
            await store.pages.add([NewPage(url="http://a.test/", host="a.test")], NOW)
            await store.close()
        with connected(postgres_database) as connection:
            connection.execute(f"DROP SCHEMA {ONE.schema} CASCADE")
        with pytest.raises(StoreError, match=r"webstrata_node_one.* are missing"):
            opened(postgres_database, ONE, create=False)
        assert tables_of(postgres_database, ONE.schema) == set()
        store = opened(postgres_database, TWO, create=False)
        assert (await store.maintenance.totals(NOW)).pages == 1
        assert (await store.maintenance.check_engine()).faults == ()
        await store.close()

    asyncio.run(scenario())


def test_a_step_of_the_clock_moves_politeness_once(postgres_database: str) -> None:  # noqa: F811
    """Both homes of a machine move their own times; those that they share are moved by the first."""

    async def scenario() -> None:
        one, two = opened(postgres_database, ONE), opened(postgres_database, TWO)
        for store in (one, two):
            await store.pages.add([NewPage(url="http://a.test/", host="a.test")], NOW)
            await store.maintenance.follow_clock(ClockReading(machine="m", uptime_s=100.0, at=NOW), 300.0, 86400.0)
        await one.visit_log.commit(Batch(hosts=(HostState(host="a.test", next_at=NOW + 5),)))
        stepped = ClockReading(machine="m", uptime_s=101.0, at=NOW + 3601)
        for store in (one, two):
            assert (await store.maintenance.follow_clock(stepped, 300.0, 86400.0)).by_s == 3600.0
            page = await store.pages.get("http://a.test/")
            assert page is not None
            assert page.added_at == NOW + 3600
        ((state,), _, _) = await two.queue.politeness()
        assert state.next_at == NOW + 3605
        await one.close()
        await two.close()

    asyncio.run(scenario())


OPEN = """
import sys
from webstrata.clock import ManualClock
from webstrata.remember.engine import open_store
from webstrata.remember.homes.store_home import StoreHome

open_store(sys.argv[1], ManualClock(), home=StoreHome(node=sys.argv[2], schema=sys.argv[3]))
"""


def test_homes_that_are_created_at_once(postgres_database: str) -> None:  # noqa: F811
    """Six processes create their schemas, and with them the shared one, at the same time; all succeed."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", OPEN, postgres_database, f"n{n % 3}", f"webstrata_n{n % 3}"], env=environment
        )
        for n in range(6)
    ]
    assert [process.wait(timeout=100) for process in processes] == [0] * 6
    with connected(postgres_database) as connection:
        for n in range(3):
            assert connection.execute(f"SELECT node, shares FROM webstrata_n{n}.homes").fetchall() == [(f"n{n}", False)]


# ── to whom tables belong ───────────────────────────────────────────────────────────────────────────────────────


def test_a_schema_belongs_to_one_home_unless_all_share_it(postgres_database: str) -> None:  # noqa: F811
    """Homes that name the same schema share it; a home's own schema, or one that it does not share, is refused."""
    opened(postgres_database, ONE)
    for shares, words in ((False, "belongs to another home"), (True, "does not share it")):
        with pytest.raises(StoreError, match=words):
            opened(postgres_database, StoreHome(node="node-two", schema=ONE.schema, shares=shares))
    for node in ("node-a", "node-b"):
        opened(postgres_database, StoreHome(node=node, schema="together", shares=True))
    with pytest.raises(StoreError, match="not those of this home"):
        opened(postgres_database, StoreHome(node="node-c", schema="together", shares=True), create=False)
    with connected(postgres_database) as connection:
        assert connection.execute("SELECT node FROM together.homes ORDER BY node").fetchall() == [
            ("node-a",),
            ("node-b",),
        ]


def test_a_file_belongs_to_one_home(sqlite_url: str) -> None:  # noqa: F811
    """A second home that names the SQLite file of the first is refused, and the message names the first."""
    opened(sqlite_url, StoreHome(node="node-one", is_inside=True))
    with pytest.raises(StoreError, match=r"belongs to another home \(node-one\)"):
        opened(sqlite_url, StoreHome(node="node-two"))
    opened(sqlite_url, StoreHome(node="node-one"), create=False)


def test_a_user_who_may_not_create_schemas(postgres_database: str) -> None:  # noqa: F811
    """The message has the statements that the administrator must run; after these, the home can be created."""
    with connected(postgres_database) as connection:
        role = f"r{connection.info.backend_pid}"
        connection.execute(f"CREATE ROLE {role} LOGIN")
        try:
            url = postgres_database.replace("//postgres:@", f"//{role}@")
            assert url != postgres_database
            home = StoreHome(node="node-a", schema="mine", shares=True)
            with pytest.raises(StoreError, match=f'CREATE SCHEMA mine AUTHORIZATION "{role}"'):
                opened(url, home)
            connection.execute(f"CREATE SCHEMA {POLITENESS_SCHEMA} AUTHORIZATION {role}")
            connection.execute(f"CREATE SCHEMA mine AUTHORIZATION {role}")
            opened(url, home)
        finally:
            connection.execute(f"DROP OWNED BY {role}")
            connection.execute(f"DROP ROLE {role}")


def test_homes_of_two_users(postgres_database: str) -> None:  # noqa: F811
    """A user who may create schemas, but does not own the shared one, needs two more grants; the message has them."""
    opened(postgres_database, ONE)
    with connected(postgres_database) as connection:
        role = f"r{connection.info.backend_pid}"
        connection.execute(f"CREATE ROLE {role} LOGIN")
        try:
            connection.execute(f"GRANT CREATE ON DATABASE {connection.info.dbname} TO {role}")
            url = postgres_database.replace("//postgres:@", f"//{role}@")
            with pytest.raises(StoreError) as refused:
                opened(url, TWO)
            grants = [words for words in str(refused.value).split("`") if words.startswith("GRANT")]
            assert tables_of(postgres_database, TWO.schema) == set()
            for grant in grants[1:]:
                connection.execute(grant)

            async def scenario() -> None:
                store = opened(url, TWO)
                await store.visit_log.commit(Batch(hosts=(HostState(host="a.test", next_at=NOW + 5),)))
                await store.maintenance.follow_clock(ClockReading(machine="m", uptime_s=1.0, at=NOW), 300.0, 86400.0)
                await store.maintenance.follow_clock(ClockReading(machine="m", uptime_s=2.0, at=NOW + 99), 300.0, 9e4)
                assert (await store.maintenance.check_engine()).faults == ()
                await store.close()

            asyncio.run(scenario())
        finally:
            connection.execute(f"DROP OWNED BY {role}")
            connection.execute(f"DROP ROLE {role}")


def test_a_search_path_of_the_user_is_refused(postgres_database: str) -> None:  # noqa: F811
    """An address with a search_path would put tables elsewhere; the message names store.schema."""
    with pytest.raises(StoreError, match=r"store\.schema"):
        opened(f"{postgres_database}&options=-csearch_path%3Dmine", ONE)


def test_names_of_schemas() -> None:
    """A node has a valid schema of its own; reserved names and names that need quotes are refused."""
    assert own_schema("node-1a2b3c4d") == "webstrata_node_1a2b3c4d"
    assert is_schema_name(own_schema("Wëird node " * 20))
    assert [name for name in ("a b", "A", "pg_x", "1a", POLITENESS_SCHEMA, "x" * 41, "") if is_schema_name(name)] == []
