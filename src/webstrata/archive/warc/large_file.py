"""`LargeFile`: a WARC file of its own for one body that is not in memory.

    composed record ─► NAME.warc.gz.part ─► sync ─► NAME.warc.gz ─► index segment

The body is read twice: for the digest of the block, which precedes it in the record, and for the record. A crash
leaves the file with the suffix `.part`, which the repair at the next start removes; an index segment that is missing is
written by the same repair. The file is not named `.open`: half of a large record is worth nothing.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from itertools import chain
from pathlib import Path

from webstrata.archive.index.segment import write_segment
from webstrata.archive.warc import compose
from webstrata.archive.warc.growing import sync_folder, unwritable
from webstrata.archive.warc.members import compressed, compressed_pieces
from webstrata.errors import ArchiveError
from webstrata.records import LargeBody, Position

PART_SUFFIX = ".part"

_SYNC_BYTES = 64 * 2**20
"""Bytes between two syncs: one sync of a whole body would delay those of the batches that are written meanwhile."""


class LargeFile:
    """Writes one file. The captures of other files are not delayed, if this is called in a thread of its own."""

    def __init__(self, folder: Path, name: str, *, fsync: bool, is_stopped: Callable[[], bool]) -> None:
        """`name` must not be used in the folder. If `is_stopped` becomes true, the file is removed."""
        self._folder = folder
        self._name = name
        self._part = folder / (name + PART_SUFFIX)
        self._fsync = fsync
        self._is_stopped = is_stopped
        self._fd = -1
        self._size = 0
        self._synced = 0

    def write(self, about: bytes, composed: compose.ExchangeRecords, body: LargeBody) -> Position:
        """Write the `warcinfo` record, the response with its body, and the request. Raises ArchiveError."""
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            self._fd = os.open(self._part, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o644)
            self._put(compressed(about))
            offset = self._size
            for piece in compressed_pieces(chain([composed.record], body.pieces(), [compose.RECORD_END])):
                if self._is_stopped():
                    raise ArchiveError("the crawl was stopped while a large body was written. It is requested again.")
                self._put(piece)
            length = self._size - offset
            self._put(compressed(composed.request))
            if self._fsync:
                os.fsync(self._fd)
            self._part.rename(self._folder / self._name)
            sync_folder(self._folder, self._fsync)
        except OSError as error:
            raise unwritable(self._part, error) from error
        finally:
            if self._fd >= 0:
                os.close(self._fd)
            with suppress(OSError):
                self._part.unlink()  # nothing if it was renamed
        return Position(file=self._name, offset=offset, length=length, record_id=composed.record_id, kind=composed.kind)

    def _put(self, data: bytes) -> None:
        view = memoryview(data)
        while view:
            view = view[os.write(self._fd, view) :]
        self._size += len(data)
        if self._fsync and self._size - self._synced >= _SYNC_BYTES:
            os.fdatasync(self._fd)
            self._synced = self._size


def index_large_file(index_folder: Path, name: str, line: bytes, *, fsync: bool) -> None:
    """Write the segment of a file. A failure is ignored: the repair at the next start writes it."""
    with suppress(ArchiveError):
        write_segment(index_folder, name, [line], fsync=fsync)
