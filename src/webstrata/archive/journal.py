"""The journal of a site capture: one JSON line for each event, synced when it is written.

A crash may leave an incomplete last line. It is ignored when the journal is opened again and overwritten by the next
append; the capture repeats the requests that it recorded.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence
from pathlib import Path

import msgspec

from webstrata.archive.warc.growing import sync_folder
from webstrata.errors import ArchiveError, UsageError
from webstrata.ports import Clock

ENDING = ".jsonl"
_LOG = "log"
"""The name of the log of certificates, which is in the same folder."""


class JournalFile:
    """Satisfies `ports.Journal`. The lock of the home ensures that there is only one writer."""

    def __init__(self, path: Path, clock: Clock) -> None:
        self.path = path
        self._clock = clock
        self._complete_bytes = 0
        self._lines = self._read()

    def lines(self) -> list[bytes]:
        """All complete lines at the time when the journal was opened."""
        return self._lines

    async def append(self, lines: Sequence[bytes]) -> None:
        """Write lines and sync."""
        with self._clock.working():
            await asyncio.to_thread(self._append, b"".join(line + b"\n" for line in lines))

    def _append(self, data: bytes) -> None:
        try:
            new = not self.path.exists()
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with open(self.path, "ab", opener=_open_private) as file:
                file.truncate(self._complete_bytes)
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            if new:
                sync_folder(self.path.parent)
        except OSError as problem:
            raise ArchiveError(
                f"cannot write {self.path}: {problem.strerror}. Free some space, then continue with "
                f"--resume {self.path.stem}."
            ) from None
        self._complete_bytes += len(data)

    def _read(self) -> list[bytes]:
        if not self.path.exists():
            return []
        # The part after the last line end is empty or an incomplete line.
        lines = self.path.read_bytes().split(b"\n")[:-1]
        while lines and not _is_json(lines[-1]):
            lines.pop()
        self._complete_bytes = sum(len(line) + 1 for line in lines)
        return lines


def open_journal(folder: Path, name: str, clock: Clock) -> JournalFile:
    """The existing journal of a capture to resume."""
    path = folder / f"{name}{ENDING}"
    if "/" in name or name.startswith(".") or name == _LOG or not path.is_file():
        journals = sorted(file.stem for file in folder.glob(f"*{ENDING}") if file.stem != _LOG)
        known = ", ".join(journals[-5:]) or "none"
        raise UsageError(f"there is no capture {name!r} to resume. The latest captures: {known}.")
    return JournalFile(path, clock)


def captures(folder: Path, clock: Clock) -> list[JournalFile]:
    """The journals of all captures, the oldest first."""
    files = (file for file in folder.glob(f"*{ENDING}") if file.stem != _LOG)
    return [JournalFile(file, clock) for file in sorted(files, key=lambda file: (file.stat().st_mtime_ns, file.name))]


def new_journal(folder: Path, name: str, clock: Clock) -> JournalFile:
    """A new journal with this name or, if it is used already, the name and a number."""
    folder.mkdir(parents=True, exist_ok=True)
    path, number = folder / f"{name}{ENDING}", 2
    while path.exists():
        path, number = folder / f"{name}-{number}{ENDING}", number + 1
    path.touch(mode=0o600)  # reserves the name for this capture
    return JournalFile(path, clock)


def capture_log(folder: Path, clock: Clock) -> JournalFile:
    """The log of the certificates of all captures; it is empty before the first."""
    return JournalFile(folder / f"{_LOG}{ENDING}", clock)


def _open_private(path: str, flags: int) -> int:
    """Journals name settings and paths of their user: only the owner can read them."""
    return os.open(path, flags, 0o600)


def _is_json(line: bytes) -> bool:
    try:
        msgspec.json.decode(line, type=msgspec.Raw)
    except msgspec.DecodeError:
        return False
    return True
