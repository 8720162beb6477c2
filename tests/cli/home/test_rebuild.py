"""`webstrata rebuild`, and a home without its database: no command takes an empty one for it."""

from __future__ import annotations

import re
import signal
import sqlite3
import time
from pathlib import Path
from typing import Any

import psycopg
import pytest

from tests.cli.conftest import Call, Demo, LocalServer, started
from tests.remember.conftest import postgres, postgres_database  # noqa: F401 - fixtures

COMMANDS = (
    "init", "check", "crawl", "run --for 1s", "list", "status", "watch http://a.test/", "unwatch http://a.test/",
    "log http://a.test/", "why http://a.test/", "plan",
)  # fmt: skip


@pytest.fixture
def without_database(damaged: Path) -> Path:
    for file in damaged.glob("webstrata.db*"):
        file.unlink()
    return damaged


@pytest.mark.parametrize("words", COMMANDS)
def test_a_home_without_its_database_is_an_error(words: str, without_database: Path, call: Call) -> None:
    """Every command fails, names `rebuild`, and creates no database."""
    result = call("--home", without_database, *words.split())

    assert result.code == 1
    assert "is missing" in result.err + result.text
    assert "webstrata rebuild" in result.err + result.text
    assert not (without_database / "webstrata.db").exists()


def test_before_the_first_crawl(home: Path, call: Call) -> None:
    """After `init` the database must be there, although nothing is archived yet; also an empty file is not one."""
    database = home / "webstrata.db"
    database.unlink()
    assert "webstrata rebuild" in call("--home", home, "list").err
    database.touch()
    result = call("--home", home, "list")
    assert (result.code, "0 bytes" in result.err) == (1, True)
    assert call("--home", home, "rebuild").code == 0
    assert call("--home", home, "list").code == 0


def test_a_log_that_was_deleted_after_a_crash(seen: Path, call: Call) -> None:
    """After a crawl was killed, its commits may only be in the log: without it the database is not opened."""
    (seen / "writing").touch()
    (seen / "webstrata.db-wal").touch()
    assert call("--home", seen, "list").code == 0, "the log is there"
    (seen / "writing").touch()
    (seen / "webstrata.db-wal").unlink(missing_ok=True)
    for command in ("list", "check", "crawl"):
        result = call("--home", seen, command)
        assert result.code == 1
        assert "write-ahead log" in result.err + result.text
        assert "webstrata rebuild --replace" in result.err + result.text
    assert call("--home", seen, "rebuild", "--replace").code == 0
    assert call("--home", seen, "list").code == 0


def documents(home: Path, call: Call, urls: list[str]) -> list[Any]:
    """What the commands say about pages, without what the archive does not hold."""
    found: list[Any] = []
    for url in urls:
        visits = call("--home", home, "log", url, "--json").json["visits"]
        found.append([{name: value for name, value in visit.items() if name != "duration_s"} for visit in visits])
        found.append(re.sub(r"\d+\.\d\ds", "", call("--home", home, "log", url).text))
        found.append(call("--home", home, "cat", url).out)
        found.append(call("--home", home, "diff", url).text)
        assert call("--home", home, "why", url).code == 0
    return found


def test_all_is_as_before(demo: Demo, without_database: Path, call: Call) -> None:
    """Pages, visits, versions and counts of a rebuilt home are those of the crawl, and `check --deep` finds nothing."""
    result = call("--home", without_database, "rebuild", "--json")

    assert result.code == 0, result.err
    assert (result.json["unreadable"], result.json["repeated"], result.json["kept"]) == (0, 0, [])
    assert result.json["visits"] == call("--home", demo.home, "status", "--json").json["visits"]
    before = {page["url"]: page for page in call("--home", demo.home, "list", "--json").json["pages"]}
    after = {page["url"]: page for page in call("--home", without_database, "list", "--json").json["pages"]}
    assert after.keys() == before.keys()
    for url, page in before.items():
        for name in ("visits", "changes", "last_visit", "last_change", "last_outcome"):
            assert after[url].get(name) == page.get(name), (url, name)
    liveliest = sorted(before, key=lambda url: -before[url]["changes"])[:5]
    assert documents(without_database, call, liveliest) == documents(demo.home, call, liveliest)
    assert call("--home", without_database, "check", "--deep").code == 0


def test_an_existing_database_is_kept(damaged: Path, call: Call) -> None:
    """Without --replace a database is not touched; with it, its file gets another name."""
    content = (damaged / "webstrata.db").read_bytes()

    refused = call("--home", damaged, "rebuild")
    assert refused.code == 1
    assert "--replace" in refused.err
    assert (damaged / "webstrata.db").read_bytes() == content

    result = call("--home", damaged, "rebuild", "--replace", "--json")
    (kept,) = result.json["kept"]
    assert kept.startswith("webstrata.db.damaged-")
    assert (damaged / kept).read_bytes() == content
    assert call("--home", damaged, "check").code == 0


def test_a_killed_rebuild_leaves_nothing_half(without_database: Path, call: Call) -> None:
    """A rebuild that is killed changes nothing, and the next one begins anew."""
    part = without_database / "webstrata.db.rebuilding"
    with started("--home", without_database, "rebuild", WEBSTRATA_CRAWL_WORKERS="0") as process:
        until = time.monotonic() + 60
        while not _has_visits(part) and time.monotonic() < until:
            assert process.poll() is None
            time.sleep(0.02)
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert part.exists()
    assert "is missing" in call("--home", without_database, "list").err
    assert call("--home", without_database, "rebuild").code == 0
    assert call("--home", without_database, "check").code == 0
    assert not list(without_database.glob("*.rebuilding*"))


def test_a_killed_replacement_keeps_the_old_database(damaged: Path, call: Call) -> None:
    """Until the new database is complete, the old one is used; what was begun is in nobody's way."""
    before = call("--home", damaged, "list", "--json").json
    part = damaged / "webstrata.db.rebuilding"
    with started("--home", damaged, "rebuild", "--replace", WEBSTRATA_CRAWL_WORKERS="0") as process:
        until = time.monotonic() + 60
        while not _has_visits(part) and time.monotonic() < until:
            assert process.poll() is None
            time.sleep(0.02)
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert part.exists()
    after = call("--home", damaged, "list", "--json").json
    assert [page["url"] for page in after["pages"]] == [page["url"] for page in before["pages"]]
    assert call("--home", damaged, "check").code == 0
    assert call("--home", damaged, "rebuild", "--replace").code == 0
    assert not list(damaged.glob("*.rebuilding*"))


def _has_visits(path: Path) -> bool:
    try:
        with sqlite3.connect(f"file:{path}?mode=ro", uri=True) as connection:
            return bool(connection.execute("SELECT count(*) FROM visits").fetchone()[0])
    except sqlite3.OperationalError:
        return False


def test_what_cannot_be_known_is_said(home: Path, call: Call, server: LocalServer) -> None:
    """The result lists what the WARC files do not hold; the numbers come from the database that is replaced."""
    for path in ("/a", "/b", "/c"):
        server.pages[path] = ("text/html", b"<p>hello " + path.encode())
    a, b, c = (server.url(path) for path in ("/a", "/b", "/c"))
    call("--home", home, "watch", a, "--tag", "news", "--tag", "daily", "--weight", "3")
    call("--home", home, "watch", b, "--every", "1d")
    call("--home", home, "watch", c)
    assert call("--home", home, "crawl", **server.settings).code == 0
    for words in (
        ("rules", a, "--ignore", "css:.clock"),
        ("boost", "news"),
        ("interval", c, "--min", "1d"),
        ("unwatch", c),
        ("watch", "http://never.test/"),
        ("importance",),
    ):
        assert call("--home", home, *words).code == 0, words

    result = call("--home", home, "rebuild", "--replace", "--json", **server.settings)

    lost = {fact["name"]: fact["number"] for fact in result.json["lost"]}
    assert lost == {
        "tags": 2, "rules": 1, "weights": 1, "visit-times": 1, "sites": 0, "boosts": 1, "interval-limits": 1,
        "paused": 1, "noise-choices": 0, "unarchived-pages": 1, "unarchived-visits": 0, "durations": 3, "copies": 0,
        "imports": 0, "learned-states": 0, "importance": 4, "budgets": 1, "added-dates": None,
    }  # fmt: skip
    (home / "webstrata.db").unlink()
    text = call("--home", home, "rebuild", **server.settings).text
    assert "tags of pages: pages have no tags" in text
    assert "durations of downloads (3)" in text
    again = call("--home", home, "rebuild", "--replace", **server.settings).text
    assert "tags of pages" not in again, "there were none"


def test_the_next_crawl_goes_on(seen: Path, server: LocalServer, call: Call) -> None:
    """No page is due at once after a rebuild, and the next visits are in the same order as before."""
    before = call("--home", seen, "list", "--json").json["pages"]
    assert call("--home", seen, "rebuild", "--replace", **server.settings).code == 0

    crawled = call("--home", seen, "crawl", **server.settings)
    after = call("--home", seen, "list", "--json").json["pages"]

    assert "0 visits" in crawled.err, crawled.err
    assert {page["url"] for page in after} == {page["url"] for page in before}
    assert all(page["next_visit"] > page["last_visit"] for page in after)
    assert call("--home", seen, "check", "--deep").code == 0


def test_postgresql(
    tmp_path: Path,
    call: Call,
    server: LocalServer,
    postgres_database: str,  # noqa: F811
) -> None:
    """Tables that are missing are an error; `rebuild` makes them in the schema of the home, and deletes none."""
    server.pages["/"] = ("text/html", b"<p>a page of some words")
    home, where = tmp_path / "home", server.settings
    assert call("--home", home, "init", "--store", postgres_database).code == 0
    assert call("--home", home, "watch", server.url(), **where).code == 0
    assert call("--home", home, "crawl", **where).code == 0
    before = call("--home", home, "log", server.url(), "--json", **where).json["visits"]
    assert "holds Webstrata tables" in call("--home", home, "rebuild", **where).err

    schema = call("--home", home, "status", "--json", **where).json["database"]["schema"]
    with psycopg.connect(postgres_database.replace("+psycopg", ""), autocommit=True) as connection:
        connection.execute(f'ALTER SCHEMA "{schema}" RENAME TO lost')
        lost = call("--home", home, "list", **where)
        assert (lost.code, "webstrata rebuild" in lost.err) == (1, True)
        for replace in ((), ("--replace",)):
            kept = call("--home", home, "rebuild", "--json", *replace, **where)
            assert kept.code == 0
            after = call("--home", home, "log", server.url(), "--json", **where).json["visits"]
            assert [(one["at"], one["outcome"], one["payload"]) for one in after] == [
                (one["at"], one["outcome"], one["payload"]) for one in before
            ]
            assert call("--home", home, "check", "--deep", **where).code == 0
        (name,) = kept.json["kept"]
        old = name.removeprefix("the schema ")
        assert connection.execute(f'SELECT count(*) FROM "{old}".visits').fetchone() == (1,)
