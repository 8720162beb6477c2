"""The process that the crash tests kill: the real loop on a real home, with failpoints.

It sends the visits that the loop reports as committed through a pipe to the test's process, and for each archive file
the size that was synced, so that the test can remove the bytes that a power cut would have removed.
"""

from __future__ import annotations

import asyncio
import errno
import logging
import os
import resource
import signal
from collections.abc import Callable, Sequence
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from webstrata import settings as settings_file
from webstrata.archive.warc import growing
from webstrata.flows.crawl.visit_batcher import CrawlProgress
from webstrata.home import Home
from webstrata.node import Node
from webstrata.records import Position, Visit
from webstrata.remember.store import SqlVisitLog


class Acknowledged(Struct, frozen=True, tag=True):
    """The loop reported this visit as committed."""

    url: str
    at: float
    payload: str
    position: Position


class Synced(Struct, frozen=True, tag=True):
    """An archive file was synced up to this size."""

    file: str
    size: int


Note = Acknowledged | Synced

Failpoint = tuple[str, int] | None
"""The call at which the process is killed (`write`, `sync`, `rename`, `commit-before`, `commit-after`) and its number;
or `room` and the largest size of a file, or `no-space` and the number of the write for which the disk is full: with
these two the process is killed when the loop has logged that a round failed."""


class _Ledger(CrawlProgress):
    """Sends committed visits through the pipe."""

    def __init__(self, pipe: Connection) -> None:
        self._pipe = pipe

    def visited(self, visits: Sequence[Visit]) -> None:
        for visit in visits:
            if visit.position is not None and visit.payload is not None:
                note = Acknowledged(visit.url, visit.at, visit.payload, visit.position)
                self._pipe.send_bytes(msgspec.msgpack.encode(note))


def crawl(home: str, pipe: Connection, failpoint: Failpoint, build: str) -> None:
    """Crawl until killed. `build`: "good", or the fault that it has ("no-sync", "no-order")."""
    _report_syncs(pipe, honest=build != "no-sync")
    if build == "no-order":
        _write_late()
    if failpoint is not None:
        _set_failpoint(*failpoint)
    path = Path(home)
    settings, _ = settings_file.load(path, environment={})
    node = Node(Home.open(path), settings)

    async def run() -> None:
        async with node.crawling(_Ledger(pipe)) as loop:
            await loop.run()

    asyncio.run(run())


def _kill() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def _set_failpoint(name: str, nth: int) -> None:
    """Kill the process at the n-th call; a write is killed after half of its bytes."""
    if name in ("room", "no-space"):
        logging.getLogger("webstrata").addHandler(_KillAtErrors(logging.ERROR))
    if name == "room":
        resource.setrlimit(resource.RLIMIT_FSIZE, (nth, nth))
        return
    count = 0

    def reached() -> bool:
        nonlocal count
        count += 1
        return count == nth

    if name in ("write", "no-space"):
        write = os.write

        def torn_write(fd: int, data: Any) -> int:
            if len(data) > 64 and reached():
                write(fd, bytes(data[: len(data) // 2]))
                if name == "no-space":
                    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
                _kill()
            return write(fd, data)

        growing.os = _Module(os, write=torn_write)  # type: ignore[assignment,attr-defined]
    elif name == "sync":
        sync = growing.os.fdatasync  # type: ignore[attr-defined]
        growing.os = _Module(growing.os, fdatasync=_killed_at(sync, reached))  # type: ignore[assignment,attr-defined]
    elif name == "rename":
        Path.rename = _killed_at(Path.rename, reached)  # type: ignore[method-assign]
    else:
        _set_commit_failpoint(name, reached)


class _KillAtErrors(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        _kill()


def _set_commit_failpoint(name: str, reached: Callable[[], bool]) -> None:
    commit = SqlVisitLog.commit

    async def killed_commit(self: SqlVisitLog, batch: Any) -> None:
        now = bool(batch.entries) and reached()
        if now and name == "commit-before":
            _kill()
        await commit(self, batch)
        if now:
            _kill()

    SqlVisitLog.commit = killed_commit  # type: ignore[method-assign]


def _killed_at(call: Callable[..., Any], reached: Callable[[], bool]) -> Callable[..., Any]:
    def wrapped(*args: Any) -> Any:
        if reached():
            _kill()
        return call(*args)

    return wrapped


class _Module:
    """A module with some functions replaced."""

    def __init__(self, module: Any, **replaced: Any) -> None:
        self._module = module
        self.__dict__.update(replaced)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._module, name)


def _report_syncs(pipe: Connection, *, honest: bool) -> None:
    """Send the synced size of each file; the build without syncs syncs no file."""

    def fdatasync(fd: int) -> None:
        if honest:
            os.fdatasync(fd)
            name = Path(f"/proc/self/fd/{fd}").readlink().name
            pipe.send_bytes(msgspec.msgpack.encode(Synced(name.removesuffix(".open"), os.fstat(fd).st_size)))

    def fsync(fd: int) -> None:
        if os.path.isdir(f"/proc/self/fd/{fd}"):  # noqa: PTH112 - a link to a folder
            os.fsync(fd)
        else:
            fdatasync(fd)

    growing.os = _Module(os, fdatasync=fdatasync, fsync=fsync)  # type: ignore[assignment,attr-defined]


def _write_late() -> None:
    """The wrong order: appended bytes reach the file only with the next append."""
    append = growing.GrowingFile.append
    held: dict[int, bytes] = {}

    def late(self: growing.GrowingFile, data: bytes) -> None:
        size = self.size
        before = held.pop(id(self), b"")
        if before:
            self.size -= len(before)
            append(self, before)
        held[id(self)] = bytes(data)
        self.size = size + len(data)

    growing.GrowingFile.append = late  # type: ignore[method-assign]
