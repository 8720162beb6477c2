"""`webstrata check`: damage of every kind is counted, and mended where nothing is lost by it."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

import psycopg
import pytest

from tests.cli.conftest import Call, Demo, Town
from tests.remember.conftest import postgres, postgres_url  # noqa: F401 - fixtures

COUNTS = ("bad", "dangling", "lost", "repaired")


def counts(told: Any) -> dict[str, int]:
    return {name: told.json[name] for name in COUNTS}


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
    assert connection.execute(statement).rowcount == 1
    connection.commit()
    connection.close()


def test_clean(demo: Demo, call: Call) -> None:
    """A home as the crawl left it has nothing wrong, and says how many records were read."""
    told = call("--home", demo.home, "check", "--json")

    assert told.code == 0
    assert counts(told) == dict.fromkeys(COUNTS, 0)
    assert told.json["records"] > 2 * demo.board["visits"]
    assert call("--home", demo.home, "check").text.endswith("0 bad, 0 dangling, 0 lost, 0 repaired\n")


def test_flipped_byte(damaged: Path, call: Call) -> None:
    """One flipped byte is found; nothing can mend it, so --repair leaves it and says what to do."""
    content = bytearray(warc(damaged).read_bytes())
    content[len(content) // 2] ^= 0x10
    warc(damaged).write_bytes(content)

    told = call("--home", damaged, "check", "--json")
    mended = call("--home", damaged, "check", "--repair", "--json")

    assert told.code == mended.code == 1
    assert told.json["bad"] >= 1
    assert mended.json["bad"] >= 1
    assert "backup" in call("--home", damaged, "check").text
    assert warc(damaged).read_bytes() == content


def test_torn_tail(damaged: Path, call: Call) -> None:
    """A cut file has its torn end seen and cut; that the database names the record that is gone stays told."""
    content = warc(damaged).read_bytes()
    visits = [visit for visit in late_visits(damaged, call) if visit["warc"]]
    last = max(visit["warc"]["offset"] for visit in visits)
    warc(damaged).write_bytes(content[: last + 50])

    told = call("--home", damaged, "check", "--json")
    mended = call("--home", damaged, "check", "--repair", "--json")
    after = call("--home", damaged, "check", "--json")

    assert told.code == 1
    assert told.json["bad"] == 1
    assert told.json["dangling"] >= 2  # at least the index line and the visit's row
    assert mended.json["repaired"] >= 2  # the end, and the index that still named it
    assert mended.json["bad"] == 0
    assert (after.json["bad"], after.json["lost"], after.json["repaired"]) == (0, 0, 0)
    assert after.json["dangling"] == mended.json["dangling"] == 1
    assert (after.code, mended.code) == (1, 1)


def test_lost_index(damaged: Path, call: Call) -> None:
    """Without its index segment every capture is lost until --repair writes the same bytes again."""
    written = segment(damaged).read_bytes()
    segment(damaged).unlink()

    told = call("--home", damaged, "check", "--json")
    assert told.code == 1
    assert counts(told) == {"bad": 0, "dangling": 0, "lost": len(written.splitlines()), "repaired": 0}

    mended = call("--home", damaged, "check", "--repair", "--json")
    assert (mended.code, counts(mended)) == (0, {"bad": 0, "dangling": 0, "lost": 0, "repaired": 1})
    assert segment(damaged).read_bytes() == written
    assert call("--home", damaged, "check").code == 0


def test_lost_file(demo: Demo, damaged: Path, call: Call) -> None:
    """Without its WARC file every index line and every position of the database dangles, repaired or not."""
    lines = len(segment(damaged).read_bytes().splitlines())
    warc(damaged).unlink()

    told = call("--home", damaged, "check", "--json")
    text = call("--home", damaged, "check").text
    mended = call("--home", damaged, "check", "--repair", "--json")

    assert told.code == mended.code == 1
    assert told.json["records"] == 0
    assert told.json["dangling"] > lines
    assert mended.json["repaired"] == 1  # the segment is set aside
    assert mended.json["dangling"] == told.json["dangling"] - lines
    assert len(told.json["findings"]) <= 1000
    assert "backup" in text
    assert ("more\n" in text) == (told.json["dangling"] > 1000)


@pytest.mark.parametrize("column", ["offset", "file"])
def test_altered_row(column: str, damaged: Path, call: Call) -> None:
    """A row of the crawl log that points elsewhere dangles."""
    connection = sqlite3.connect(damaged / "webstrata.db")
    columns = [row[1] for row in connection.execute("PRAGMA table_info(visits)")]
    connection.close()
    named = next(name for name in columns if column in name)
    value = '"nowhere.warc.gz"' if column == "file" else f"{named} + 1"
    alter(damaged, f"UPDATE visits SET {named} = {value} WHERE id = (SELECT max(id) FROM visits)")

    told = call("--home", damaged, "check", "--json")

    assert told.code == 1
    assert counts(told) == {"bad": 0, "dangling": 1, "lost": 0, "repaired": 0}
    assert call("--home", damaged, "check", "--repair").code == 1


def test_reindex(damaged: Path, call: Call) -> None:
    """The index built again from the WARC files is the one that the crawl wrote, byte for byte."""
    written = segment(damaged).read_bytes()
    segment(damaged).write_bytes(b"com,example)/ 20230101000000 {}\n")

    told = call("--home", damaged, "reindex", "--json")

    assert told.json == {"files": 1, "lines": len(written.splitlines())}
    assert segment(damaged).read_bytes() == written
    assert call("--home", damaged, "reindex").text.endswith("in 1 WARC file indexed.\n")


def test_miscounted(damaged: Path, call: Call) -> None:
    """A kept count that the rows contradict is bad, said with what to do, and made anew by --repair."""
    alter(damaged, "UPDATE totals SET visits = visits + 3 WHERE slot = (SELECT max(slot) FROM totals WHERE visits > 0)")

    told = call("--home", damaged, "check", "--json")
    said = call("--home", damaged, "check").text
    mended = call("--home", damaged, "check", "--repair", "--json")

    assert (told.code, counts(told)) == (1, {"bad": 1, "dangling": 0, "lost": 0, "repaired": 0})
    assert "the kept count of visits is" in said
    assert "check --repair" in said
    assert (mended.code, counts(mended)) == (0, {"bad": 0, "dangling": 0, "lost": 0, "repaired": 1})
    assert call("--home", damaged, "check").code == 0


def test_misplaced(damaged: Path, call: Call) -> None:
    """A page that is not where its next visit puts it would wait for ever: it is bad, and --repair puts it back."""
    alter(damaged, "UPDATE queue SET due_at = NULL WHERE page_id = (SELECT max(id) FROM pages WHERE next_at > 0)")

    told = call("--home", damaged, "check", "--json")

    assert (told.code, counts(told)) == (1, {"bad": 1, "dangling": 0, "lost": 0, "repaired": 0})
    assert call("--home", damaged, "check", "--repair").code == 0
    assert call("--home", damaged, "check").code == 0


def test_log_without_its_page(damaged: Path, call: Call) -> None:
    """Facts that lead nowhere cannot be made anew: --repair leaves them and a backup is named."""
    alter(damaged, "DELETE FROM pages WHERE id = (SELECT max(page_id) FROM visits)")

    told = call("--home", damaged, "check", "--repair", "--json")

    assert told.code == 1
    (left,) = [one for one in told.json["findings"] if one["count"] == "bad"]
    assert "name a row of pages that is not there" in left["what"]
    assert "backup" in left["do"]


def test_postgresql(home: Path, call: Call, town: Town, postgres_url: str) -> None:  # noqa: F811
    """On PostgreSQL the same is found and mended, and what the server does not let us ask is noted."""
    town.pages["/"] = ("text/html", b"<p>a page of some words")
    where = {**town.settings, "WEBSTRATA_STORE_URL": postgres_url}
    assert call("--home", home, "watch", town.url(), **where).code == 0
    assert call("--home", home, "crawl", **where).code == 0

    clean = call("--home", home, "check", "--json", **where)
    assert (clean.code, counts(clean)) == (0, dict.fromkeys(COUNTS, 0))
    assert clean.json["records"] > 1
    for note in clean.json["notes"]:
        assert "pg_amcheck" in note

    with psycopg.connect(postgres_url.replace("+psycopg", ""), autocommit=True) as connection:
        connection.execute("UPDATE host_days SET visits = visits + 1")
    told = call("--home", home, "check", **where)
    assert told.code == 1
    assert "visits of 127.0.0.1 on day" in told.text
    mended = call("--home", home, "check", "--repair", "--json", **where)
    assert (mended.code, mended.json["repaired"]) == (0, 1)
    assert call("--home", home, "check", **where).code == 0
