"""The family of a process: its members, its memory, its end."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest

from webstrata.fetch.handlers.process_tree import ProcessId, kill, memory_of, named, process_tree

pytestmark = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="no /proc")

CHILD = "import sys; kept = bytearray(b'x') * 60_000_000; print('ready', flush=True); sys.stdin.read()"
PARENT = f"""
import subprocess, sys
child = subprocess.Popen([sys.executable, "-c", {CHILD!r}], start_new_session=True, stdin=subprocess.PIPE)
child.wait()
"""


def test_family() -> None:
    """A child in another session is of the family, its memory counts, and the end is the end of both."""
    with subprocess.Popen([sys.executable, "-c", PARENT], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        members = process_tree(process.pid)
        assert members[0].pid == process.pid
        assert len(members) == 2
        assert memory_of(members) > 60_000_000
        kill(members)
        process.wait()
    assert process_tree(process.pid) == []
    # Nobody here can wait for a grandchild, and a killed process gives its memory back in its own time.
    deadline = time.monotonic() + 30
    while b"kept" in _command(members[1].pid):
        assert time.monotonic() < deadline
        time.sleep(0.01)


def _command(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


def test_named(tmp_path: Path) -> None:
    """Who names a folder is found, whoever started it."""
    with subprocess.Popen([sys.executable, "-c", "input()", str(tmp_path / "x")], stdin=subprocess.PIPE) as process:
        assert [member.pid for member in named(str(tmp_path))] == [process.pid]
        kill(named(str(tmp_path)))
    assert named(str(tmp_path)) == []


def test_numbers_that_were_used_again() -> None:
    """A process with the number of one that ended is nobody's to kill."""
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:
        (member,) = process_tree(process.pid)
        kill([ProcessId(member.pid, member.started - 1)])
        assert process.poll() is None
        assert memory_of([ProcessId(2**22 + 1, 0)]) == 0
        process.kill()
