"""Compressed contents that decode to many times their size, made without holding the decoded content in memory."""

from __future__ import annotations

import struct
import zlib

_HEAD = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\xff"


def repeated_deflate(unit: bytes, times: int) -> bytes:
    """Raw deflate of a unit that is repeated: the same block for each repetition."""
    stream = zlib.compressobj(9, zlib.DEFLATED, -15)
    block = stream.compress(unit) + stream.flush(zlib.Z_FULL_FLUSH)
    return block * times + stream.flush()


def repeated_gzip(unit: bytes, times: int, before: bytes = b"", after: bytes = b"") -> bytes:
    """A gzip member of `before`, a unit that is repeated, and `after`."""
    checksum = zlib.crc32(before)
    for _ in range(times):
        checksum = zlib.crc32(unit, checksum)
    checksum = zlib.crc32(after, checksum)
    length = (len(before) + times * len(unit) + len(after)) & 0xFFFF_FFFF
    first = zlib.compressobj(9, zlib.DEFLATED, -15)
    head = first.compress(before) + first.flush(zlib.Z_FULL_FLUSH)
    stream = zlib.compressobj(9, zlib.DEFLATED, -15)
    block = stream.compress(unit) + stream.flush(zlib.Z_FULL_FLUSH)
    last = zlib.compressobj(9, zlib.DEFLATED, -15)
    end = last.compress(after) + last.flush()
    return _HEAD + head + block * times + end + struct.pack("<II", checksum, length)
