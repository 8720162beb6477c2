"""Reading of one record piece by piece, in memory that does not depend on its size.

`ArchivedBody` is the body of a record that is too large to be read as a whole.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable, Iterator
from functools import cached_property
from pathlib import Path
from typing import cast

from isal import igzip_lib
from msgspec import Struct

from webstrata.archive.warc import http_head
from webstrata.archive.warc.members import MAGIC
from webstrata.archive.warc.record import WarcRecord, parse_record
from webstrata.errors import ArchiveError

_INPUT_BYTES, _OUTPUT_BYTES = 2**16, 2**20
HEAD_BYTES = 2**20
"""Enough for the header of a record and an HTTP head."""
_INFLATE_ERROR = cast("type[Exception]", igzip_lib.error)  # its stub calls the class an instance


def member_pieces(path: Path, offset: int) -> Iterator[bytes]:
    """The bytes from `offset` on: those of one gzip member, inflated, or of an uncompressed file to its end.

    Raises ArchiveError if the member is not complete.
    """
    with path.open("rb", buffering=0) as file:
        file.seek(offset)
        data = file.read(_INPUT_BYTES)
        if not data.startswith(MAGIC[:2]):
            while data:
                yield data
                data = file.read(_OUTPUT_BYTES)
            return
        engine = igzip_lib.IgzipDecompressor(flag=igzip_lib.DECOMP_GZIP)
        try:
            while not engine.eof:
                piece = engine.decompress(data, _OUTPUT_BYTES)
                if piece:
                    yield piece
                data = b""
                if not engine.eof and engine.needs_input and not (data := file.read(_INPUT_BYTES)):
                    raise ArchiveError(f"{path.name} ends inside the record at byte {offset}")
        except _INFLATE_ERROR as problem:
            raise ArchiveError(f"{path.name} is damaged in the record at byte {offset} ({problem})") from None


class RecordStart(Struct, frozen=True, kw_only=True):
    """The beginning of a record: its fields, its HTTP head, and where its block begins."""

    record: WarcRecord
    """`block` has only the first bytes."""
    block_at: int
    """Inflated bytes before the block."""
    head: bytes
    """The HTTP head; empty if the block is not an HTTP message."""
    is_compressed: bool


def record_start(path: Path, offset: int) -> RecordStart:
    """Read the beginning of the record at an offset. Raises ArchiveError if there is none."""
    collected = bytearray()
    for piece in member_pieces(path, offset):
        collected += piece
        if len(collected) >= HEAD_BYTES:
            break
    data = bytes(collected)
    parsed = parse_record(data, 0, len(data))
    if parsed is None or parsed[0].declared is None:
        raise ArchiveError(f"{path.name} has no record at byte {offset}")
    record, end = parsed
    head = http_head.split_head(record.block)[0] if record.http else b""
    with path.open("rb", buffering=0) as file:
        file.seek(offset)
        is_compressed = file.read(2) == MAGIC[:2]
    return RecordStart(record=record, block_at=end - record.size, head=head, is_compressed=is_compressed)


def block_pieces(path: Path, offset: int, start: RecordStart, skipped: int = 0) -> Iterator[bytes]:
    """The block of a record without its first `skipped` bytes. Raises ArchiveError if it is not complete."""
    skip = start.block_at + skipped
    missing = (start.record.declared or 0) - skipped
    for piece in member_pieces(path, offset):
        if skip >= len(piece):
            skip -= len(piece)
            continue
        taken = piece[skip : skip + missing]
        skip = 0
        missing -= len(taken)
        if taken:
            yield taken
        if not missing and not start.is_compressed:  # the rest of a gzip member is read: its checksum is at the end
            break
    if missing > 0:
        raise ArchiveError(f"{path.name} ends inside the record at byte {offset}")


class ArchivedBody:
    """The body of a record (`records.LargeBody`)."""

    def __init__(self, find: Callable[[], Path], offset: int) -> None:
        """`find` returns the present path of the file: a growing file is renamed when it is finished."""
        self._find = find
        self._offset = offset
        self._start = record_start(find(), offset)
        self.size = (self._start.record.declared or 0) - len(self._start.head)

    def pieces(self) -> Iterator[bytes]:
        return block_pieces(self._find(), self._offset, self._start, len(self._start.head))

    @property
    def payload(self) -> str:
        return "sha1:" + base64.b32encode(self._digests[0]).decode()

    @property
    def sha256(self) -> str:
        return self._digests[1].hex()

    @cached_property
    def _digests(self) -> tuple[bytes, bytes]:
        sha1, sha256 = hashlib.sha1(usedforsecurity=False), hashlib.sha256()
        for piece in self.pieces():
            sha1.update(piece)
            sha256.update(piece)
        return sha1.digest(), sha256.digest()
