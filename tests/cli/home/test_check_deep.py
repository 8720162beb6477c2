"""`webstrata check --deep` finds every single flipped bit that changes a stored value."""

from __future__ import annotations

import asyncio
import gzip
import random
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import ALWAYS_DUE, Call, LocalServer
from webstrata import settings as settings_file
from webstrata.errors import WebstrataError
from webstrata.home import Home
from webstrata.node import Node
from webstrata.remember.integrity.row_checksums import register

FLIPS = {"webstrata.db": 80, "index": 20, "archive": 20}
"""Flips that change a stored value, in each part of the home."""


@pytest.fixture
def crawled(home: Path, server: LocalServer, call: Call) -> Path:
    """A home with tags, rules and three versions of a few pages, one of them behind a redirect."""
    urls = [server.url(f"/{number}") for number in range(6)]
    for version in ("one", "two", "three"):
        for number in range(6):
            body = f"<title>Page {number}</title><p>Version {version} of page {number}, with some words."
            server.pages[f"/{number}"] = ("text/html", body.encode())
        if version == "one":
            call("--home", home, "watch", *urls, "--tag", "news")
            call("--home", home, "rules", urls[0], "--ignore", "css:.advert")
            call("--home", home, "boost", "news", "2", "--for", "1d")
        environ: dict[str, Any] = {**server.settings, **ALWAYS_DUE}
        assert call("--home", home, "crawl", **environ).code == 0
    assert call("--home", home, "check", "--deep").code == 0
    return home


def rows(database: Path) -> str:
    """All definitions and rows of a database, as they are read."""
    connection = sqlite3.connect(f"file:{database}?immutable=1", uri=True)
    connection.text_factory = bytes
    try:
        definitions = connection.execute("SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY 1, 2").fetchall()
        tables = [name.decode() for kind, name, _, _ in definitions if kind == b"table"]
        return repr([definitions, *(connection.execute(f'SELECT * FROM "{table}"').fetchall() for table in tables)])
    except (sqlite3.Error, UnicodeDecodeError) as problem:
        return str(problem)
    finally:
        connection.close()


def unpacked(file: Path) -> bytes:
    """The records of a WARC file; the time stamps of its gzip members are not part of them."""
    try:
        return gzip.decompress(file.read_bytes())
    except (OSError, EOFError, ValueError) as problem:
        return str(problem).encode()
    except Exception as problem:  # zlib.error is not one of the above
        return repr(problem).encode()


def flips(file: Path, logical: Callable[[Path], object], number: int, chance: random.Random) -> Iterator[int]:
    """Flip one bit of the file at a time, until so many of them have changed its logical content; yields each."""
    content, before = file.read_bytes(), logical(file)
    while number:
        bit = chance.randrange(8 * len(content))
        flipped = bytearray(content)
        flipped[bit // 8] ^= 1 << bit % 8
        file.write_bytes(flipped)
        if logical(file) != before:
            number -= 1
            yield bit
        for side_file in file.parent.glob(file.name + "-*"):
            side_file.unlink()
        file.write_bytes(content)


def is_found(node: Node, *, deep: bool = True) -> bool:
    try:
        result = asyncio.run(node.check(repair=False, deep=deep))
    except WebstrataError:  # the database cannot be opened
        return True
    return bool(result.bad or result.dangling or result.lost)


@pytest.mark.timeout(600)
def test_every_flipped_bit_is_found(crawled: Path) -> None:
    """Of 120 flips that change a row, a definition, an index line or a record, all are found."""
    node = Node(Home.open(crawled), settings_file.load(crawled, environment={})[0])
    logical: dict[str, Callable[[Path], object]] = {
        "webstrata.db": rows,
        "index": Path.read_bytes,
        "archive": unpacked,
    }
    chance = random.Random(11)
    found, unseen = 0, []
    for part, number in FLIPS.items():
        path = crawled / part
        file = path if path.is_file() else max(path.iterdir(), key=lambda one: one.stat().st_size)
        for bit in flips(file, logical[part], number, chance):
            if is_found(node):
                found += 1
            else:
                unseen.append((part, bit))
    assert unseen == []
    assert found == sum(FLIPS.values())
    assert not is_found(node)


def test_a_value_that_the_archive_does_not_hold(crawled: Path, call: Call) -> None:
    """A rule with one other letter is found by its checksum, and only by --deep; the message says what to do."""
    database = crawled / "webstrata.db"
    content = database.read_bytes()
    assert content.count(b".advert") == 1
    database.write_bytes(content.replace(b".advert", b".adverr"))

    assert call("--home", crawled, "check").code == 0
    result = call("--home", crawled, "check", "--deep")
    assert result.code == 1
    assert "1 row of pages has other values than were written" in result.text
    assert "webstrata rebuild --replace" in result.text


@pytest.mark.parametrize(
    ("change", "what"),
    [
        ("status = 201", "the status in the log is 201, that of the record 200"),
        ("at = at + 0.001", "the time in the log is"),
        ("url = url || 'x'", "the record has another URL"),
        ("length = length + 1", "the length in the log is"),
        ("record_kind = 'resource'", "the log calls the record a resource"),
        ("outcome = 'gone'", "1 page has another last outcome than the log"),
    ],
)
def test_a_log_that_is_not_of_this_archive(change: str, what: str, crawled: Path, call: Call) -> None:
    """Rows that are in order by themselves are compared with the records, and with their pages."""
    connection = sqlite3.connect(crawled / "webstrata.db")
    register(connection)
    connection.execute(f"UPDATE visits SET {change} WHERE id = (SELECT max(id) FROM visits)")
    connection.commit()
    connection.close()

    result = call("--home", crawled, "check", "--deep")
    assert result.code == 1
    assert what in result.text


def test_originals_and_unlogged_captures(crawled: Path, call: Call) -> None:
    """An original at another place is bad; captures that no row of the log names are noted."""
    connection = sqlite3.connect(crawled / "webstrata.db")
    register(connection)
    connection.execute("UPDATE originals SET file_offset = file_offset + 1 WHERE url LIKE '%/3'")
    connection.execute("DELETE FROM visits WHERE page_id = 1 AND at < (SELECT max(at) FROM visits WHERE page_id = 1)")
    connection.commit()
    connection.close()

    result = call("--home", crawled, "check", "--deep", "--json")
    assert result.code == 1
    assert sum("the original of" in finding["what"] for finding in result.json["findings"]) == 3
    assert any("in no row of the log" in note for note in result.json["notes"])
