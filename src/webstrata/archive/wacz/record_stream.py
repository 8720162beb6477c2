"""Reads the WARC files of a capture record by record, in memory that does not depend on the size of a record.

It accepts only what Webstrata writes: one record in each gzip member, header lines with a name and a value, and nothing
but the two line ends after the block. Readers differ about everything else, so a file with anything else proves nothing
and its reading ends there.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator
from typing import BinaryIO, cast

from isal import igzip_lib
from msgspec import Struct

from webstrata.archive.warc import http_head

MAX_RECORD_BYTES = 1 << 30
"""Inflated. Captures keep bodies of at most 100 MB by default."""
_MAX_RATIO, _FREE_BYTES = 100, 2 << 30
"""All records of a file together may have this multiple of its size, and this size in any case."""
_MAX_HEADER_BYTES = 1 << 17
_MAX_HEAD_BYTES = 1 << 20
_INPUT_BYTES, _OUTPUT_BYTES = 1 << 16, 1 << 20
_HEADER = re.compile(rb"WARC/1\.[01]\r\n(?:[!-9;-~]+:[ \t]*[^\r\n\0]*\r\n)+\r\n")
_HEADER_END = b"\r\n\r\n"
_HEAD_END = re.compile(rb"\n\r?\n")
_INFLATE_ERROR = cast("type[Exception]", igzip_lib.error)  # its stub calls the class an instance

_FindEnd = Callable[[bytes], int]


class StreamError(Exception):
    """The bytes are not the records of a capture; the text says where and why."""


class DigestedRecord(Struct, frozen=True, kw_only=True):
    """A record without its payload: its header fields, its HTTP head, sizes and digests."""

    offset: int
    length: int
    fields: tuple[tuple[str, str], ...]
    """Names in lower case."""
    head: bytes
    """The HTTP head with its closing empty line; empty if the block is no HTTP message."""
    block_bytes: int
    sha256: str
    """Of the whole record, without compression."""
    block_digests: dict[str, bytes]
    payload_digests: dict[str, bytes]
    """Algorithm -> digest, for the algorithms that the header names."""

    def field(self, name: str) -> str:
        """The value of the first field with this name; empty without one."""
        return next((value for key, value in self.fields if key == name), "")


class RecordStream:
    """The records of a WARC file that is a range of bytes of an open file."""

    def __init__(self, file: BinaryIO, start: int, size: int) -> None:
        self._file = file
        self._start = start
        self._size = size
        self._inflated = 0

    def records(self) -> Iterator[DigestedRecord]:
        """All records in order. Raises StreamError at the first byte that is not part of one."""
        at = 0
        while at < self._size:
            member = _Member(self._file, self._start + at, self._start + self._size)
            try:
                record = _digested(member, at)
            except StreamError as problem:
                raise StreamError(f"at byte {at}: {problem}") from None
            self._inflated += member.size
            if self._inflated > max(_FREE_BYTES, _MAX_RATIO * self._size):
                raise StreamError(f"at byte {at}: the records inflate to more than {_MAX_RATIO} times their size")
            yield record
            at += member.length

    def body(self, offset: int, max_bytes: int) -> bytes | None:
        """The payload of the record at an offset; None if it is larger, or there is no record."""
        member = _Member(self._file, self._start + offset, self._start + self._size)
        collected: list[bytes] = []
        size = 0
        try:
            block = _RecordBlock(member)
            for piece in block.payload():
                size += len(piece)
                if size > max_bytes:
                    return None
                collected.append(piece)
        except StreamError:
            return None
        return b"".join(collected)


class _Member:
    """One gzip member, inflated in pieces."""

    def __init__(self, file: BinaryIO, start: int, end: int) -> None:
        self._file = file
        self._start, self._end = start, end
        self.size = 0
        """Bytes inflated so far."""
        self.length = 0
        """Compressed bytes; known at the end."""

    def pieces(self) -> Iterator[bytes]:
        engine = igzip_lib.IgzipDecompressor(flag=igzip_lib.DECOMP_GZIP)
        at = self._start
        try:
            while not engine.eof:
                data = b""
                if engine.needs_input:
                    self._file.seek(at)
                    data = self._file.read(min(_INPUT_BYTES, self._end - at))
                    if not data:
                        raise StreamError("the file ends inside a gzip member")
                    at += len(data)
                piece = engine.decompress(data, _OUTPUT_BYTES)
                self.size += len(piece)
                if self.size > MAX_RECORD_BYTES:
                    raise StreamError(f"the record inflates to more than {MAX_RECORD_BYTES} bytes")
                yield piece
        except _INFLATE_ERROR as problem:
            raise StreamError(f"not a complete gzip member ({problem})") from None
        self.length = at - self._start - len(engine.unused_data)


class _RecordBlock:
    """The block of a record: header and HTTP head are in memory, the payload follows in pieces."""

    def __init__(self, member: _Member) -> None:
        self._pieces = member.pieces()
        self.header = self._until(_header_end, _MAX_HEADER_BYTES, b"")
        self._rest = self.header[1]
        if not _HEADER.fullmatch(self.header[0]):
            raise StreamError("its first lines are not the header of a WARC record")
        self.fields = http_head.parse_fields(self.header[0])
        declared = self.field("content-length")
        if not (declared.isascii() and declared.isdigit() and len(declared) < 16):
            raise StreamError("the record has no Content-Length")
        self.size = int(declared)
        self.head = b""
        if self.field("content-type").lower().startswith("application/http"):
            self.head, self._rest = self._until(_head_end, min(self.size, _MAX_HEAD_BYTES), self._rest)

    def field(self, name: str) -> str:
        return next((value for key, value in self.fields if key == name), "")

    def payload(self) -> Iterator[bytes]:
        """The block after the HTTP head. Raises StreamError unless exactly two line ends follow it."""
        missing = self.size - len(self.head)
        tail = b""
        piece = self._rest
        while True:
            if missing:
                taken = piece[:missing]
                missing -= len(taken)
                if taken:
                    yield taken
                piece = piece[len(taken) :]
            tail += piece
            if len(tail) > len(_HEADER_END):
                break
            following = next(self._pieces, None)
            if following is None:
                break
            piece = following
        if missing or tail != _HEADER_END:
            raise StreamError("the record is not as long as its header says")

    def _until(self, end_of: _FindEnd, limit: int, start: bytes) -> tuple[bytes, bytes]:
        """The bytes up to an end that is within the limit, and those read after it."""
        collected = start
        while (end := end_of(collected[:limit])) < 0 and len(collected) < limit:
            piece = next(self._pieces, None)
            if piece is None:
                raise StreamError("the record is not complete")
            collected += piece
        end = min(limit, len(collected)) if end < 0 else end
        return collected[:end], collected[end:]


def _header_end(data: bytes) -> int:
    found = data.find(_HEADER_END)
    return -1 if found < 0 else found + len(_HEADER_END)


def _head_end(data: bytes) -> int:
    found = _HEAD_END.search(data)
    return -1 if found is None else found.end()


def _digested(member: _Member, offset: int) -> DigestedRecord:
    block = _RecordBlock(member)
    whole = hashlib.sha256(block.header[0] + block.head)
    of_block = _hashes(block.field("warc-block-digest"), block.head)
    of_payload = _hashes(block.field("warc-payload-digest"), b"")
    for piece in block.payload():
        for state in (whole, *of_block.values(), *of_payload.values()):
            state.update(piece)
    whole.update(_HEADER_END)
    return DigestedRecord(
        offset=offset,
        length=member.length,
        fields=block.fields,
        head=block.head,
        block_bytes=block.size,
        sha256=whole.hexdigest(),
        block_digests={name: state.digest() for name, state in of_block.items()},
        payload_digests={name: state.digest() for name, state in of_payload.items()},
    )


def _hashes(label: str, start: bytes) -> dict[str, hashlib._Hash]:
    """The algorithm that a digest names, ready to be used; nothing if it is not known."""
    name = label.partition(":")[0].strip().lower().replace("-", "")
    if name not in ("sha1", "sha256", "sha512", "md5"):
        return {}
    return {name: hashlib.new(name, start, usedforsecurity=False)}
