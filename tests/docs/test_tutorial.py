"""The tutorial, done as a reader would do it."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

CONSOLE = re.compile(r"^```console\n(.*?)^```", re.MULTILINE | re.DOTALL)


def _commands(tutorial: Path) -> list[str]:
    blocks = CONSOLE.findall(tutorial.read_text(encoding="utf-8"))
    return [line[2:] for block in blocks for line in block.splitlines() if line.startswith("$ ")]


def _free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def _script(commands: list[str], port: int) -> str:
    """One shell script that ends at the first command that fails; spans are cut short, the port is a free one."""
    lines = ["set -eu"]
    for command in commands:
        short = command.replace("--days 90 --budget 0.1/", "--days 15 --budget 0.3/").replace("8000", str(port))
        lines.append(short.replace("webstrata crawl", "webstrata crawl --set polite.delay=0.2s"))
        if command.endswith("&"):
            lines += ["trap 'kill $!' EXIT", "sleep 1"]
    return "\n".join(lines)


@pytest.mark.timeout(300)
def test_the_tutorial_works(root: Path, tmp_path: Path) -> None:
    """Every command of the tutorial succeeds, in order, and the change that it makes is seen."""
    commands = _commands(root / "docs" / "tutorial" / "first-archive.md")
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    environment = {name: value for name, value in environment.items() if not name.startswith("WEBSTRATA_")}
    printed, problems = tmp_path / "printed", tmp_path / "problems"
    with printed.open("wb") as out, problems.open("wb") as err:
        shell = subprocess.Popen(
            ["sh", "-c", _script(commands, _free_port())],
            cwd=tmp_path,
            env=environment,
            stdout=out,
            stderr=err,
            start_new_session=True,
        )
        try:
            code = shell.wait(timeout=280)
        finally:
            with contextlib.suppress(ProcessLookupError):  # whatever it started ends with it
                os.killpg(shell.pid, signal.SIGKILL)
            shell.wait()
    shown = printed.read_text(encoding="utf-8")

    assert code == 0, problems.read_text(encoding="utf-8")[-2000:]
    assert "The servers counted 0 politeness violations." in shown
    assert "-Nothing yet.\n+The archive is open." in shown
    assert " 0 bad, 0 dangling, 0 lost" in shown
    assert (tmp_path / "my-archive.wacz").exists()
    assert len(commands) > 20
