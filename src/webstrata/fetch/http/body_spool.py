"""`BodySpool`: large bodies go to temporary files while they are received, and from there to the archive.

The files are in the archive's folder, so that they are on its disk, and have no name: the system frees their space when
they are closed, also after a crash. A thread writes and digests; the event loop only hands pieces over, and stops
reading while too many of them wait.
"""

from __future__ import annotations

import asyncio
import base64
import hashlib
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any
from weakref import WeakSet, finalize

_PIECE_BYTES = 2**20
_THREADS = 2
_MB = 1e6


class SpoolError(Exception):
    """A body cannot be stored: too little space, or an error of the disk. The text says which."""


class SpooledBody:
    """A body in a temporary file (`records.LargeBody`). The file ends with this object."""

    def __init__(self) -> None:
        self.size = 0
        """Bytes written so far."""
        self._file: Any = None
        self._sha1 = hashlib.sha1(usedforsecurity=False)
        self._sha256 = hashlib.sha256()

    @property
    def payload(self) -> str:
        return "sha1:" + base64.b32encode(self._sha1.digest()).decode()

    @property
    def sha256(self) -> str:
        return self._sha256.hexdigest()

    def pieces(self) -> Iterator[bytes]:
        at = 0
        while at < self.size:
            piece = os.pread(self._file.fileno(), min(_PIECE_BYTES, self.size - at), at)
            if not piece:
                raise OSError("a temporary file is shorter than what was written to it")
            at += len(piece)
            yield piece

    def write(self, folder: Path, parts: Sequence[bytes]) -> None:
        """Append to the file. To be called by one thread at a time."""
        if self._file is None:
            folder.mkdir(parents=True, exist_ok=True)
            self._file = TemporaryFile(dir=folder, buffering=0)  # noqa: SIM115 - open as long as this object exists
            finalize(self, self._file.close)
        for part in parts:
            view = memoryview(part)
            while view:
                view = view[self._file.write(view) :]
            self._sha1.update(part)
            self._sha256.update(part)
            self.size += len(part)


class BodySpool:
    """The temporary files of one `HttpWeb`."""

    def __init__(self, folder: Path, *, reserve: int, free: Callable[[Path], int]) -> None:
        """`reserve`: space in bytes that must stay free on the disk of `folder`; `free` tells how much there is."""
        self._folder = folder
        self._reserve = reserve
        self._free = free
        self._bodies: WeakSet[SpooledBody] = WeakSet()
        self._threads = ThreadPoolExecutor(_THREADS, thread_name_prefix="body-spool")

    def open(self, expected_bytes: int, max_waiting_bytes: int, on_written: Callable[[], None]) -> BodyWriter:
        """The writer of a new body that will have about this size."""
        body = SpooledBody()
        self._bodies.add(body)
        return BodyWriter(self, body, expected_bytes, max_waiting_bytes, on_written)

    def start(self, work: Callable[[], None]) -> None:
        """Run in a thread."""
        self._threads.submit(work)

    def store(self, body: SpooledBody, parts: Sequence[bytes], expected_bytes: int) -> None:
        """Write to a body. Raises SpoolError if that would leave too little space.

        Every body is copied to the archive before its file ends, so it needs its size twice.
        """
        size = sum(map(len, parts))
        to_write = max(size, expected_bytes - body.size)
        held_bytes = sum(one.size for one in list(self._bodies))
        try:
            left = self._free(next(place for place in (self._folder, *self._folder.parents) if place.exists()))
            needed = to_write + held_bytes + to_write + self._reserve
            if left < needed:
                raise SpoolError(
                    f"too little space on the disk of {self._folder}: {left / _MB:.0f} MB are free, and a body of "
                    f"{(body.size + to_write) / _MB:.0f} MB or more needs {needed / _MB:.0f} MB, with what must stay "
                    "free (archive.reserve). Free space, or lower fetch.max_body"
                )
            body.write(self._folder, parts)
        except OSError as problem:
            raise SpoolError(f"a body cannot be written to {self._folder}: {problem.strerror or problem}") from None

    async def close(self) -> None:
        """Wait until nothing is written any more."""
        await asyncio.to_thread(self._threads.shutdown, cancel_futures=True)


class BodyWriter:
    """Writes one body in a thread, piece by piece and in order. To be used in the event loop."""

    def __init__(
        self,
        spool: BodySpool,
        body: SpooledBody,
        expected_bytes: int,
        max_waiting_bytes: int,
        on_written: Callable[[], None],
    ) -> None:
        """`max_waiting_bytes`: how much may wait for the disk before nothing more is read. `on_written` is called in
        the event loop when nothing waits any more, or writing failed."""
        self._spool = spool
        self._body = body
        self._expected_bytes = expected_bytes
        self._max_waiting_bytes = max_waiting_bytes
        self._on_written = on_written
        self._loop = asyncio.get_running_loop()
        self._waiting: list[bytes] = []
        self._waiting_bytes = 0
        self._is_writing = False
        self._finished: asyncio.Future[None] | None = None
        self.problem = ""
        """Why the body cannot be stored."""

    @property
    def is_full(self) -> bool:
        """Whether to stop reading until `on_written` is called."""
        return self._waiting_bytes > self._max_waiting_bytes

    def add(self, parts: Sequence[bytes]) -> None:
        """Write these parts next."""
        if self.problem:
            return
        self._waiting += parts
        self._waiting_bytes += sum(map(len, parts))
        self._continue()

    async def finish(self) -> SpooledBody:
        """The body, when all of it is written. Raises SpoolError."""
        while self._is_writing:
            self._finished = self._loop.create_future()
            await self._finished
        if self.problem:
            raise SpoolError(self.problem)
        return self._body

    def discard(self) -> None:
        """The body is not needed: what waits is dropped."""
        self._waiting, self._waiting_bytes = [], 0

    def _continue(self) -> None:
        if self._is_writing or not self._waiting:
            return
        parts, self._waiting = self._waiting, []
        self._is_writing = True

        def work() -> None:
            problem = ""
            try:
                self._spool.store(self._body, parts, self._expected_bytes)
            except SpoolError as error:
                problem = str(error)
            self._loop.call_soon_threadsafe(self._written, parts, problem)

        self._spool.start(work)

    def _written(self, parts: list[bytes], problem: str) -> None:
        self._is_writing = False
        self._waiting_bytes = max(0, self._waiting_bytes - sum(map(len, parts)))
        parts.clear()
        if problem:
            self.problem = problem
            self.discard()
        self._continue()
        if not self._is_writing:
            if self._finished is not None and not self._finished.done():
                self._finished.set_result(None)
            self._on_written()
