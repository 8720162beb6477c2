"""A process and all that it started: how much memory they take together, and their end.

Limits of the kernel's hold for one process each, and a browser has a dozen. So the whole family is added up from
`/proc` while it runs. Where there is no `/proc`, the family is the process alone, and its memory is not known.
"""

from __future__ import annotations

import os
import signal
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

_PROC = Path("/proc")
_OWN = (b"RssAnon:", b"RssShmem:")
"""Memory that is not a file's: program code is shared by all processes and would be counted a dozen times."""


class ProcessId(NamedTuple):
    """A process; numbers are used again, but not with the same start."""

    pid: int
    started: int


def process_tree(pid: int) -> list[ProcessId]:
    """The process and its descendants, ancestors first; empty where it has ended or cannot be seen."""
    children: dict[int, list[ProcessId]] = {}
    first: ProcessId | None = None
    for folder in _PROC.glob("[0-9]*"):
        read = _read(folder)
        if read is None:
            continue
        member, parent = read
        children.setdefault(parent, []).append(member)
        if member.pid == pid:
            first = member
    found = [first] if first is not None else []
    for member in found:  # grows while it is walked
        found += children.get(member.pid, ())
    return found


def named(folder: str) -> list[ProcessId]:
    """Processes that name a folder in their command, and so belong to whom it does, though they left the family."""
    found: list[ProcessId] = []
    for place in _PROC.glob("[0-9]*"):
        with suppress(OSError):
            if os.fsencode(folder) in (place / "cmdline").read_bytes() and (read := _read(place)) is not None:
                found.append(read[0])
    return found


def memory_of(members: list[ProcessId]) -> int:
    """Bytes that they hold together."""
    total = 0
    for member in members:
        with suppress(OSError, ValueError, IndexError):
            for line in (_PROC / str(member.pid) / "status").read_bytes().splitlines():
                if line.startswith(_OWN):
                    total += int(line.split()[1]) * 1024
    return total


def kill(members: list[ProcessId]) -> None:
    """End all that still run, ancestors first: none of them can start others then."""
    for member in members:
        read = _read(_PROC / str(member.pid))
        if read is not None and read[0] == member:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(member.pid, signal.SIGKILL)


def _read(folder: Path) -> tuple[ProcessId, int] | None:
    """(the process, its parent's number)"""
    try:
        # The name stands in parentheses and may hold anything, those too.
        fields = (folder / "stat").read_bytes().rpartition(b")")[2].split()
        return ProcessId(int(folder.name), int(fields[19])), int(fields[1])
    except (OSError, ValueError, IndexError):
        return None
