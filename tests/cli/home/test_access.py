"""Who may read the home: only its owner, whatever the umask; wider modes are reported, and corrected by `init`."""

from __future__ import annotations

import os
import shlex
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.conftest import Call, LocalServer

SECRET_FILES = ("webstrata.toml", "webstrata.db", "node", "database", "lock")


@pytest.fixture(params=[0o000, 0o022, 0o077], ids="umask {:03o}".format)
def umask(request: pytest.FixtureRequest) -> Iterator[int]:
    before = os.umask(request.param)
    yield request.param
    os.umask(before)


def mode(path: Path) -> int:
    return path.stat().st_mode & 0o7777


def test_modes_of_a_home(umask: int, tmp_path: Path, server: LocalServer, call: Call) -> None:
    """Folder 0700; settings, database, lock, keys and journals 0600; an exported file follows the umask."""
    server.pages["/"] = ("text/html", b"<title>t</title><p>hello")
    home = tmp_path / "parent" / "home"
    assert call("--home", home, "init", "--contact", "me@example.org").code == 0
    assert call("--home", home, "watch", server.url()).code == 0
    assert call("--home", home, "crawl", **server.settings).code == 0
    assert call("--home", home, "capture", server.url(), "--delay", "0.01s", **server.settings).code == 0
    out = tmp_path / "out.wacz"
    assert call("--home", home, "export", "wacz", out).code == 0

    assert mode(home) == 0o700
    assert {name: mode(home / name) for name in SECRET_FILES} == dict.fromkeys(SECRET_FILES, 0o600)
    keys = list((home / "keys").iterdir())
    assert {mode(file) for file in keys} == {0o600}
    assert mode(home / "keys") == 0o700
    assert {mode(file) for file in (home / "captures").glob("*.jsonl")} == {0o600}
    assert mode(out) == 0o666 & ~umask
    assert mode(tmp_path / "parent") == 0o777 & ~umask
    assert call("--home", home, "status", "--json").json["open_to_others"] == []


def test_side_files_of_the_database(home: Path, call: Call) -> None:
    """The log and the shared memory of the database have the mode of the database."""
    import sqlite3

    with sqlite3.connect(home / "webstrata.db") as connection:
        connection.execute("PRAGMA user_version")
        connection.execute("CREATE TABLE IF NOT EXISTS x (y)")
        assert {mode(file) for file in home.glob("webstrata.db-*")} == {0o600}
    connection.close()


def test_wider_modes_are_reported_and_corrected(home: Path, call: Call) -> None:
    """`status` and `check` name what others may read, with the command that prevents it; only `init` changes it."""
    home.chmod(0o755)
    for name in ("webstrata.toml", "webstrata.db"):
        (home / name).chmod(0o644)
    shown = call("--home", home, "status")
    document = call("--home", home, "status", "--json").json
    checked = call("--home", home, "check")
    assert "other users may read" in shown.text
    assert "webstrata.toml (0644)" in checked.text
    assert checked.code == 0, "it is a note, not a fault"
    assert [entry["wanted"] for entry in document["open_to_others"]] == ["0700", "0600", "0600"]
    assert mode(home) == 0o755, "nothing is changed unasked"

    again = call("--home", home, "init")
    assert "can no longer read: the folder, webstrata.toml, webstrata.db" in again.text
    assert (mode(home), mode(home / "webstrata.toml"), mode(home / "webstrata.db")) == (0o700, 0o600, 0o600)
    assert "nothing was changed" in call("--home", home, "init").text


def test_the_printed_command_works(home: Path, call: Call) -> None:
    """The command of the warning can be pasted into a shell."""
    (home / "webstrata.toml").chmod(0o666)
    (note,) = call("--home", home, "check", "--json").json["notes"]
    command = note.partition("To prevent it: ")[2]
    assert shlex.split(command)[0] == "chmod"
    subprocess.run(command, shell=True, check=True)
    assert call("--home", home, "check", "--json").json["notes"] == []


def test_a_folder_with_other_files(tmp_path: Path, call: Call) -> None:
    """The mode of a folder that had other files before is not changed, but reported."""
    (tmp_path / "other").touch()
    tmp_path.chmod(0o755)
    call("--home", tmp_path, "init")
    assert mode(tmp_path) == 0o755
    assert mode(tmp_path / "webstrata.toml") == 0o600
    assert f"chmod 700 {tmp_path}" in call("--home", tmp_path, "status").text
