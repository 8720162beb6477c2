"""The gzip members of a file: compressing one, and reading them one by one with the damaged bytes between them.

A WARC file is a sequence of gzip members, one for each record. A member must be inflated to find its end and to verify
that it is complete: its checksum and length follow the data.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import BinaryIO, Literal, NamedTuple, cast

from isal import isal_zlib
from msgspec import Struct

MAGIC = b"\x1f\x8b\x08"

# ISA-L level 2 is the fastest; level 3 halves the speed for 0.7 % (docs/decisions/0009-own-warc-code.md).
_LEVEL = 2
_GZIP = 31

# Bytes per read. Deflate expands at most 1032 times, so the bytes of one read inflate to at most 66 MB.
_CHUNK_BYTES = 64 * 1024

# A larger member is taken as damaged. A record of Webstrata holds one body, which `fetch.max_body` limits.
MAX_MEMBER_BYTES = 1024**4

_INFLATE_ERROR = cast("type[Exception]", isal_zlib.error)  # its type stub is wrong

# How much of a member's data is kept in memory by default.
MAX_DATA_BYTES = 1024**3


def compressed(data: bytes) -> bytes:
    """One member with this data."""
    member: bytes = isal_zlib.compress(data, _LEVEL, _GZIP)
    return member


def compressed_pieces(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """One member with the data of all pieces, piece by piece."""
    engine = isal_zlib.compressobj(_LEVEL, isal_zlib.DEFLATED, _GZIP)
    for piece in pieces:
        yield engine.compress(piece)
    yield engine.flush()


def inflated(member: bytes) -> bytes:
    """The data of one member."""
    data: bytes = isal_zlib.decompress(member, _GZIP)
    return data


class GzipMember(Struct, frozen=True, kw_only=True, gc=False):
    """A complete member: its checksum and length are correct."""

    offset: int
    length: int
    """Compressed, in the file."""
    data: bytes
    """Inflated, as much of it as `KeptData` says."""
    size: int
    """Bytes of the inflated data, including those that were not kept."""


class DamagedBytes(Struct, frozen=True, kw_only=True, gc=False):
    """Bytes of a file that are not a complete gzip member (or record)."""

    offset: int
    length: int
    kind: Literal["torn", "damaged", "shape"]
    """`torn`: the file ends too early; `damaged`: bytes are wrong; `shape`: readable, but not one record per member."""
    what: str
    """What is wrong."""


class _BrokenMember(Exception):  # noqa: N818 - raised and caught in this module only
    def __init__(self, kind: Literal["torn", "damaged"], what: str) -> None:
        self.kind = kind
        self.what = what


class KeptData(NamedTuple):
    """How much of the data of a member is kept in memory."""

    max_bytes: int = MAX_DATA_BYTES
    of_larger: int | None = None
    """Of a member with more data: as much, if less is needed than `max_bytes`."""


_KEPT = KeptData()


def members(file: BinaryIO, start: int = 0, kept: KeptData = _KEPT) -> Iterator[GzipMember | DamagedBytes]:
    """All members from `start` on. After damaged bytes the scan continues at the next complete member."""
    at = start
    file.seek(at)
    rest = b""
    while True:
        if not rest and not (rest := file.read(_CHUNK_BYTES)):
            return
        try:
            member, rest = _inflate(file, at, rest, kept)
        except _BrokenMember as broken:
            following = _next_complete(file, at + 1, kept)
            end = following[0].offset if following else file.seek(0, 2)
            # The file is torn only if no complete member follows.
            kind = broken.kind if not following else "damaged"
            yield DamagedBytes(offset=at, length=end - at, kind=kind, what=broken.what)
            if not following:
                return
            member, rest = following
        yield member
        at = member.offset + member.length


def member_at(file: BinaryIO, offset: int, kept: KeptData = _KEPT) -> GzipMember | DamagedBytes | None:
    """The member that starts at `offset`; None at the end of the file."""
    file.seek(offset)
    first = file.read(_CHUNK_BYTES)
    if not first:
        return None
    try:
        return _inflate(file, offset, first, kept)[0]
    except _BrokenMember as broken:
        return DamagedBytes(offset=offset, length=0, kind=broken.kind, what=broken.what)


def _inflate(file: BinaryIO, at: int, buffer: bytes, limits: KeptData) -> tuple[GzipMember, bytes]:
    """The member whose first bytes are in `buffer`, and the bytes read after its end."""
    inflater = isal_zlib.decompressobj(31)
    kept: list[bytes] = []
    size = consumed = 0
    while True:
        try:
            out = inflater.decompress(buffer)
        except _INFLATE_ERROR as error:
            raise _BrokenMember("damaged", f"not a complete gzip member ({error})") from None
        if size < limits.max_bytes:
            kept.append(out if size + len(out) <= limits.max_bytes else out[: limits.max_bytes - size])
        size += len(out)
        if limits.of_larger is not None and size > limits.max_bytes:
            kept, limits = [_start(kept, limits.of_larger)], KeptData(max_bytes=0)
        if size > MAX_MEMBER_BYTES:
            raise _BrokenMember("damaged", f"gzip member inflates to more than {MAX_MEMBER_BYTES} bytes")
        if inflater.eof:
            rest: bytes = inflater.unused_data
            consumed += len(buffer) - len(rest)
            data = kept[0] if len(kept) == 1 else b"".join(kept)
            return GzipMember(offset=at, length=consumed, data=data, size=size), rest
        consumed += len(buffer)
        buffer = file.read(_CHUNK_BYTES)
        if not buffer:
            raise _BrokenMember("torn", "the file ends inside a gzip member")


def _start(parts: list[bytes], size: int) -> bytes:
    """The first `size` bytes; the parts are emptied."""
    start = b""
    for part in parts:
        start += part[: size - len(start)]
        if len(start) >= size:
            break
    parts.clear()
    return start


def _next_complete(file: BinaryIO, start: int, kept: KeptData) -> tuple[GzipMember, bytes] | None:
    """The first complete member at or after `start`."""
    at = start
    while (at := _find_magic(file, at)) >= 0:
        file.seek(at)
        try:
            return _inflate(file, at, file.read(_CHUNK_BYTES), kept)
        except _BrokenMember:
            at += 1
    return None


def _find_magic(file: BinaryIO, start: int) -> int:
    """The offset of the next gzip header at or after `start`; -1 if there is none."""
    file.seek(start)
    tail = b""
    at = start
    while chunk := file.read(_CHUNK_BYTES):
        window = tail + chunk
        index = window.find(MAGIC)
        if index >= 0:
            return at - len(tail) + index
        tail = window[-(len(MAGIC) - 1) :]
        at += len(chunk)
    return -1
