"""A process and all its descendants: their memory, and how to kill them.

The limits of the kernel apply to single processes, and a browser has about a dozen. So the memory of the whole tree is
summed from `/proc` while it runs. Without `/proc` the tree is empty and its memory is not known.
"""

from __future__ import annotations

import os
import signal
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

_PROC = Path("/proc")
_PRIVATE_MEMORY = (b"RssAnon:", b"RssShmem:")
"""Memory without mapped files: program code is shared by all processes and would be counted for each of them."""


class ProcessId(NamedTuple):
    """A process. Numbers are reused, but not with the same start time."""

    pid: int
    started: int


def process_tree(pid: int) -> list[ProcessId]:
    """The process and its descendants, ancestors first; empty if it has ended or is not visible."""
    children: dict[int, list[ProcessId]] = {}
    root: ProcessId | None = None
    for folder in _PROC.glob("[0-9]*"):
        process = _process(folder)
        if process is None:
            continue
        member, parent = process
        children.setdefault(parent, []).append(member)
        if member.pid == pid:
            root = member
    members = [root] if root is not None else []
    for member in members:  # the list grows during the iteration
        members += children.get(member.pid, ())
    return members


def processes_naming(folder: str) -> list[ProcessId]:
    """Processes whose command line contains a folder; they belong to its owner even outside the process tree."""
    matching: list[ProcessId] = []
    for entry in _PROC.glob("[0-9]*"):
        with suppress(OSError):
            is_named = os.fsencode(folder) in (entry / "cmdline").read_bytes()
            if is_named and (process := _process(entry)) is not None:
                matching.append(process[0])
    return matching


def memory_of(members: list[ProcessId]) -> int:
    """The memory of all members together, in bytes."""
    total = 0
    for member in members:
        with suppress(OSError, ValueError, IndexError):
            for line in (_PROC / str(member.pid) / "status").read_bytes().splitlines():
                if line.startswith(_PRIVATE_MEMORY):
                    total += int(line.split()[1]) * 1024
    return total


def kill(members: list[ProcessId]) -> None:
    """Kill the members that still run, ancestors first, so that none can start another."""
    for member in members:
        process = _process(_PROC / str(member.pid))
        if process is not None and process[0] == member:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(member.pid, signal.SIGKILL)


def _process(folder: Path) -> tuple[ProcessId, int] | None:
    """(the process, the number of its parent) of a folder in `/proc`."""
    try:
        # The name is in parentheses and may itself contain parentheses.
        fields = (folder / "stat").read_bytes().rpartition(b")")[2].split()
        return ProcessId(int(folder.name), int(fields[19])), int(fields[1])
    except (OSError, ValueError, IndexError):
        return None
