"""The lines of a text file of any size, plain or gzip, with limits: memory does not grow with a line or with the file.

Damaged gzip data costs the lines of the damaged member: reading goes on at the next member, if there is one.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, NamedTuple

from webstrata.errors import UsageError

MAX_LINE_BYTES = 64 * 1024
_TOO_LONG = "the line is longer than 64 KB"
_READ_BYTES = 1 << 16
_INFLATED_BYTES = 1 << 20
_SEARCH_BYTES = 1 << 10
"""So much is read at a time of what may be the next member after damage."""
_MAX_DAMAGED = 1_000
"""Damaged places one after the other, without any data that can be read between them."""
_MAGIC = b"\x1f\x8b\x08"
_GZIP = 16 + zlib.MAX_WBITS


class FileLine(NamedTuple):
    """A line, or a place that cannot be read."""

    number: int
    end: int
    """The offset after the line, in the uncompressed file."""
    text: bytes
    """Without the line ending; of a line that is too long, its beginning."""
    problem: str = ""
    """What is wrong with the line as a line; empty if nothing is."""


class TextLines:
    """Reads the lines of a file, from the start or from the end of a line that was read before."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            self.size = path.stat().st_size
            with path.open("rb") as file:
                self.beginning = file.read(1 << 16)
        except OSError as problem:
            raise UsageError(f"cannot read {path}: {problem.strerror}. Check the path and its permissions.") from None
        self._bytes_read = 0

    @property
    def is_gzip(self) -> bool:
        return self.beginning.startswith(_MAGIC)

    @property
    def done(self) -> float:
        """The share of the file that was read."""
        return min(1.0, self._bytes_read / self.size) if self.size else 1.0

    def read(self, offset: int = 0, number: int = 0) -> Iterator[FileLine]:
        """The lines after this offset; `number`: of the line that ends there."""
        self._bytes_read = 0
        with self.path.open("rb", buffering=0) as file:
            if not self.is_gzip and offset:
                self._bytes_read = file.seek(offset)
            parts = self._inflated(file) if self.is_gzip else self._plain(file)
            skipped = offset if self.is_gzip else 0
            yield from _lines(parts, skipped, offset - skipped, number)

    def _plain(self, file: BinaryIO) -> Iterator[bytes | str]:
        while data := file.read(_READ_BYTES):
            self._bytes_read += len(data)
            yield data

    def _inflated(self, file: BinaryIO) -> Iterator[bytes | str]:
        """The uncompressed bytes of all members, and sentences about damage."""
        inflater = zlib.decompressobj(_GZIP)
        data, at, step, damaged = b"", 0, _READ_BYTES, 0
        is_inside = False
        while True:
            if at >= len(data):
                data, at = self._next(file), 0
                if not data:
                    break
            if not is_inside and data[at] == 0:  # some tools fill blocks with zeros
                data, at = data[at:].lstrip(b"\0"), 0
                continue
            piece = data[at : at + step]
            try:
                out = inflater.decompress(piece, _INFLATED_BYTES)
            except zlib.error as problem:
                damaged += 1
                if damaged > _MAX_DAMAGED:
                    yield "the gzip data is damaged in too many places; the rest of the file is not read"
                    return
                if is_inside or piece.startswith(_MAGIC):
                    yield f"the gzip data is damaged ({problem}); the next member is read"
                data, at = self._from_magic(file, data, at + 1)
                inflater, is_inside, step = zlib.decompressobj(_GZIP), False, _SEARCH_BYTES
                continue
            at += len(piece) - len(inflater.unused_data or inflater.unconsumed_tail)
            is_inside = True
            if out:
                yield out
                step, damaged = _READ_BYTES, 0
            if inflater.eof:
                inflater, is_inside = zlib.decompressobj(_GZIP), False
        if is_inside:
            yield "the file ends inside its gzip data"

    def _next(self, file: BinaryIO) -> bytes:
        data = file.read(_READ_BYTES)
        self._bytes_read += len(data)
        return data

    def _from_magic(self, file: BinaryIO, data: bytes, at: int) -> tuple[bytes, int]:
        """The bytes with the next beginning of a gzip member, and its place; none at the end of the file."""
        while (found := data.find(_MAGIC, at)) < 0:
            more = self._next(file)
            if not more:
                return b"", 0
            data, at = data[-2:] + more, 0
        return data, found


def _lines(parts: Iterator[bytes | str], skipped: int, end: int, number: int) -> Iterator[FileLine]:
    """The lines of a stream of which the first `skipped` bytes are left out; `end`: the offset where it starts."""
    rest = b""
    cut = b""
    is_cut = False
    for part in parts:
        if isinstance(part, str):
            number += 1
            yield FileLine(number, end, b"", part)
            rest, is_cut = b"", False
            continue
        if skipped:
            dropped = min(skipped, len(part))
            skipped, end, part = skipped - dropped, end + dropped, part[dropped:]
        *lines, rest = (rest + part).split(b"\n") if rest else part.split(b"\n")
        for line in lines:
            number += 1
            end += len(line) + 1
            if is_cut or len(line) > MAX_LINE_BYTES:
                yield FileLine(number, end, (cut if is_cut else line)[:200], _TOO_LONG)
                is_cut = False
            else:
                yield FileLine(number, end, line.removesuffix(b"\r"))
        if len(rest) > MAX_LINE_BYTES:
            if not is_cut:
                cut, is_cut = rest[:200], True
            end += len(rest)
            rest = b""
    if rest or is_cut:
        end += len(rest)
        problem = _TOO_LONG if is_cut else ""
        yield FileLine(number + 1, end, cut if is_cut else rest.removesuffix(b"\r"), problem)
