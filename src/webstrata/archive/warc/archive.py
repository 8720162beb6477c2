"""The archive port on WARC 1.1 files: one gzip member for each record, one sync for each batch.

    append(captures) ─► compose ─► compress ─► one write ─► one sync ─► index lines ─► positions

All of it happens in one writer thread, so batches never mix. A file grows as `NAME.warc.gz.open` beside its index
lines in `NAME.cdxj.open`; finished, it gets its final name and a sorted segment.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Literal

from isal import isal_zlib

from webstrata.archive.index import cdxj
from webstrata.archive.index.segment import (
    SyncMarker,
    growing_name,
    index_lines,
    remove_sync_marker,
    write_segment,
    write_sync_marker,
)
from webstrata.archive.warc import compose
from webstrata.archive.warc.growing import GrowingFile, create
from webstrata.archive.warc.reader import WarcCapture, WarcReader
from webstrata.archive.warc.walk import OPEN_SUFFIX
from webstrata.clock import digits14
from webstrata.errors import ArchiveError
from webstrata.ports import Clock
from webstrata.records import Capture, Position, ResourceCapture

# ISA-L level 2 is the fastest; level 3 halves the speed for 0.7 % (docs/decisions/0009-own-warc-code.md).
_LEVEL = 2
_GZIP = 31

# Between two marks (a sync of the index lines); a start after a crash reads at most this much of a file again.
_MARK_BYTES = 64 * 1024 * 1024

# Sorting a segment holds its lines in memory; this bounds it at about 100 MB for files of many small records.
_ROTATE_CAPTURES = 250_000


class WarcArchive:
    """Append-only captures in a folder. Safe to call from one event loop; one process writes a folder."""

    def __init__(
        self,
        folder: Path,
        *,
        software: str,
        operator: str | None,
        clock: Clock,
        rotate_bytes: int = 1_000_000_000,
        fsync: bool = True,
        index_folder: Path | None = None,
    ) -> None:
        self._folder = folder
        self._index_folder = index_folder or folder.parent / "index"
        self._software = software
        self._operator = operator
        self._clock = clock
        self._rotate_bytes = rotate_bytes
        self._fsync = fsync
        self._ids = compose.record_ids()
        self._serial = 0
        self._file: GrowingFile | None = None
        self._captures = 0
        self._marked = 0
        self._index_whole = True
        self._index_fd: int | None = None
        self._closed = False
        self._reader = WarcReader(folder, self._index_folder)
        self._writer = ThreadPoolExecutor(1, thread_name_prefix="warc-writer")

    async def append(self, captures: Sequence[Capture | ResourceCapture]) -> list[Position]:
        """Write and sync; one position per capture, in order. Raises ArchiveError with nothing acknowledged."""
        if not captures:
            return []
        with self._clock.working():
            loop = asyncio.get_running_loop()
            return await loop.run_in_executor(self._writer, self._append, captures)

    async def read(self, position: Position) -> WarcCapture:
        """A capture back from the disk; of a revisit, with the original's body."""
        with self._clock.working():
            return await asyncio.to_thread(self._reader.read, position)

    async def close(self) -> None:
        """Finish the growing file: it gets its final name and its index segment. Closing twice is harmless."""
        if self._closed:
            return
        self._closed = True
        with self._clock.working():
            loop = asyncio.get_running_loop()
            try:
                await loop.run_in_executor(self._writer, self._finish)
            finally:
                self._writer.shutdown(wait=False)
                self._reader.close()

    # ── in the writer thread ────────────────────────────────────────────────────────────────────────────────

    def _append(self, captures: Sequence[Capture | ResourceCapture]) -> list[Position]:
        file = self._file or self._start()
        pieces: list[bytes] = []
        end = file.size
        if not end:
            about = compose.warcinfo(next(self._ids), self._clock.now(), file.name, self._software, self._operator)
            end += _add(pieces, about)
        positions: list[Position] = []
        lines: list[bytes] = []
        for capture in captures:
            made = self._composed(capture)
            length = _add(pieces, made.record)
            positions.append(_position(made, file.name, end, length))
            lines.append(_line(made, file.name, end, length))
            end += length
            if made.request:
                end += _add(pieces, made.request)
        try:
            file.append(b"".join(pieces))
        except ArchiveError:
            self._forget()
            raise
        self._write_lines(lines)
        self._captures += len(captures)
        if file.size >= self._rotate_bytes or self._captures >= _ROTATE_CAPTURES:
            self._rotate()
        elif file.size - self._marked >= _MARK_BYTES:
            self._mark(file)
        return positions

    def _composed(self, capture: Capture | ResourceCapture) -> compose.ExchangeRecords | compose.ResourceRecord:
        if isinstance(capture, ResourceCapture):
            return compose.ResourceRecord(capture, next(self._ids))
        return compose.ExchangeRecords(capture, next(self._ids), next(self._ids))

    def _start(self) -> GrowingFile:
        stem = f"webstrata-{digits14(self._clock.now())}"
        file, serial = create(self._folder, stem, self._serial, fsync=self._fsync)
        self._serial = serial + 1
        self._file = file
        self._captures = 0
        self._marked = 0
        self._index_whole = True
        return file

    def _write_lines(self, lines: list[bytes]) -> None:
        """Lines for readers meanwhile. They can be made again from the records, so a failure here is none."""
        try:
            if self._index_fd is None and self._file is not None:
                self._index_folder.mkdir(parents=True, exist_ok=True)
                path = self._index_folder / growing_name(self._file.name)
                self._index_fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o644)
            if self._index_fd is not None:
                data = memoryview(b"".join(lines))
                while data:
                    data = data[os.write(self._index_fd, data) :]
        except OSError:
            self._index_whole = False

    def _mark(self, file: GrowingFile) -> None:
        """Tell a later start how much of the index lines it can trust."""
        self._marked = file.size
        if self._index_fd is None or not self._index_whole:
            return
        try:
            if self._fsync:
                os.fdatasync(self._index_fd)
            index_bytes = os.lseek(self._index_fd, 0, os.SEEK_CUR)
            marker = SyncMarker(warc_bytes=file.size, index_bytes=index_bytes)
            write_sync_marker(self._index_folder, file.name, marker, fsync=self._fsync)
        except (OSError, ArchiveError):
            pass  # without a mark the start is slower, not wrong

    def _rotate(self) -> None:
        """The captures are safe whether or not this works; a disk that is full says so at the next append."""
        with suppress(ArchiveError):
            self._finish()

    def _finish(self) -> None:
        file = self._file
        if file is None:
            return
        lines = self._lines(file)
        self._forget()
        # The segment first: a finished WARC always has one, whenever the power goes.
        try:
            write_segment(self._index_folder, file.name, lines, fsync=self._fsync)
            remove_sync_marker(self._index_folder, file.name)
            file.finish()
        finally:
            file.abandon()

    def _lines(self, file: GrowingFile) -> list[bytes]:
        if self._index_whole:
            try:
                growing = self._index_folder / growing_name(file.name)
                lines = growing.read_bytes().splitlines(keepends=True)
            except OSError:
                lines = []
            if len(lines) == self._captures:
                return lines
        return list(index_lines(self._folder / (file.name + OPEN_SUFFIX)))

    def _forget(self) -> None:
        if self._index_fd is not None:
            os.close(self._index_fd)
        self._index_fd = None
        self._file = None


def _add(pieces: list[bytes], record: bytes) -> int:
    member: bytes = isal_zlib.compress(record, _LEVEL, _GZIP)
    pieces.append(member)
    return len(member)


def _position(made: compose.ExchangeRecords | compose.ResourceRecord, file: str, offset: int, length: int) -> Position:
    kind: Literal["response", "revisit", "resource"] = made.kind
    return Position(file=file, offset=offset, length=length, record_id=made.record_id, kind=kind)


def _line(made: compose.ExchangeRecords | compose.ResourceRecord, file: str, offset: int, length: int) -> bytes:
    return cdxj.line(
        kind=made.kind,
        url=made.url,
        date=made.date,
        digest=made.digest,
        truncated=made.truncated,
        head=made.head,
        content_type=made.content_type,
        length=length,
        offset=offset,
        filename=file,
    )
