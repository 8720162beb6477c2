"""Gzip members of a file, one by one, with what is damaged between them.

A WARC file is a chain of gzip members, one for each record. The only way to know where a member ends, and that
it is whole, is to inflate it: its checksum and length stand behind the data.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO, Literal, cast

from isal import isal_zlib
from msgspec import Struct

MAGIC = b"\x1f\x8b\x08"

# One read. Deflate expands at most 1032 times, so a hostile read inflates to at most 66 MB.
_CHUNK_BYTES = 64 * 1024

# Nothing of ours is larger: a capture is made in memory. A foreign member beyond it is called damaged.
MAX_MEMBER_BYTES = 4 * 1024**3

_INFLATE_ERROR = cast("type[Exception]", isal_zlib.error)  # its stub has the type wrong

# How much of a member's data readers hold by default.
MAX_DATA_BYTES = 1024**3


class GzipMember(Struct, frozen=True, kw_only=True, gc=False):
    """A whole member: its checksum and length are right."""

    offset: int
    length: int
    """Bytes in the file."""
    data: bytes
    """Inflated, up to the bytes that were to be kept."""
    size: int
    """Bytes inflated."""


class DamagedBytes(Struct, frozen=True, kw_only=True, gc=False):
    """Bytes of a file that are no whole member (or record)."""

    offset: int
    length: int
    kind: Literal["torn", "damaged", "shape"]
    """`torn`: the file ends too early; `damaged`: bytes are wrong; `shape`: readable, but not as it must be."""
    what: str


class _Broken(Exception):  # noqa: N818 - never leaves this file
    def __init__(self, kind: Literal["torn", "damaged"], what: str) -> None:
        self.kind = kind
        self.what = what


def members(file: BinaryIO, start: int = 0, keep: int = MAX_DATA_BYTES) -> Iterator[GzipMember | DamagedBytes]:
    """All members from `start` on. Behind damage the scan goes on at the next member that is whole."""
    at = start
    file.seek(at)
    rest = b""
    while True:
        if not rest and not (rest := file.read(_CHUNK_BYTES)):
            return
        try:
            member, rest = _inflate(file, at, rest, keep)
        except _Broken as broken:
            found = _next_whole(file, at + 1, keep)
            end = found[0].offset if found else _size(file)
            # An end of file is only the reason where nothing whole stands behind.
            kind = broken.kind if not found else "damaged"
            yield DamagedBytes(offset=at, length=end - at, kind=kind, what=broken.what)
            if not found:
                return
            member, rest = found
        yield member
        at = member.offset + member.length


def member_at(file: BinaryIO, offset: int, keep: int = MAX_DATA_BYTES) -> GzipMember | DamagedBytes | None:
    """The one member that starts here; nothing behind it is read for its own sake."""
    file.seek(offset)
    first = file.read(_CHUNK_BYTES)
    if not first:
        return None
    try:
        return _inflate(file, offset, first, keep)[0]
    except _Broken as broken:
        return DamagedBytes(offset=offset, length=0, kind=broken.kind, what=broken.what)


def _inflate(file: BinaryIO, at: int, buffer: bytes, keep: int) -> tuple[GzipMember, bytes]:
    """The member whose first bytes are in `buffer`, and the bytes read beyond it."""
    inflater = isal_zlib.decompressobj(31)
    kept: list[bytes] = []
    size = consumed = 0
    while True:
        try:
            out = inflater.decompress(buffer)
        except _INFLATE_ERROR as error:
            raise _Broken("damaged", f"not a whole gzip member ({error})") from None
        if size < keep:
            kept.append(out if size + len(out) <= keep else out[: keep - size])
        size += len(out)
        if size > MAX_MEMBER_BYTES:
            raise _Broken("damaged", f"gzip member inflates to more than {MAX_MEMBER_BYTES} bytes")
        if inflater.eof:
            rest: bytes = inflater.unused_data
            consumed += len(buffer) - len(rest)
            data = kept[0] if len(kept) == 1 else b"".join(kept)
            return GzipMember(offset=at, length=consumed, data=data, size=size), rest
        consumed += len(buffer)
        buffer = file.read(_CHUNK_BYTES)
        if not buffer:
            raise _Broken("torn", "the file ends inside a gzip member")


def _next_whole(file: BinaryIO, start: int, keep: int) -> tuple[GzipMember, bytes] | None:
    """The first whole member at or behind `start`."""
    at = start
    while (at := _find_magic(file, at)) >= 0:
        file.seek(at)
        try:
            return _inflate(file, at, file.read(_CHUNK_BYTES), keep)
        except _Broken:
            at += 1
    return None


def _find_magic(file: BinaryIO, start: int) -> int:
    file.seek(start)
    tail = b""
    at = start
    while chunk := file.read(_CHUNK_BYTES):
        window = tail + chunk
        found = window.find(MAGIC)
        if found >= 0:
            return at - len(tail) + found
        tail = window[-(len(MAGIC) - 1) :]
        at += len(chunk)
    return -1


def _size(file: BinaryIO) -> int:
    return file.seek(0, 2)
