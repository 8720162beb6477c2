"""The members and the memory of a process tree, and how it is killed."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest

from webstrata.fetch.handlers.process_tree import ProcessId, kill, memory_of, process_tree, processes_naming

pytestmark = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="no /proc")

CHILD = "import sys; kept = bytearray(b'x') * 60_000_000; print('ready', flush=True); sys.stdin.read()"
PARENT = f"""
import subprocess, sys
child = subprocess.Popen([sys.executable, "-c", {CHILD!r}], start_new_session=True, stdin=subprocess.PIPE)
child.wait()
"""


def test_tree() -> None:
    """A child in another session belongs to the tree: its memory counts, and it is killed with its parent."""
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
    # A grandchild cannot be waited for, and a killed process takes a while to disappear.
    deadline = time.monotonic() + 30
    while b"kept" in _command(members[1].pid):
        assert time.monotonic() < deadline
        time.sleep(0.01)


def _command(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


def test_processes_naming(tmp_path: Path) -> None:
    """A process whose command line contains a folder is found, whoever started it."""
    command = [sys.executable, "-c", "print('ready', flush=True); input()", str(tmp_path / "x")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()  # the command line is visible once the program runs
        assert [member.pid for member in processes_naming(str(tmp_path))] == [process.pid]
        kill(processes_naming(str(tmp_path)))
    assert processes_naming(str(tmp_path)) == []


def test_reused_process_numbers() -> None:
    """A process with the number of one that ended is not killed."""
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:
        (member,) = process_tree(process.pid)
        kill([ProcessId(member.pid, member.started - 1)])
        assert process.poll() is None
        assert memory_of([ProcessId(2**22 + 1, 0)]) == 0
        process.kill()
