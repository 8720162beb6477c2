"""The home folder: its creation, its lock, its signing key."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from webstrata.errors import HomeError
from webstrata.home import TEMPLATE, Home


def test_creating_twice_is_harmless(tmp_path: Path) -> None:
    """The second call creates what is missing and changes no existing file."""
    home, new = Home.create(tmp_path / "deep" / "home")
    assert new
    assert home.settings_file.read_text() == TEMPLATE
    home.settings_file.write_text("# mine\n")
    name = home.node_name
    home.index.rmdir()
    again, new = Home.create(home.path)
    assert not new
    assert again.settings_file.read_text() == "# mine\n"
    assert again.node_name == name
    assert again.index.is_dir()


def test_two_homes_have_two_names(tmp_path: Path) -> None:
    """Each home has its own node name, which identifies its leases."""
    assert Home.create(tmp_path / "a")[0].node_name != Home.create(tmp_path / "b")[0].node_name


def test_opening_what_is_no_home_says_what_to_do(tmp_path: Path) -> None:
    """A folder without a settings file is refused and stays unchanged."""
    with pytest.raises(HomeError, match=r"not a Webstrata home.*init"):
        Home.open(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_home_where_none_can_be_made(tmp_path: Path) -> None:
    """A folder that cannot be written raises HomeError."""
    (tmp_path / "file").touch()
    with pytest.raises(HomeError, match="cannot create a home"):
        Home.create(tmp_path / "file" / "home")


def test_a_home_that_cannot_be_locked_says_so(tmp_path: Path) -> None:
    """A lock file that cannot be opened raises HomeError."""
    home, _ = Home.create(tmp_path)
    (home.path / "lock").mkdir()
    with pytest.raises(HomeError, match="cannot write"), home.locked():
        pytest.fail("must not be held")


def test_a_lost_name_says_how_to_get_another(tmp_path: Path) -> None:
    """Without the file `node` a home cannot crawl; `init` creates the file."""
    home, _ = Home.create(tmp_path)
    (home.path / "node").unlink()
    with pytest.raises(HomeError, match="init"):
        _ = home.node_name
    assert Home.create(tmp_path)[0].node_name.startswith("node-")


def test_the_lock_names_its_holder_and_ends_with_it(tmp_path: Path) -> None:
    """The error names the process that holds the lock; the lock ends with it, also after an exception."""
    home, _ = Home.create(tmp_path)
    with (
        home.locked(),
        pytest.raises(HomeError, match=rf"in use by process {os.getpid()}\. .*--home"),
        home.locked(),
    ):
        pytest.fail("held twice")
    with pytest.raises(ZeroDivisionError), home.locked():
        _ = 1 / 0
    with home.locked():
        assert (home.path / "lock").read_text() == f"process {os.getpid()}"
    assert (home.path / "lock").read_text() == ""


def test_a_killed_holder_leaves_no_lock(tmp_path: Path) -> None:
    """The operating system releases the lock of a killed process: no file has to be deleted."""
    home, _ = Home.create(tmp_path)
    script = (
        "import os, signal, sys; from pathlib import Path; from webstrata.home import Home\n"
        "with Home(Path(sys.argv[1])).locked(): os.kill(os.getpid(), signal.SIGKILL)"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    killed = subprocess.run([sys.executable, "-c", script, str(home.path)], check=False, env=environment)
    assert killed.returncode < 0
    assert (home.path / "lock").read_text().startswith("process ")
    with home.locked():
        pass


def test_disk_use_counts_every_part(tmp_path: Path) -> None:
    """The sizes are those of the files, including the side files of the database."""
    home, _ = Home.create(tmp_path)
    (home.archive / "sub").mkdir()
    (home.archive / "sub" / "a.warc.gz").write_bytes(b"x" * 10)
    (home.index / "a.cdxj").write_bytes(b"x" * 3)
    home.database.write_bytes(b"x" * 5)
    (tmp_path / "webstrata.db-wal").write_bytes(b"x" * 2)
    assert home.disk_bytes() == {"archive": 10, "index": 3, "database": 7}
