"""A home with very many watched and visited pages, written with a few SQL statements: for benchmarks of commands.

The pages of each host have the policy states of a hundred different histories, from a daily change to none in a year.
"""

from __future__ import annotations

import asyncio
import sqlite3
from pathlib import Path

from webstrata.clock import DAY_S
from webstrata.home import Home
from webstrata.node import Node
from webstrata.remember.integrity.row_checksums import register
from webstrata.remember.tables import pages as page_table
from webstrata.remember.tables import visits as visit_table
from webstrata.schedule.page_table import replayed
from webstrata.schedule.registry import budgeted_policy
from webstrata.settings import Settings

HOSTS = 1_000
LOGGED = 200_000
"""The latest visits that the log has."""
_HISTORIES = 100
_SEEN = 40
"""Visits of each page, one a day."""


def build(folder: Path, pages: int, now: float, *, due: float = 1.0) -> Node:
    """A home of this many pages, of which the share `due` is due now and the others in a day."""
    home, _ = Home.create(folder)
    node = Node(home, Settings())

    async def create_tables() -> None:
        async with node.store():
            pass

    async def count() -> None:
        async with node.store() as store:
            await store.maintenance.recount()

    asyncio.run(create_tables())
    database = sqlite3.connect(home.database)
    register(database)
    with database:
        _fill(database, pages, now, due)
    database.execute("PRAGMA journal_mode = wal")
    database.close()
    asyncio.run(count())
    return node


def _fill(database: sqlite3.Connection, pages: int, now: float, due: float) -> None:
    for pragma in ("journal_mode = off", "synchronous = off", "cache_size = -500000"):
        database.execute(f"PRAGMA {pragma}")
    database.execute("CREATE TEMP TABLE history (n INTEGER PRIMARY KEY, state BLOB, changes INTEGER)")
    database.executemany("INSERT INTO history VALUES (?, ?, ?)", _histories(now))
    database.execute("CREATE TEMP TABLE number (n INTEGER PRIMARY KEY)")
    count = "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < ?) SELECT n FROM c"
    database.execute(f"INSERT INTO number {count}", (pages,))
    values = {"now": now, "due": due, "hosts": HOSTS, "seen": _SEEN, "histories": _HISTORIES, "day": DAY_S}
    for table, columns, source in (
        (page_table.name, _PAGE, "number JOIN history ON history.n = number.n % :histories ORDER BY number.n"),
        ("queue", _QUEUE, "pages ORDER BY id"),
        (visit_table.name, _VISIT, f"pages WHERE id > {pages - LOGGED} ORDER BY id"),
        ("watched_hosts", {"host": "host"}, "pages GROUP BY host"),
        ("hosts", _HOST_STATE, "pages GROUP BY host"),
    ):
        names, selected = ", ".join(columns), ", ".join(columns.values())
        database.execute(f"INSERT INTO {table} ({names}) SELECT {selected} FROM {source}", values)


def _histories(now: float) -> list[tuple[int, bytes, int]]:
    """(number, policy state, changes) of pages that change on every, every second, every third… day."""
    policy = budgeted_policy("value")
    assert policy is not None
    days = [(n, day) for n in range(_HISTORIES) for day in range(_SEEN)]
    visits = [(n, now - (_SEEN - day) * DAY_S, day > 0 and day % (n + 1) == 0) for n, day in days]
    states = replayed(policy, visits)
    changes = [sum(changed for of, _, changed in visits if of == n) for n in range(_HISTORIES)]
    return [(n, states[n], changes[n]) for n in range(_HISTORIES)]


_HOST = "'host' || (number.n / 50 % :hosts) || '.example'"
_PAGE = {
    "id": "number.n",
    "url": f"'https://' || {_HOST} || '/section/' || number.n || '/page.html'",
    "host": _HOST,
    "weight": "1.0",
    "tags": "'[]'",
    "role": "'page'",
    "depth": "0",
    "requisites": "0",
    "state": "'active'",
    "added_at": ":now - :seen * :day",
    "next_at": "CASE WHEN number.n % 1000 < 1000 * :due THEN :now - number.n % 3600 ELSE :now + :day END",
    "interval_s": ":day",
    "policy": "'value'",
    "policy_state": "state",
    "reason": "'worth a visit at the price of 0.1'",
    "visits": ":seen",
    "changes": "history.changes",
    "failures": "0",
    "last_visit_at": ":now - :day",
    "last_seen_at": ":now - :day",
    "last_change_at": ":now - :day",
    "last_outcome": "'same'",
    "etag": "'\"5f2a-6130\"'",
    "payload": "printf('sha1:%032d', number.n)",
    "fingerprint": """printf('{"raw":"%064x","size":20000,"media_type":"text/html"}', number.n)""",
    "gone": "0",
    "full_bytes": "20000",
    "answers_304": "1",
    "memory": "x''",
}
_HOST_STATE = {
    "host": "host",
    "next_at": ":now - 600",
    "backoff_until": "0.0",
    "backoff_count": "0",
    "last_duration_s": "0.1",
}
_QUEUE = {"page_id": "id", "due_at": "next_at"}
_VISIT = {
    "page_id": "id",
    "url": "url",
    "at": ":now - :day + id * 0.001",
    "outcome": "'same'",
    "status": "200",
    "raw_changed": "0",
    "counts": "0",
    "duration_s": "0.02 + 0.0001 * (id % 1009)",
    "bytes": "20000",
    "headers": """'{"content-type":"text/html","etag":"\\"5f2a-6130\\""}'""",
    "raw": "printf('%064x', id)",
    "payload": "payload",
    "kind": "'unchanged'",
    "significance": "0.0",
    "new_links": "0",
    "file": "'webstrata-20260101000000-0001.warc.gz'",
    "file_offset": "id * 5000",
    "length": "5000",
    "record_id": "printf('<urn:uuid:%032x>', id)",
    "record_kind": "'response'",
}
