"""A damaged database: every command says what is wrong and which command helps, and none of them fails otherwise."""

from __future__ import annotations

import random
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import psycopg
import pytest

from tests.cli.conftest import Call, CommandResult, LocalServer, call_here, serving
from tests.remember.conftest import postgres, postgres_database  # noqa: F401 - fixtures
from webstrata.cli.app import COMMANDS

PAGES = 40
OPENS_NO_STORE = {
    "certificate", "compare", "demo", "estimate", "export", "fingerprint", "lab", "rebuild", "reindex", "settings",
}  # fmt: skip


class SmallHome(NamedTuple):
    home: Path
    url: str
    settings: dict[str, Any]


@pytest.fixture(scope="module")
def visited(tmp_path_factory: pytest.TempPathFactory) -> SmallHome:
    """A home with some pages that were visited once; the server is gone."""
    home = tmp_path_factory.mktemp("small") / "home"
    with serving() as server:
        settings: dict[str, Any] = server.settings
        urls = [server.url(f"/{number}") for number in range(PAGES)]
        for number in range(PAGES):
            words = " ".join(f"word{number + n}" for n in range(40))
            server.pages[f"/{number}"] = ("text/html", f"<title>{number}</title><p>{words}".encode())
        assert call_here("--home", home, "init", "--contact", "someone@example.org").code == 0
        assert call_here("--home", home, "watch", *urls, "--tag", "news").code == 0
        assert call_here("--home", home, "crawl", **settings).code == 0
        return SmallHome(home, urls[0], server.settings)


def words_of(url: str) -> dict[str, tuple[str, ...]]:
    """A call of each command that opens the store."""
    return {
        "init": (),
        "watch": ("http://new.test/",),
        "unwatch": (url,),
        "list": (),
        "tag": (url, "--add", "x"),
        "crawl": (),
        "run": ("--for", "1s"),
        "status": (),
        "boost": ("news",),
        "interval": (url, "--min", "1d"),
        "snooze": (url, "--for", "1d"),
        "changes": (),
        "log": (url,),
        "diff": (url,),
        "rules": (url,),
        "preview": (url,),
        "noise": (url,),
        "cat": (url,),
        "why": (url,),
        "check": (),
        "capture": (url,),
        "coherence": ("--store", "127.0.0.1"),
        "plan": (),
        "forecast": (url,),
        "select": ("--top", "1"),
        "importance": (),
        "import": ("list",),
        "train": (),
    }


def first_bytes(number: int) -> Callable[[Path], None]:
    def damage(file: Path) -> None:
        file.write_bytes(file.read_bytes()[:number])

    return damage


def overwritten(first: float, last: float) -> Callable[[Path], None]:
    """Random bytes between these parts of the file, or up to this byte."""

    def damage(file: Path) -> None:
        content = bytearray(file.read_bytes())
        start, end = (int(at * len(content)) if at < 1 else int(at) for at in (first, last))
        content[start:end] = random.Random(5).randbytes(end - start)
        file.write_bytes(content)

    return damage


def without_table(name: str) -> Callable[[Path], None]:
    def damage(file: Path) -> None:
        connection = sqlite3.connect(file)
        connection.execute(f"DROP TABLE {name}")
        connection.commit()
        connection.close()

    return damage


DAMAGES: dict[str, Callable[[Path], None]] = {
    "missing": Path.unlink,
    "empty": first_bytes(0),
    "fifty bytes": first_bytes(50),
    "half": first_bytes(100_000),
    "without its end": first_bytes(-1000),
    "another first page": overwritten(0, 4096),
    "another header": overwritten(0, 100),
    "another list of tables": overwritten(100, 4096),
    "all but the first page": overwritten(4096, 0.999),
    **{f"without {name}": without_table(name) for name in ("pages", "visits", "robots", "totals", "alembic_version")},
}


def is_explained(result: CommandResult) -> bool:
    said = result.err + result.text
    ways_out = ("webstrata rebuild", "backup", "The archive is not affected")
    return result.code == 1 and all(words in said for words in ways_out) and "internal error" not in said


def test_every_command_is_here(visited: SmallHome) -> None:
    """A new command must be in the table of this test, or in the list of those that open no store."""
    assert words_of(visited.url).keys() | OPENS_NO_STORE == COMMANDS.keys()


@pytest.mark.parametrize("kind", DAMAGES)
def test_damage(kind: str, visited: SmallHome, tmp_path: Path, call: Call) -> None:
    """Whatever is wrong with the database, each command explains it and exits with 1."""
    for command, words in words_of(visited.url).items():
        home = Path(shutil.copytree(visited.home, tmp_path / command))
        DAMAGES[kind](home / "webstrata.db")

        result = call("--home", home, command, *words, **visited.settings)

        assert is_explained(result), (command, result)
        if command != "check":
            assert result.out == b"", command
            assert len(result.err.splitlines()) == 1, (command, result.err)


def test_after_the_advice_was_followed(visited: SmallHome, tmp_path: Path, call: Call) -> None:
    """`rebuild --replace`, which the messages name, makes each of these homes usable again."""
    for kind, damage in DAMAGES.items():
        home = Path(shutil.copytree(visited.home, tmp_path / kind))
        damage(home / "webstrata.db")

        result = call("--home", home, "rebuild", "--replace", "--json", **visited.settings)

        assert (result.code, result.json["pages"], result.json["visits"]) == (0, PAGES, PAGES), kind
        assert call("--home", home, "check", "--deep").code == 0, kind


@pytest.mark.parametrize("seed", range(4))
def test_bytes_that_changed_by_themselves(seed: int, visited: SmallHome, tmp_path: Path, call: Call) -> None:
    """Changed bytes anywhere behind the first page: a command that reads them explains it, the others do their work."""
    for command, words in words_of(visited.url).items():
        home = Path(shutil.copytree(visited.home, tmp_path / command))
        content = bytearray((home / "webstrata.db").read_bytes())
        chance = random.Random(f"{seed} {command}")
        for _ in range(200):
            content[chance.randrange(4096, len(content))] = chance.randrange(256)
        (home / "webstrata.db").write_bytes(content)

        result = call("--home", home, command, *words, **visited.settings)

        is_unaffected = result.code == 0 or (command, result.code) in {("diff", 2), ("capture", 1)}
        assert is_explained(result) or is_unaffected, (command, result)
        assert "internal error" not in result.err, (command, result)


def test_damage_that_a_running_crawl_meets(home: Path, server: LocalServer, call: Call) -> None:
    """`run` waits and tries again after other faults of this machine; a damaged database does not heal by waiting."""
    server.pages["/"] = ("text/html", b"<p>a page of some words")
    assert call("--home", home, "watch", server.url()).code == 0
    connection = sqlite3.connect(home / "webstrata.db")
    (size,) = connection.execute("PRAGMA page_size").fetchone()
    (root,) = connection.execute("SELECT rootpage FROM sqlite_schema WHERE name = 'originals'").fetchone()
    connection.close()
    overwritten((root - 1) * size or 1, root * size)(home / "webstrata.db")

    result = call("--home", home, "run", "--for", "40s", **server.settings)

    assert is_explained(result), result


def test_postgresql(tmp_path: Path, call: Call, server: LocalServer, postgres_database: str) -> None:  # noqa: F811
    """A table that is missing in a server's database is explained in the same way, and `check` reports it."""
    home, where = tmp_path / "home", server.settings
    schema = call("--home", home, "init", "--store", postgres_database, "--json").json["database"]["schema"]
    assert call("--home", home, "watch", server.url(), **where).code == 0
    with psycopg.connect(postgres_database.replace("+psycopg", ""), autocommit=True) as connection:
        connection.execute(f"DROP TABLE {schema}.visits")
    for words in (("log", server.url()), ("crawl",), ("check",)):
        result = call("--home", home, *words, **where)
        assert is_explained(result), (words, result)


VALUES = (
    "pages.fingerprint", "pages.role", "pages.weight", "pages.next_at", "visits.hops", "visits.outcome",
    "visits.at", "visits.status", "hosts.backoff_until", "robots.status", "site_states.state", "totals.visits",
)  # fmt: skip
READING = ("crawl", "status", "log", "diff", "why", "check", "plan", "list", "coherence")


@pytest.mark.parametrize("where", VALUES)
def test_values_that_no_program_wrote(where: str, visited: SmallHome, tmp_path: Path, call: Call) -> None:
    """A value of another type fails somewhere in the program; then the checksums of the rows tell the cause."""
    table, column = where.split(".")
    damaged = Path(shutil.copytree(visited.home, tmp_path / "damaged"))
    connection = sqlite3.connect(damaged / "webstrata.db")
    connection.create_function("row_checksum", -1, lambda *values: 1, deterministic=True)
    connection.execute(f"UPDATE OR IGNORE {table} SET {column} = '\x02 no {{value'")
    connection.commit()
    connection.close()
    failed = set()
    for command in READING:
        home = Path(shutil.copytree(damaged, tmp_path / command))

        result = call("--home", home, command, *words_of(visited.url)[command], **visited.settings)

        assert "internal error" not in result.err, (command, result)
        assert "\x02" not in result.err, (command, result)
        if result.code == 1:
            failed.add(command)
            assert is_explained(result) or command == "check", (command, result)
    assert failed
