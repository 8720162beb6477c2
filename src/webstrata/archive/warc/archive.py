"""The archive port on WARC 1.1 files: one gzip member for each record, one sync for each batch.

    append(captures) ─► compose ─► compress ─► one write ─► one sync ─► index lines ─► positions

All steps run in one writer thread, so batches are never interleaved. A body that is not in memory gets a file of its
own (`large_file.py`), which another thread writes, so that no batch waits for it. While a file grows it is named
`NAME.warc.gz.open`, and its index lines are in `NAME.cdxj.open`. When it is finished, it is renamed to its final name
and gets a sorted index segment.
"""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from itertools import count
from pathlib import Path

from webstrata.archive.index import cdxj
from webstrata.archive.index.segment import (
    SyncMarker,
    growing_name,
    index_lines,
    sync_marker_path,
    write_segment,
    write_sync_marker,
)
from webstrata.archive.warc import compose
from webstrata.archive.warc.file_name import warc_name
from webstrata.archive.warc.growing import GrowingFile, create_growing_file
from webstrata.archive.warc.large_file import LargeFile, index_large_file
from webstrata.archive.warc.members import compressed
from webstrata.archive.warc.reader import WarcCapture, WarcReader
from webstrata.archive.warc.room import RESERVE_BYTES, check_room, free_bytes, largest_file
from webstrata.archive.warc.walk import OPEN_SUFFIX
from webstrata.errors import ArchiveError
from webstrata.ports import Clock
from webstrata.records import Capture, LargeBody, Position, ResourceCapture

# Bytes between two sync markers; the repair after a crash reads at most this much of a file again.
_MARKER_INTERVAL_BYTES = 64 * 1024 * 1024

# Large bodies that are written at the same time.
_LARGE_THREADS = 2

# Sorting a segment holds its lines in memory; this limits them to about 100 MB for files of many small records.
_MAX_CAPTURES = 250_000


class WarcArchive:
    """An append-only archive in a folder. To be called from one event loop; only one process may write to a folder."""

    def __init__(
        self,
        folder: Path,
        *,
        software: str,
        operator: str | None,
        node_name: str,
        clock: Clock,
        max_file_bytes: int = 1_000_000_000,
        fsync: bool = True,
        index_folder: Path | None = None,
        reserve: int = RESERVE_BYTES,
        free: Callable[[Path], int] = free_bytes,
        max_body_bytes: int = 100_000_000,
    ) -> None:
        """`node_name`: the archiver, as part of the names of its files. `reserve`: space in bytes that must stay free;
        `free` tells how much there is. Bodies that are longer than `max_body_bytes` are not read into memory."""
        self._folder = folder
        self._reserve = reserve
        self._free = free
        self._index_folder = index_folder or folder.parent / "index"
        self._software = software
        self._operator = operator
        self._node_name = node_name
        self._clock = clock
        largest = largest_file()
        self._max_file_bytes = max_file_bytes if largest is None else min(max_file_bytes, max(largest - reserve, 1))
        self._fsync = fsync
        self._ids = compose.record_ids()
        self._large_ids = compose.record_ids()
        self._large_serials = count()
        self._large_lock = threading.Lock()
        self._large_stop = threading.Event()
        self._serial = 0
        self._file: GrowingFile | None = None
        self._captures = 0
        self._marker_at = 0
        self._index_complete = True
        self._index_fd: int | None = None
        self._closed = False
        self._reader = WarcReader(folder, self._index_folder, node_name, max_body_bytes=max_body_bytes)
        self._writer = ThreadPoolExecutor(1, thread_name_prefix="warc-writer")
        self._large_writer = ThreadPoolExecutor(_LARGE_THREADS, thread_name_prefix="warc-large")

    async def append(self, captures: Sequence[Capture | ResourceCapture]) -> list[Position]:
        """Write and sync; returns one position per capture, in order.

        Raises ArchiveError if writing fails; then no capture of the batch is acknowledged.
        """
        if not captures:
            return []
        with self._clock.working():
            loop = asyncio.get_running_loop()
            return await loop.run_in_executor(self._writer, self._append, captures)

    async def append_large(self, capture: Capture) -> Position:
        """Write and sync a capture whose body is not in memory, while batches are appended.

        Raises ArchiveError if writing fails. If this is cancelled, the file that was begun is removed.
        """
        stop = threading.Event()
        with self._clock.working():
            loop = asyncio.get_running_loop()
            try:
                return await loop.run_in_executor(self._large_writer, self._write_large, capture, stop)
            except asyncio.CancelledError:
                stop.set()
                raise

    async def check_writable(self) -> None:
        """Raise ArchiveError, with what to do, if nothing can be appended now."""
        with self._clock.working():
            await asyncio.to_thread(check_room, self._folder, reserve=self._reserve, free=self._free)

    async def read(self, position: Position) -> WarcCapture:
        """Read a capture; a revisit is returned with the body of its original."""
        with self._clock.working():
            return await asyncio.to_thread(self._reader.read, position)

    async def close(self) -> None:
        """Finish the growing file: it gets its final name and its index segment. May be called more than once."""
        if self._closed:
            return
        self._closed = True
        self._large_stop.set()  # what is being written now was not awaited any more
        with self._clock.working():
            loop = asyncio.get_running_loop()
            try:
                await asyncio.to_thread(self._large_writer.shutdown)
                await loop.run_in_executor(self._writer, self._finish)
            finally:
                self._writer.shutdown(wait=False)
                self._reader.close()

    # ── in the writer thread ────────────────────────────────────────────────────────────────────────────────

    def _append(self, captures: Sequence[Capture | ResourceCapture]) -> list[Position]:
        file = self._file or self._open_file()
        pieces: list[bytes] = []
        end = file.size
        if not end:
            about = compose.warcinfo(next(self._ids), self._clock.now(), file.name, self._software, self._operator)
            end += _add(pieces, about)
        positions: list[Position] = []
        lines: list[bytes] = []
        for capture in captures:
            if _large_body(capture) is not None:
                positions.append(self._write_large(capture, self._large_stop))
                continue
            composed = self._compose(capture)
            length = _add(pieces, composed.record)
            where = Position(
                file=file.name, offset=end, length=length, record_id=composed.record_id, kind=composed.kind
            )
            positions.append(where)
            lines.append(_line(composed, file.name, end, length))
            end += length
            if composed.request:
                end += _add(pieces, composed.request)
        try:
            file.append(b"".join(pieces))
        except ArchiveError:
            self._detach_file()
            raise
        self._write_lines(file, lines)
        self._captures += len(lines)
        if file.size >= self._max_file_bytes or self._captures >= _MAX_CAPTURES:
            # A failure is ignored: the captures are synced, and the next append reports a full disk.
            with suppress(ArchiveError):
                self._finish()
        elif file.size - self._marker_at >= _MARKER_INTERVAL_BYTES:
            self._write_sync_marker(file)
        return positions

    def _compose(self, capture: Capture | ResourceCapture) -> compose.ExchangeRecords | compose.ResourceRecord:
        if isinstance(capture, ResourceCapture):
            return compose.ResourceRecord(capture, next(self._ids))
        return compose.ExchangeRecords(capture, next(self._ids), next(self._ids))

    def _write_large(self, capture: Capture | ResourceCapture, stop: threading.Event) -> Position:
        """In a thread of its own, or in the writer thread: write a file with one capture."""
        body = _large_body(capture)
        assert body is not None
        assert isinstance(capture, Capture)
        check_room(self._folder, reserve=self._reserve + body.size, free=self._free)
        now = self._clock.now()
        with self._large_lock:
            ids = [next(self._large_ids) for _ in range(3)]
            name = self._large_name(now)
            while (self._folder / name).exists():
                name = self._large_name(now)
        about = compose.warcinfo(ids[0], now, name, self._software, self._operator)
        composed = compose.ExchangeRecords(capture, ids[1], ids[2])
        file = LargeFile(
            self._folder,
            name,
            fsync=self._fsync,
            is_stopped=lambda: stop.is_set() or self._large_stop.is_set(),
        )
        position = file.write(about, composed, body)
        line = _line(composed, name, position.offset, position.length)
        index_large_file(self._index_folder, name, line, fsync=self._fsync)
        return position

    def _large_name(self, now: float) -> str:
        return warc_name(now, next(self._large_serials), self._node_name, is_large=True)

    def _open_file(self) -> GrowingFile:
        file, serial = create_growing_file(
            self._folder, self._clock.now(), self._serial, self._node_name, fsync=self._fsync
        )
        self._serial = serial + 1
        self._file = file
        self._captures = 0
        self._marker_at = 0
        self._index_complete = True
        return file

    def _write_lines(self, file: GrowingFile, lines: list[bytes]) -> None:
        """Write index lines of the growing file. A failure is ignored: they can be rebuilt from the records."""
        try:
            if self._index_fd is None:
                self._index_folder.mkdir(parents=True, exist_ok=True)
                path = self._index_folder / growing_name(file.name)
                self._index_fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o644)
            data = memoryview(b"".join(lines))
            while data:
                data = data[os.write(self._index_fd, data) :]
        except OSError:
            self._index_complete = False

    def _write_sync_marker(self, file: GrowingFile) -> None:
        """Record how much of the WARC file and of its index lines is synced, for the repair after a crash."""
        self._marker_at = file.size
        if self._index_fd is None or not self._index_complete:
            return
        try:
            if self._fsync:
                os.fdatasync(self._index_fd)
            index_bytes = os.lseek(self._index_fd, 0, os.SEEK_CUR)
            marker = SyncMarker(warc_bytes=file.size, index_bytes=index_bytes)
            write_sync_marker(self._index_folder, file.name, marker, fsync=self._fsync)
        except (OSError, ArchiveError):
            pass  # without a marker the repair is slower, but correct

    def _finish(self) -> None:
        file = self._file
        if file is None:
            return
        lines = self._lines(file)
        self._detach_file()
        # The segment is written first, so that a finished WARC file always has one, even after a power failure.
        try:
            write_segment(self._index_folder, file.name, lines, fsync=self._fsync)
            sync_marker_path(self._index_folder, file.name).unlink(missing_ok=True)
            file.finish()
        finally:
            file.close()

    def _lines(self, file: GrowingFile) -> list[bytes]:
        """The index lines of the growing file; rebuilt from its records if some could not be written."""
        if self._index_complete:
            try:
                growing = self._index_folder / growing_name(file.name)
                lines = growing.read_bytes().splitlines(keepends=True)
            except OSError:
                lines = []
            if len(lines) == self._captures:
                return lines
        return list(index_lines(self._folder / (file.name + OPEN_SUFFIX)))

    def _detach_file(self) -> None:
        """Stop writing to the growing file and its index lines, without finishing them."""
        if self._index_fd is not None:
            os.close(self._index_fd)
        self._index_fd = None
        self._file = None


def _large_body(capture: Capture | ResourceCapture) -> LargeBody | None:
    """The body that is to be written and is not in memory."""
    if isinstance(capture, ResourceCapture) or capture.original is not None:
        return None
    return capture.exchange.large


def _add(pieces: list[bytes], record: bytes) -> int:
    member = compressed(record)
    pieces.append(member)
    return len(member)


def _line(composed: compose.ExchangeRecords | compose.ResourceRecord, file: str, offset: int, length: int) -> bytes:
    return cdxj.line(
        kind=composed.kind,
        url=composed.url,
        date=composed.date,
        digest=composed.digest,
        truncated=composed.truncated,
        head=composed.head,
        content_type=composed.content_type,
        length=length,
        offset=offset,
        filename=file,
    )
