"""A home that may not be written can be listed, searched and exported; commands that must write say so."""

from __future__ import annotations

import ctypes
import os
import re
import sqlite3
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.cli.conftest import PROGRAM, CommandResult, call_here, environment, serving

_PR_CAPBSET_DROP = 24
_CAPABILITIES = (1, 2)
"""CAP_DAC_OVERRIDE and CAP_DAC_READ_SEARCH, by which root may write and read any file."""
_libc = ctypes.CDLL(None, use_errno=True)


def obey_permissions() -> None:
    """Root, too, obeys the permissions of files after the next exec; other users do in any case."""
    if os.geteuid() == 0 and any(_libc.prctl(_PR_CAPBSET_DROP, number, 0, 0, 0) for number in _CAPABILITIES):
        os._exit(77)


def call_obeying(*words: object, **more: str) -> CommandResult:
    """Run a command in a process to which the permissions of files apply."""
    done = subprocess.run(
        [*PROGRAM, *map(str, words)],
        capture_output=True,
        env=environment(**more),
        timeout=100,
        preexec_fn=obey_permissions,
        check=False,
    )
    return CommandResult(done.returncode, done.stdout, done.stderr.decode())


class Visited(NamedTuple):
    home: Path
    url: str
    settings: dict[str, Any]


def set_writable(home: Path, *, is_writable: bool) -> None:
    for path in (home, *home.rglob("*")):
        mode = path.stat().st_mode
        path.chmod(mode | 0o200 if is_writable else mode & ~0o222)


@pytest.fixture
def visited(tmp_path: Path) -> Iterator[Visited]:
    """A home with pages of which one has two versions; it is not written while a test runs."""
    home = tmp_path / "home"
    with serving() as server:
        settings: dict[str, Any] = server.settings
        for number in range(3):
            server.pages[f"/{number}"] = ("text/html", f"<title>t</title><p>first words {number}".encode())
        urls = [server.url(f"/{number}") for number in range(3)]
        assert call_here("--home", home, "init", "--contact", "someone@example.org").code == 0
        assert call_here("--home", home, "watch", *urls, "--tag", "news").code == 0
        assert call_here("--home", home, "rules", urls[0], "--ignore", "css:.clock").code == 0
        assert call_here("--home", home, "crawl", **settings).code == 0
        server.pages["/0"] = ("text/html", b"<title>t</title><p>other words than before")
        assert call_here("--home", home, "crawl", urls[0], **settings).code == 0
    yield Visited(home, urls[0], server.settings)
    set_writable(home, is_writable=True)


def reading(visited: Visited, out: Path) -> dict[str, tuple[str, ...]]:
    """Calls that only read."""
    return {
        "list": ("list", "--json"),
        "list of a tag": ("list", "--tag", "news", "--json"),
        "settings": ("settings", "--json"),
        "log": ("log", visited.url, "--json"),
        "diff": ("diff", visited.url),
        "cat": ("cat", visited.url),
        "rules": ("rules", visited.url),
        "noise": ("noise", visited.url),
        "preview": ("preview", visited.url),
        "tags": ("tag",),
        "intervals": ("interval",),
        "snoozed": ("snooze",),
        "check": ("check", "--deep", "--json"),
        "coherence": ("coherence", "--store", "127.0.0.1", "--json"),
        "cdxj": ("export", "cdxj", str(out / "out.cdxj")),
        "warc": ("export", "warc", str(out / "out.warc.gz")),
        "wacz": ("export", "wacz", str(out / "out.wacz")),
    }


def contents(home: Path) -> dict[str, tuple[int, bytes]]:
    """Every file and folder of the home, with its time and content."""
    return {
        str(path.relative_to(home)): (path.stat().st_mtime_ns, path.read_bytes() if path.is_file() else b"")
        for path in (home, *sorted(home.rglob("*")))
    }


def without_waits(text: str) -> str:
    """The text without the times until visits, which pass between two calls."""
    return re.sub(r"in (\d+[dhms] ?)+ *", "in … ", text)


def test_reading_gives_the_same(visited: Visited, tmp_path: Path) -> None:
    """Each command prints the same as on the writable home, and nothing in the home is created or changed."""
    for name in ("writable", "read-only"):
        (tmp_path / name).mkdir()
    expected = {
        name: call_here("--home", visited.home, *words)
        for name, words in reading(visited, tmp_path / "writable").items()
    }
    before_status = call_here("--home", visited.home, "status").text.splitlines()[0]
    set_writable(visited.home, is_writable=False)
    before = contents(visited.home)

    for name, words in reading(visited, tmp_path / "read-only").items():
        result = call_obeying("--home", visited.home, *words)
        assert result.code == expected[name].code == 0, (name, result)
        assert result.err.replace("read-only", "writable") == expected[name].err, name
        shown = result.text.replace("/read-only/", "/writable/")
        assert without_waits(shown) == without_waits(expected[name].text), name
    for words in (("status",), ("why", visited.url), ("plan",), ("certificate", "log")):
        result = call_obeying("--home", visited.home, *words)
        assert result.code == 0, (words, result)
    assert call_obeying("--home", visited.home, "status").text.splitlines()[0] == before_status

    assert contents(visited.home) == before
    exported = {path.name: path.read_bytes() for path in (tmp_path / "read-only").iterdir()}
    assert exported["out.cdxj"] == (tmp_path / "writable" / "out.cdxj").read_bytes()
    assert exported.keys() == {"out.cdxj", "out.warc.gz", "out.wacz"}


def writing(url: str) -> list[tuple[str, ...]]:
    return [
        ("crawl",),
        ("run", "--for", "1s"),
        ("watch", "http://new.test/"),
        ("unwatch", url),
        ("tag", url, "--add", "x"),
        ("boost", "news"),
        ("interval", url, "--min", "1d"),
        ("snooze", url, "--for", "1d"),
        ("rules", url, "--clear"),
        ("capture", url),
        ("check", "--repair"),
        ("reindex",),
        ("rebuild",),
        ("rebuild", "--replace"),
    ]


def test_writing_is_refused(visited: Visited) -> None:
    """Commands that must write say that the home is read-only and what to do, and change nothing."""
    set_writable(visited.home, is_writable=False)
    before = contents(visited.home)

    for words in writing(visited.url):
        result = call_obeying("--home", visited.home, *words, **visited.settings)

        assert result.code == 1, (words, result)
        assert "read-only" in result.err, (words, result)
        assert "copy the home" in result.err, (words, result)
        assert len(result.err.splitlines()) == 1, (words, result)

    assert contents(visited.home) == before


def crash(home: Path, statement: str) -> None:
    """Commit a change that stays in the log, as after a kill: the files are copied while a connection is open."""
    connection = sqlite3.connect(home / "webstrata.db")
    connection.create_function("row_checksum", -1, lambda *values: 0, deterministic=True)
    connection.execute("PRAGMA wal_autocheckpoint=0")
    connection.execute(statement)
    connection.commit()
    kept = {path.name: path.read_bytes() for path in home.glob("webstrata.db*")}
    connection.close()
    for name, content in kept.items():
        (home / name).write_bytes(content)


@pytest.mark.parametrize("with_shared", [True, False])
def test_commits_in_the_log_are_read(with_shared: bool, visited: Visited, tmp_path: Path) -> None:
    """What a killed process committed to the log is shown, whether the file `-shm` is there or not."""
    crash(visited.home, "UPDATE pages SET weight = 7.5")
    assert (visited.home / "webstrata.db-wal").stat().st_size
    if not with_shared:
        (visited.home / "webstrata.db-shm").unlink()
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    set_writable(visited.home, is_writable=False)
    before = contents(visited.home)

    result = call_obeying("--home", visited.home, "list", "--json", TMPDIR=str(temporary))
    refused = call_obeying("--home", visited.home, "watch", "http://new.test/", TMPDIR=str(temporary))

    assert result.code == 0, result.err
    assert [page["weight"] for page in result.json["pages"]] == [7.5] * 3
    assert (refused.code, "read-only" in refused.err) == (1, True)
    assert contents(visited.home) == before
    assert not list(temporary.iterdir()), "copies are deleted"


def test_without_permission_to_the_file_alone(visited: Visited) -> None:
    """A database that may not be written in a folder that may be: it is read, and no log is created beside it."""
    (visited.home / "webstrata.db").chmod(0o444)

    result = call_obeying("--home", visited.home, "list", "--json")
    refused = call_obeying("--home", visited.home, "watch", "http://new.test/")

    assert (result.code, len(result.json["pages"])) == (0, 3)
    assert (refused.code, "read-only" in refused.err) == (1, True)
    assert not list(visited.home.glob("webstrata.db-*"))


def test_another_user_reads_while_a_crawl_writes(visited: Visited, tmp_path: Path) -> None:
    """A process that may not write sees the commits of one that has the database open."""
    writer = sqlite3.connect(visited.home / "webstrata.db")
    writer.create_function("row_checksum", -1, lambda *values: 0, deterministic=True)
    writer.execute("UPDATE pages SET weight = 3.25")
    writer.commit()
    set_writable(visited.home, is_writable=False)

    result = call_obeying("--home", visited.home, "list", "--json")

    assert [page["weight"] for page in result.json["pages"]] == [3.25] * 3
    writer.close()


def test_a_home_that_nobody_can_read(visited: Visited) -> None:
    """Without the permission to read, the message names the permissions and no traceback is printed."""
    (visited.home / "webstrata.db").chmod(0)
    result = call_obeying("--home", visited.home, "list")
    (visited.home / "webstrata.db").chmod(0o644)

    assert result.code == 1
    assert "ermission" in result.err or "cannot be opened" in result.err, result.err
    assert "internal error" not in result.err


def mounted_read_only(home: Path) -> Callable[[], None]:
    """A preparation of a process that mounts the home read-only for itself."""

    def mount() -> None:
        flags = 0x1000 | 0x20 | 0x1  # bind, remount, read-only
        name = os.fsencode(home)
        steps = (
            _libc.unshare(0x00020000),
            _libc.mount(b"none", b"/", None, 0x4000 | 0x40000, None),
            _libc.mount(name, name, None, 0x1000, None),
            _libc.mount(name, name, None, flags, None),
        )
        if any(steps):
            os._exit(77)

    return mount


def test_on_a_read_only_file_system(visited: Visited) -> None:
    """The same holds where the file system forbids writing, even to root."""
    words = [*PROGRAM, "--home", str(visited.home)]

    def run(*more: str) -> subprocess.CompletedProcess[bytes]:
        return subprocess.run(
            [*words, *more],
            capture_output=True,
            env=environment(),
            preexec_fn=mounted_read_only(visited.home),
            check=False,
        )

    listed = run("list")
    if listed.returncode == 77:
        pytest.skip("this user may not mount file systems")
    assert without_waits(listed.stdout.decode()) == without_waits(call_here("--home", visited.home, "list").text)
    refused = run("watch", "http://new.test/")
    assert (refused.returncode, b"read-only" in refused.stderr) == (1, True)
