"""Opening databases, and what happens when they fail."""

from __future__ import annotations

import asyncio
import sqlite3
import tempfile
import threading
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import psycopg
import pytest
from msgspec.structs import replace

from webstrata.clock import JumpingClock, ManualClock
from webstrata.errors import StoreError
from webstrata.records import Batch, FinishedVisit, NewPage, Outcome, Page, Visit
from webstrata.remember.engine import open_store
from webstrata.remember.store import SqlStore

from .conftest import start_postgres


def new(first: int, number: int) -> list[NewPage]:
    return [NewPage(url=f"https://a.example/{n}", host="a.example") for n in range(first, first + number)]


def entry(page: Page, at: float) -> FinishedVisit:
    visit = Visit(page_id=page.id, url=page.url, at=at, outcome=Outcome.SAME)
    return FinishedVisit(page=replace(page, visits=page.visits + 1, next_at=at + 10), visit=visit)


def with_store(url: str, work: Callable[[SqlStore], Awaitable[None]], patience_s: float = 30.0) -> None:
    async def run() -> None:
        store = open_store(url, ManualClock(), patience_s=patience_s)
        try:
            await work(store)
        finally:
            await store.close()

    asyncio.run(run())


@pytest.mark.parametrize(
    ("url", "says"),
    [
        ("no url", "not a database URL"),
        ("mysql://h/x", "unknown kind of database"),
        ("sqlite://", "needs a file"),
        ("sqlite:////nonexistent/folder/x.db", "folder is writable"),
        ("postgresql://u:secret@127.0.0.1:1/x", "Check that the server is running"),
    ],
)
def test_bad_urls(url: str, says: str) -> None:
    """A URL that cannot be opened says why, and never shows the password."""
    with pytest.raises(StoreError, match=says) as failed:
        open_store(url, ManualClock(), patience_s=0.1)
    assert "secret" not in str(failed.value)


def test_absent_database_is_not_made_unasked(sqlite_url: str, tmp_path: Path) -> None:
    """Without `create` a missing file stays missing, an empty file stays empty, and one without tables is refused."""
    with pytest.raises(StoreError, match=r"is missing.*webstrata rebuild"):
        open_store(sqlite_url, ManualClock(), create=False)
    assert not list(tmp_path.iterdir())
    (tmp_path / "store.db").touch()
    (tmp_path / "store.db-wal").write_bytes(b"the commits that were not copied to the file yet")
    with pytest.raises(StoreError, match=r"0 bytes.*webstrata rebuild"):
        open_store(sqlite_url, ManualClock(), create=False)
    assert (tmp_path / "store.db-wal").read_bytes(), "SQLite would delete it"
    (tmp_path / "store.db-wal").unlink()
    with sqlite3.connect(tmp_path / "store.db") as connection:
        connection.execute("CREATE TABLE mine (x)")
    connection.close()
    with pytest.raises(StoreError, match=r"tables.*missing.*webstrata rebuild"):
        open_store(sqlite_url, ManualClock(), create=False)


def test_sqlite_survives_power_loss_by_its_settings(sqlite_url: str, tmp_path: Path) -> None:
    """The log is written ahead and synced at every commit."""

    async def work(store: SqlStore) -> None:
        modes = await store.database.writer.run(
            lambda on: [on.exec_driver_sql(f"PRAGMA {name}").scalar() for name in ("journal_mode", "synchronous")]
        )
        assert modes == ["wal", 2]

    with_store(sqlite_url, work)
    assert not (tmp_path / "store.db-wal").exists()


@pytest.mark.parametrize("damage", [0, 5_000])
def test_damage_is_said_with_a_way_out(sqlite_url: str, tmp_path: Path, damage: int) -> None:
    """Overwritten bytes are noticed, at opening or by the check, and the text names what to run."""
    with_store(sqlite_url, lambda store: store.pages.add(new(0, 3_000), 0.0))  # type: ignore[arg-type, return-value]
    path = tmp_path / "store.db"
    content = bytearray(path.read_bytes())
    content[damage:] = b"\xa5" * (len(content) - damage)
    path.write_bytes(content)

    async def work(store: SqlStore) -> None:
        found = await store.maintenance.check_engine()
        raise StoreError("damaged: `webstrata rebuild`" if found.faults else "not noticed")

    with pytest.raises(StoreError, match=r"damaged.*webstrata rebuild"):
        with_store(sqlite_url, work)


def test_a_sound_database_is_called_sound(store_url: str) -> None:
    """The check finds nothing in a database in use."""

    async def work(store: SqlStore) -> None:
        await store.pages.add(new(0, 50), 0.0)
        assert (await store.maintenance.check_engine()).faults == ()
        assert await store.maintenance.contradictions() == []
        assert await store.maintenance.size_bytes() > 50_000

    with_store(store_url, work)


def hold_sqlite(path: Path, for_s: float) -> threading.Thread:
    """Another program writes for so long."""
    connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    connection.execute("BEGIN IMMEDIATE")

    def let_go() -> None:
        time.sleep(for_s)
        connection.execute("ROLLBACK")
        connection.close()

    thread = threading.Thread(target=let_go)
    thread.start()
    return thread


def test_a_busy_file_is_waited_for_within_a_bound(sqlite_url: str, tmp_path: Path) -> None:
    """A short lock by another process only delays; a long one is an error that says so."""

    async def work(store: SqlStore) -> None:
        other = hold_sqlite(tmp_path / "store.db", 0.2)
        assert await store.pages.add(new(0, 1), 0.0) == (1, 0)
        other.join()
        other = hold_sqlite(tmp_path / "store.db", 1.2)
        with pytest.raises(StoreError, match="locked by another process"):
            await store.pages.add(new(1, 1), 0.0)
        other.join()
        assert await store.pages.add(new(1, 1), 0.0) == (1, 0)

    with_store(sqlite_url, work, patience_s=0.5)


def test_opening_waits_for_another_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that is locked when it is opened is tried again, as for any other transaction."""
    file = tmp_path / "store.db"
    other = sqlite3.connect(file, isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    monkeypatch.setattr("webstrata.remember.db_thread.time.sleep", lambda pause_s: other.close())

    async def work(store: SqlStore) -> None:
        assert await store.pages.add(new(0, 1), 0.0) == (1, 0)

    with_store(f"sqlite:///{file}", work, patience_s=4.0)


def test_many_writers_lose_nothing(store_url: str) -> None:
    """Eight writers on one database: every page arrives once, is claimed once, and the totals agree."""

    async def one(store: SqlStore, number: int) -> list[int]:
        for turn in range(5):
            await store.pages.add(new(20 * (number // 2 + turn), 40), 0.0)
        claimed = await store.queue.claim(1.0, 30, 100.0, f"owner {number}")
        await store.visit_log.commit(Batch(entries=tuple(entry(page, float(number)) for page in claimed)))
        return [page.id for page in claimed]

    async def run() -> None:
        stores = [open_store(store_url, ManualClock()) for _ in range(8)]
        claimed = await asyncio.gather(*(one(store, number) for number, store in enumerate(stores)))
        ids = [page for share in claimed for page in share]
        assert len(ids) == len(set(ids))
        census = await stores[0].maintenance.totals(1.0)
        assert (census.pages, census.visits, census.in_flight) == (180, len(ids), 0)
        await stores[0].maintenance.recount()
        assert await stores[0].maintenance.totals(1.0) == census
        for store in stores:
            await store.close()

    asyncio.run(run())


def test_a_lost_connection_is_made_again(postgres: Any, postgres_url: str) -> None:
    """Sessions ended by the server are replaced unnoticed, reads and writes alike."""

    async def work(store: SqlStore) -> None:
        await store.pages.add(new(0, 1), 0.0)
        await store.queue.next_due()
        for turn in range(1, 4):
            with psycopg.connect(postgres.get_uri()) as other:
                sessions = [
                    await lane.run(lambda on: on.exec_driver_sql("SELECT pg_backend_pid()").scalar())
                    for lane in (store.database.writer, store.database.reader)
                ]
                for session in sessions:
                    other.execute("SELECT pg_terminate_backend(%s)", (session,))
            assert await store.pages.add(new(turn, 1), 0.0) == (1, 0)
            assert (await store.maintenance.totals(0.0)).pages == turn + 1

    with_store(postgres_url, work)


def test_a_deadlock_is_tried_again(postgres: Any, postgres_url: str) -> None:
    """The server breaks a deadlock at our cost; the commit is run again and arrives once."""
    schema = postgres_url.rpartition("%3D")[2]

    async def work(store: SqlStore) -> None:
        await store.pages.add(new(0, 2), 0.0)
        one, two = await store.queue.claim(0.0, 2, 60.0, "me")
        with psycopg.connect(postgres.get_uri()) as other:
            other.execute(f"SET search_path = {schema}")
            other.execute("SELECT 1 FROM pages WHERE id = %s FOR UPDATE", (two.id,))
            commit = asyncio.ensure_future(store.visit_log.commit(Batch(entries=(entry(one, 1.0), entry(two, 1.0)))))
            # Our commit holds page one and waits for page two; now wait for page one as well.
            await asyncio.to_thread(wait_until_blocking, postgres, other.info.backend_pid)
            await asyncio.to_thread(other.execute, "SELECT 1 FROM pages WHERE id = %s FOR UPDATE", (one.id,))
        await commit
        assert (await store.maintenance.totals(0.0)).visits == 2

    with_store(postgres_url, work)


def wait_until_blocking(postgres: Any, session: int) -> None:
    """Until someone waits for that session."""
    query = "SELECT 1 FROM pg_stat_activity WHERE %s = ANY (pg_blocking_pids(pid))"
    with psycopg.connect(postgres.get_uri(), autocommit=True) as watcher:
        while not watcher.execute(query, (session,)).fetchall():
            time.sleep(0.01)


def test_a_server_restart_is_waited_for() -> None:
    """A store goes on after its PostgreSQL server was stopped and started again, within seconds."""
    server = start_postgres(Path(tempfile.mkdtemp(prefix="webstrata-pg-restart-")))

    async def work(store: SqlStore) -> None:
        await store.pages.add(new(0, 1), 0.0)
        server.stop()
        adding = asyncio.ensure_future(store.pages.add(new(1, 1), 0.0))
        reading = asyncio.ensure_future(store.maintenance.totals(0.0))
        await asyncio.to_thread(server.ensure_postgres_running)
        assert await asyncio.wait_for(adding, 5.0) == (1, 0)
        assert (await asyncio.wait_for(reading, 5.0)).pages in {1, 2}

    try:
        with_store(server.get_uri(driver="psycopg"), work)
    finally:
        server.cleanup()


def test_a_lock_held_for_long_is_an_error(postgres: Any, postgres_url: str) -> None:
    """A table locked by another session beyond our patience gives an error that says what to look at."""
    schema = postgres_url.rpartition("%3D")[2]

    async def work(store: SqlStore) -> None:
        with psycopg.connect(postgres.get_uri()) as other:
            other.execute(f"LOCK TABLE {schema}.pages IN ACCESS EXCLUSIVE MODE")
            with pytest.raises(StoreError, match="did not answer"):
                await store.pages.add(new(0, 1), 0.0)
            other.rollback()
        assert await store.pages.add(new(0, 1), 0.0) == (1, 0)

    with_store(postgres_url, work, patience_s=0.4)


def test_days_add_up(store_url: str) -> None:
    """A day's totals are the sums over its hosts."""

    async def work(store: SqlStore) -> None:
        other = NewPage(url="https://b.example/", host="b.example")
        await store.pages.add([*new(0, 1), other], 0.0)
        claimed = await store.queue.claim(0.0, 9, 60.0, "me")
        await store.visit_log.commit(Batch(entries=tuple(entry(page, 5.0) for page in claimed)))
        assert [(day.host, day.day, day.visits) for day in await store.maintenance.days()] == [("", 0, 2)]

    with_store(store_url, work)


def test_time_stands_still_while_the_database_works(sqlite_url: str) -> None:
    """A jumping clock does not jump while a transaction is under way."""

    async def run() -> None:
        clock = JumpingClock(0.0)
        store = open_store(sqlite_url, clock)
        sleeper = asyncio.ensure_future(clock.sleep_until(100.0))
        await asyncio.sleep(0)
        await store.pages.add(new(0, 2_000), 0.0)
        assert clock.now() == 0.0
        await sleeper
        assert clock.now() == 100.0
        await store.close()
        with pytest.raises(StoreError, match="closed"):
            await store.queue.next_due()

    asyncio.run(run())
