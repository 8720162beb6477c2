"""The process that gets killed: the real loop on a real home, with a finger on the trigger.

It runs in a process of its own. What it acknowledges goes down a pipe to the ledger in the test's process, after the
loop said that it is permanent. How far each archive file was synced goes down the same pipe, so that the test can
take away what a power cut would have taken.
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
    """The loop said: this visit is permanent."""

    url: str
    at: float
    payload: str
    position: Position


class Synced(Struct, frozen=True, tag=True):
    """An archive file is safe up to here, even without power."""

    file: str
    size: int


Note = Acknowledged | Synced

Failpoint = tuple[str, int] | None
"""Which call to die at (`write`, `sync`, `rename`, `commit-before`, `commit-after`) and which time round;
or `room` and a size that no file can pass, or `no-space` and which write of the archive finds the disk full: these die
when the loop has said that a round failed."""


class _Ledger(CrawlProgress):
    def __init__(self, pipe: Connection) -> None:
        self._pipe = pipe

    def visited(self, visits: Sequence[Visit]) -> None:
        for visit in visits:
            if visit.position is not None and visit.payload is not None:
                note = Acknowledged(visit.url, visit.at, visit.payload, visit.position)
                self._pipe.send_bytes(msgspec.msgpack.encode(note))


def crawl(home: str, pipe: Connection, failpoint: Failpoint, build: str) -> None:
    """Crawl until killed. `build`: "good", or how it is broken ("no-sync", "no-order")."""
    _report_syncs(pipe, honest=build != "no-sync")
    if build == "no-order":
        _write_late()
    if failpoint is not None:
        _arm(*failpoint)
    path = Path(home)
    settings, _ = settings_file.load(path, environment={})
    node = Node(Home.open(path), settings)

    async def run() -> None:
        async with node.crawling(_Ledger(pipe)) as loop:
            await loop.run()

    asyncio.run(run())


def _die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def _arm(name: str, nth: int) -> None:
    """Die at the n-th call of a kind, half-way through where a call has a half."""
    if name in ("room", "no-space"):
        logging.getLogger("webstrata").addHandler(_DyingAtErrors(logging.ERROR))
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
                _die()
            return write(fd, data)

        growing.os = _Module(os, write=torn_write)  # type: ignore[attr-defined]
    elif name == "sync":
        sync = growing.os.fdatasync
        growing.os = _Module(growing.os, fdatasync=_dying(sync, reached))  # type: ignore[attr-defined]
    elif name == "rename":
        Path.rename = _dying(Path.rename, reached)  # type: ignore[method-assign]
    else:
        _arm_commit(name, reached)


class _DyingAtErrors(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        _die()


def _arm_commit(name: str, reached: Callable[[], bool]) -> None:
    commit = SqlVisitLog.commit

    async def dying_commit(self: SqlVisitLog, batch: Any) -> None:
        now = bool(batch.entries) and reached()
        if now and name == "commit-before":
            _die()
        await commit(self, batch)
        if now:
            _die()

    SqlVisitLog.commit = dying_commit  # type: ignore[method-assign]


def _dying(call: Callable[..., Any], reached: Callable[[], bool]) -> Callable[..., Any]:
    def wrapped(*args: Any) -> Any:
        if reached():
            _die()
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
    """Tell how far each file is synced; the build without syncs calls none, so nothing of it would survive."""

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

    growing.os = _Module(os, fdatasync=fdatasync, fsync=fsync)  # type: ignore[attr-defined]


def _write_late() -> None:
    """The broken order: what is appended reaches the file only with the next append."""
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
