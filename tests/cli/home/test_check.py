"""`webstrata check`: all kinds of damage are counted, and repaired where no data is lost."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

import psycopg
import pytest

from tests.cli.conftest import Call, Demo, LocalServer
from tests.remember.conftest import postgres, postgres_database  # noqa: F401 - fixtures
from webstrata.remember.integrity.row_checksums import register

COUNTS = ("bad", "dangling", "lost", "repaired")


def counts(result: Any) -> dict[str, int]:
    return {name: result.json[name] for name in COUNTS}


def warc(home: Path) -> Path:
    (only,) = (home / "archive").glob("*.warc.gz")
    return only


def segment(home: Path) -> Path:
    (only,) = (home / "index").glob("*.cdxj")
    return only


def late_visits(home: Path, call: Call) -> list[Any]:
    pages = call("--home", home, "list", "--json").json["pages"]
    latest = sorted(pages, key=lambda page: page["last_visit"])[-5:]  # the end of the file is theirs
    return [visit for page in latest for visit in call("--home", home, "log", page["url"], "--json").json["visits"]]


def alter(home: Path, statement: str) -> None:
    connection = sqlite3.connect(home / "webstrata.db")
    register(connection)
    assert connection.execute(statement).rowcount == 1
    connection.commit()
    connection.close()


def test_clean(demo: Demo, call: Call) -> None:
    """An undamaged home has no faults, and the number of records is reported."""
    result = call("--home", demo.home, "check", "--json")

    assert result.code == 0
    assert counts(result) == dict.fromkeys(COUNTS, 0)
    assert result.json["records"] > 2 * demo.board["visits"]
    assert call("--home", demo.home, "check").text.endswith("0 bad, 0 dangling, 0 lost, 0 repaired\n")


def test_flipped_byte(damaged: Path, call: Call) -> None:
    """A changed byte is found; it cannot be repaired, so --repair keeps the file and says what to do."""
    content = bytearray(warc(damaged).read_bytes())
    content[len(content) // 2] ^= 0x10
    warc(damaged).write_bytes(content)

    result = call("--home", damaged, "check", "--json")
    mended = call("--home", damaged, "check", "--repair", "--json")

    assert result.code == mended.code == 1
    assert result.json["bad"] >= 1
    assert mended.json["bad"] >= 1
    assert "backup" in call("--home", damaged, "check").text
    assert warc(damaged).read_bytes() == content


def test_torn_tail(damaged: Path, call: Call) -> None:
    """The incomplete last record of a truncated file is removed; the database row that refers to it stays dangling."""
    content = warc(damaged).read_bytes()
    visits = [visit for visit in late_visits(damaged, call) if visit["warc"]]
    last = max(visit["warc"]["offset"] for visit in visits)
    warc(damaged).write_bytes(content[: last + 50])

    result = call("--home", damaged, "check", "--json")
    mended = call("--home", damaged, "check", "--repair", "--json")
    after = call("--home", damaged, "check", "--json")

    assert result.code == 1
    assert result.json["bad"] == 1
    assert result.json["dangling"] >= 2  # at least the index line and the visit's row
    assert mended.json["repaired"] >= 2  # the end, and the index that still named it
    assert mended.json["bad"] == 0
    assert (after.json["bad"], after.json["lost"], after.json["repaired"]) == (0, 0, 0)
    assert after.json["dangling"] == mended.json["dangling"] == 1
    assert (after.code, mended.code) == (1, 1)


def test_lost_index(damaged: Path, call: Call) -> None:
    """Without its index segment every capture counts as lost; --repair writes an identical segment."""
    written = segment(damaged).read_bytes()
    segment(damaged).unlink()

    result = call("--home", damaged, "check", "--json")
    assert result.code == 1
    assert counts(result) == {"bad": 0, "dangling": 0, "lost": len(written.splitlines()), "repaired": 0}

    mended = call("--home", damaged, "check", "--repair", "--json")
    assert (mended.code, counts(mended)) == (0, {"bad": 0, "dangling": 0, "lost": 0, "repaired": 1})
    assert segment(damaged).read_bytes() == written
    assert call("--home", damaged, "check").code == 0


def test_lost_file(demo: Demo, damaged: Path, call: Call) -> None:
    """Without its WARC file every index line and every position in the database is dangling, also after --repair."""
    lines = len(segment(damaged).read_bytes().splitlines())
    warc(damaged).unlink()

    result = call("--home", damaged, "check", "--json")
    text = call("--home", damaged, "check").text
    mended = call("--home", damaged, "check", "--repair", "--json")

    assert result.code == mended.code == 1
    assert result.json["records"] == 0
    assert result.json["dangling"] > lines
    assert mended.json["repaired"] == 1  # the segment is set aside
    assert mended.json["dangling"] == result.json["dangling"] - lines
    assert len(result.json["findings"]) <= 2000, "a thousand of each kind"
    assert "backup" in text
    assert len(text.splitlines()) == 7, "two groups of three lines, and the summary"


@pytest.mark.parametrize("column", ["offset", "file"])
def test_altered_row(column: str, damaged: Path, call: Call) -> None:
    """A row of the crawl log with a wrong position is dangling."""
    connection = sqlite3.connect(damaged / "webstrata.db")
    columns = [row[1] for row in connection.execute("PRAGMA table_info(visits)")]
    connection.close()
    named = next(name for name in columns if column in name)
    value = '"nowhere.warc.gz"' if column == "file" else f"{named} + 1"
    alter(damaged, f"UPDATE visits SET {named} = {value} WHERE id = (SELECT max(id) FROM visits)")

    result = call("--home", damaged, "check", "--json")

    assert result.code == 1
    assert counts(result) == {"bad": 0, "dangling": 1, "lost": 0, "repaired": 0}
    assert call("--home", damaged, "check", "--repair").code == 1


def test_miscounted(damaged: Path, call: Call) -> None:
    """A stored total that contradicts the rows is bad; --repair recomputes it."""
    alter(damaged, "UPDATE totals SET visits = visits + 3 WHERE slot = (SELECT max(slot) FROM totals WHERE visits > 0)")

    result = call("--home", damaged, "check", "--json")
    said = call("--home", damaged, "check").text
    mended = call("--home", damaged, "check", "--repair", "--json")

    assert (result.code, counts(result)) == (1, {"bad": 1, "dangling": 0, "lost": 0, "repaired": 0})
    assert "the counter of visits is" in said
    assert "check --repair" in said
    assert (mended.code, counts(mended)) == (0, {"bad": 0, "dangling": 0, "lost": 0, "repaired": 1})
    assert call("--home", damaged, "check").code == 0


def test_misplaced(damaged: Path, call: Call) -> None:
    """A page that is missing in the queue is bad, because it would never be visited; --repair puts it back."""
    alter(damaged, "UPDATE queue SET due_at = NULL WHERE page_id = (SELECT max(id) FROM pages WHERE next_at > 0)")

    result = call("--home", damaged, "check", "--json")

    assert (result.code, counts(result)) == (1, {"bad": 1, "dangling": 0, "lost": 0, "repaired": 0})
    assert call("--home", damaged, "check", "--repair").code == 0
    assert call("--home", damaged, "check").code == 0


def test_log_without_its_page(damaged: Path, call: Call) -> None:
    """Visits without their page cannot be rebuilt: --repair keeps them, and the message names a backup."""
    alter(damaged, "DELETE FROM pages WHERE id = (SELECT max(page_id) FROM visits)")

    result = call("--home", damaged, "check", "--repair", "--json")

    assert result.code == 1
    left = [one["what"] for one in result.json["findings"] if one["kind"] == "lost-row"]
    assert any("log" in what or "visit" in what for what in left), left
    assert all("to a missing row of pages" in what for what in left), left
    assert "backup" in next(one["do"] for one in result.json["groups"] if one["kind"] == "lost-row")


def test_postgresql(tmp_path: Path, call: Call, server: LocalServer, postgres_database: str) -> None:  # noqa: F811
    """On PostgreSQL the same faults are found and repaired; what the server does not allow to check is noted."""
    server.pages["/"] = ("text/html", b"<p>a page of some words")
    home, where = tmp_path / "home", server.settings
    assert call("--home", home, "init", "--store", postgres_database).code == 0
    assert call("--home", home, "watch", server.url(), **where).code == 0
    assert call("--home", home, "crawl", **where).code == 0

    clean = call("--home", home, "check", "--json", **where)
    assert (clean.code, counts(clean)) == (0, dict.fromkeys(COUNTS, 0))
    assert clean.json["records"] > 1
    for note in clean.json["notes"]:
        assert "pg_amcheck" in note

    with psycopg.connect(postgres_database.replace("+psycopg", ""), autocommit=True) as connection:
        schema = call("--home", home, "status", "--json", **where).json["database"]["schema"]
        connection.execute(f"UPDATE {schema}.host_days SET visits = visits + 1")
    result = call("--home", home, "check", **where)
    assert result.code == 1
    assert "visits of 127.0.0.1 on day" in result.text
    mended = call("--home", home, "check", "--repair", "--json", **where)
    assert (mended.code, mended.json["repaired"]) == (0, 1)
    assert call("--home", home, "check", **where).code == 0
