"""`webstrata check` puts findings of one kind into one group, and what the group advises helps."""

from __future__ import annotations

import shutil
import sqlite3
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.cli.conftest import Call, call_here, serving
from webstrata.remember.integrity.row_checksums import register


class ManyFiles(NamedTuple):
    """A home with several WARC files, and what its files hold, by name."""

    home: Path
    settings: dict[str, Any]

    @property
    def warcs(self) -> list[Path]:
        return sorted((self.home / "archive").glob("*.warc.gz"))

    @property
    def segments(self) -> list[Path]:
        return sorted((self.home / "index").glob("*.cdxj"))


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> ManyFiles:
    """Four crawls, each of ten pages, so that there are four WARC files."""
    home = tmp_path_factory.mktemp("files") / "home"
    with serving() as server:
        settings: dict[str, Any] = server.settings
        assert call_here("--home", home, "init").code == 0
        for number in range(4):
            urls = [server.url(f"/{number}-{page}") for page in range(10)]
            for page in range(10):
                server.pages[f"/{number}-{page}"] = ("text/html", f"<p>page {number} {page}".encode())
            assert call_here("--home", home, "watch", *urls).code == 0
            assert call_here("--home", home, "crawl", *urls, **settings).code == 0
        return ManyFiles(home, server.settings)


@pytest.fixture
def copy(crawled: ManyFiles, tmp_path: Path) -> ManyFiles:
    return ManyFiles(Path(shutil.copytree(crawled.home, tmp_path / "copy")), crawled.settings)


def groups(result: Any) -> dict[str, Any]:
    return {group["kind"]: group for group in result.json["groups"]}


def flip(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 0x10
    path.write_bytes(content)


def miscount(home: Path) -> None:
    connection = sqlite3.connect(home / "webstrata.db")
    register(connection)
    connection.execute("UPDATE totals SET visits = visits + 3")
    connection.commit()
    connection.close()


def test_several_faults_at_once(crawled: ManyFiles, copy: ManyFiles, call: Call) -> None:
    """A flipped byte, a missing WARC file, a missing index file and wrong counts: each is a group with its advice, and
    after the advice was followed nothing is left."""
    flipped, missing, unindexed, _ = copy.warcs
    flip(flipped)
    missing.unlink()
    copy.segments[2].unlink()
    miscount(copy.home)

    result = call("--home", copy.home, "check", "--json")
    text = call("--home", copy.home, "check").text
    found = groups(result)

    assert result.code == 1
    assert (found["damaged-bytes"]["part"], found["damaged-bytes"]["severity"]) == ("archive", "damage")
    assert list(found["damaged-bytes"]["files"]) == [flipped.name]
    assert (found["missing-file"]["part"], found["missing-file"]["number"]) == ("archive", 10)
    assert found["missing-file"]["files"] == {missing.name: 10}
    assert (found["missing-segment"]["part"], found["missing-segment"]["severity"]) == ("index", "derived")
    assert list(found["missing-segment"]["files"]) == [unindexed.name]
    assert found["index-of-missing-file"]["number"] >= 10
    assert (found["wrong-count"]["part"], found["wrong-count"]["severity"]) == ("contradictions", "derived")
    assert "check --repair" in found["wrong-count"]["do"]
    assert "backup" in found["damaged-bytes"]["do"]
    assert sum(group["number"] for group in found.values()) == sum(
        result.json[name] for name in ("bad", "dangling", "lost")
    )
    assert len([line for line in text.splitlines() if missing.name in line]) == 1, "one line for all captures of a file"
    assert text.splitlines()[-1].startswith(f"{result.json['records']} records: ")

    assert call("--home", copy.home, "check", "--repair").code == 1, "no repair brings back records"
    left = groups(call("--home", copy.home, "check", "--json"))
    assert {group["severity"] for group in left.values()} == {"damage"}
    for original in (crawled.warcs[0], crawled.warcs[1]):
        shutil.copy(original, copy.home / "archive")
    assert call("--home", copy.home, "reindex").code == 0
    assert call("--home", copy.home, "check", "--deep").code == 0


def test_a_database_that_cannot_be_opened(copy: ManyFiles, call: Call) -> None:
    """The archive is checked without it; `rebuild --replace`, which the group names, leaves nothing to complain."""
    database = copy.home / "webstrata.db"
    database.write_bytes(database.read_bytes()[:-1000])
    copy.segments[0].unlink()

    result = call("--home", copy.home, "check", "--json")

    assert (result.code, result.json["records"]) == (1, call("--home", copy.home, "check", "--json").json["records"])
    assert result.json["records"] > 80
    assert list(groups(result)) == ["missing-segment", "database-file"]
    assert "rebuild --replace" in groups(result)["database-file"]["do"]
    assert call("--home", copy.home, "rebuild", "--replace", **copy.settings).code == 0
    assert call("--home", copy.home, "check", "--deep").code == 0


def test_a_lost_file_without_a_backup(copy: ManyFiles, call: Call) -> None:
    """The advice for a missing WARC file: a database without its captures, and its index set aside."""
    copy.warcs[1].unlink()
    assert call("--home", copy.home, "check").code == 1

    result = call("--home", copy.home, "rebuild", "--replace", "--json", **copy.settings)

    assert (result.code, result.json["pages"]) == (0, 30)
    assert call("--home", copy.home, "check", "--deep").code == 0


def test_all_findings(copy: ManyFiles, call: Call) -> None:
    """Five findings of a kind are shown, all of them with --all."""
    segment = copy.segments[0]
    lines = segment.read_bytes().splitlines(keepends=True)
    segment.write_bytes(lines[0])

    few = call("--home", copy.home, "check").text
    every = call("--home", copy.home, "check", "--all").text

    assert few.startswith(f"index: captures without an index line: {len(lines) - 1} (can be made again)\n")
    assert f"  and {len(lines) - 1 - 5} more\n" in few
    assert len(every.splitlines()) == len(lines) - 1 + 3
    assert " more\n" not in every
    assert call("--home", copy.home, "check", "--repair").code == 0
