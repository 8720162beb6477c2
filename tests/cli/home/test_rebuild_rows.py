"""The database that `rebuild` makes from the WARC files of the demo's home, compared with the crawl's, row by row."""

from __future__ import annotations

import shutil
import sqlite3
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tests.cli.conftest import Call, Demo, call_here
from webstrata.detect.memory import unpack
from webstrata.detect.template import unpack_template
from webstrata.remember.history.link_rows import unpacked

Row = dict[str, Any]

NEW_IDS = "ids are given anew"
NO_DURATION = "WARC files have no durations"
MAY_DIFFER = {
    "pages": {
        "id": NEW_IDS,
        "checksum": "of the whole row",
        "added_at": "a page counts as added at its first archived visit",
    },
    "visits": {"id": NEW_IDS, "page_id": NEW_IDS, "checksum": "of the whole row", "duration_s": NO_DURATION},
    "originals": {"checksum": "of the whole row"},
    "queue": {"page_id": NEW_IDS, "checksum": "of the whole row"},
    "robots": {"checksum": "of the whole row", "at": NO_DURATION},
    "hosts": {"checksum": "of the whole row", "last_duration_s": NO_DURATION, "next_at": NO_DURATION},
    "addresses": {"checksum": "of the whole row", "next_at": NO_DURATION},
    "watched_hosts": {"checksum": "of the whole row"},
    "host_days": {"checksum": "of the whole row", "duration_s": NO_DURATION},
    "site_templates": {"checksum": "of the whole row"},
    "sources": {"id": NEW_IDS, "checksum": "of the whole row"},
    "unwatched_signals": {"source_id": NEW_IDS, "checksum": "of the whole row"},
    "page_features": {"page_id": NEW_IDS, "checksum": "of the whole row"},
    "page_links": {"page_id": NEW_IDS, "checksum": "of the whole row"},
}
"""Columns that the WARC files do not determine, by table, with the reason. All others must be equal."""
BUDGETED = {
    "pages": dict.fromkeys(
        ("next_at", "interval_s", "reason", "policy_state"),
        "they depend on the price of a visit, and on which visits were committed together",
    ),
    "queue": {"due_at": "the next visit of the page"},
}
"""The same for a policy that shares a budget."""

QUERIES = {
    "pages": "SELECT * FROM pages",
    "visits": "SELECT visits.*, pages.url AS key FROM visits JOIN pages ON pages.id = page_id",
    "originals": "SELECT *, payload AS key FROM originals",
    "queue": "SELECT queue.*, pages.url AS key FROM queue JOIN pages ON pages.id = page_id",
    "robots": "SELECT *, origin AS key FROM robots",
    "hosts": "SELECT *, host AS key FROM hosts",
    "addresses": "SELECT *, address AS key FROM addresses",
    "watched_hosts": "SELECT *, host AS key FROM watched_hosts",
    "host_days": "SELECT *, host || day AS key FROM host_days",
    "site_templates": "SELECT *, host AS key FROM site_templates",
    "sources": "SELECT *, url AS key FROM sources",
    "unwatched_signals": "SELECT signals.*, sources.url || signals.url AS key FROM unwatched_signals signals "
    "JOIN sources ON sources.id = source_id",
    "page_features": "SELECT facts.*, url AS key FROM page_features facts JOIN pages ON pages.id = page_id",
    "page_links": "SELECT facts.*, url AS key FROM page_links facts JOIN pages ON pages.id = page_id",
}
NOT_REBUILT = {
    "alembic_version", "boosts", "budgets", "day_totals", "homes", "host_leases", "interval_limits",
    "machine_clocks", "page_tags", "politeness_clocks", "reservations", "rounds", "signals", "site_finds",
    "site_states", "sites", "tag_rules", "totals", "unparsable",
    "archives", "copies", "imports", "learned_pages", "page_importance",
}  # fmt: skip
"""Tables of what users set or import and of budgets, tables that are empty in the demo, counters (which `check`
compares with the rows), and measurements of this machine."""


def rounded(value: Any) -> Any:
    """Times with the resolution of WARC files, a microsecond."""
    if isinstance(value, float):
        return round(value, 6)
    if isinstance(value, list | tuple):
        return [rounded(one) for one in value]
    return {name: rounded(one) for name, one in value.items()} if isinstance(value, dict) else value


def rows(home: Path, table: str) -> dict[tuple[Any, ...], Row]:
    """The rows of a table by what identifies them in both databases."""
    connection = sqlite3.connect(f"file:{home / 'webstrata.db'}?mode=ro", uri=True)
    connection.row_factory = sqlite3.Row
    urls = dict(map(tuple, connection.execute("SELECT id, url FROM pages")))
    found: dict[tuple[Any, ...], Row] = {}
    for one in connection.execute(QUERIES[table]):
        row = {name: rounded(one[name]) for name in one.keys()}  # noqa: SIM118 - a row is not a dict
        if table == "pages":
            row["memory"] = rounded(msgspec.to_builtins(unpack(row["memory"])))
        if table == "site_templates":
            template = rounded(msgspec.json.decode(msgspec.json.encode(unpack_template(row["template"]))))
            pages, runs, events = template
            row["template"] = [pages, runs, [[*event[:3], urls[event[3]], *event[4:]] for event in events]]
        if table == "page_links":
            row["links"] = rounded(unpacked(row["links"]).tolist())
        found[row.get("key", row.get("url")), row["at"] if table == "visits" else None] = row
    connection.close()
    return found


def differences(before: dict[tuple[Any, ...], Row], after: dict[tuple[Any, ...], Row], allowed: set[str]) -> list[Any]:
    found: list[Any] = [("only in one", key) for key in before.keys() ^ after.keys()]
    for key in before.keys() & after.keys():
        for name, value in before[key].items():
            if name not in allowed and value != after[key][name]:
                found.append((key, name, value, after[key][name]))
    return found


def test_every_table_is_compared(demo: Demo) -> None:
    """A new table must be compared here, or be in the list of those that are not rebuilt."""
    connection = sqlite3.connect(demo.home / "webstrata.db")
    tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")}
    connection.close()
    assert {name for name in tables if not name.startswith("sqlite_")} == QUERIES.keys() | NOT_REBUILT


@pytest.fixture(params=["dyn", "value"])
def crawled(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[str, Path]:
    """The home of a short demo with a timer policy, and of one with the policy that shares a budget."""
    policy: str = request.param
    if policy == "dyn":
        return policy, request.getfixturevalue("demo").home
    home = tmp_path / "demo"
    words = ("demo", "--home", home, "--days", 15, "--policy", policy, "--budget", "0.3/page/day", "--json")
    assert call_here(*words, WEBSTRATA_CRAWL_WORKERS="0").code == 0
    return policy, home


def test_rows(crawled: tuple[str, Path], tmp_path: Path, call: Call) -> None:
    """Without database and index, everything comes back from the WARC files; only what they cannot hold differs."""
    policy, original = crawled
    home = Path(shutil.copytree(original, tmp_path / "rebuilt"))
    for file in home.glob("webstrata.db*"):
        file.unlink()
    shutil.rmtree(home / "index")

    result = call("--home", home, "rebuild", "--json")

    assert result.code == 0, result.err
    for table in QUERIES:
        before, after = rows(original, table), rows(home, table)
        allowed = set(MAY_DIFFER[table]) | (set(BUDGETED.get(table, ())) if policy == "value" else set())
        assert before or table in ("unwatched_signals", "addresses"), table
        assert not differences(before, after, allowed)[:5], table
    for segment in (original / "index").iterdir():
        assert (home / "index" / segment.name).read_bytes() == segment.read_bytes()
    assert {path.name for path in (home / "index").iterdir()} == {path.name for path in (original / "index").iterdir()}
    assert call("--home", home, "check", "--deep").code == 0
