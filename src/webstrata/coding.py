"""Decoding of the content codings gzip, deflate, br and zstd, with a limit on the size of the result.

Decoding is streamed and stops at the limit, so that a decompression bomb takes no more memory than a harmless body of
that size. If a body does not match its Content-Encoding header, decoding stops before the step that fails, the bytes
decoded so far are returned, and the problem is reported.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, cast

import brotli
import zstandard
from isal import igzip_lib
from msgspec import Struct

MAX_RATIO = 1000.0
"""A body may be decoded to at most this multiple of its size."""
MAX_CODINGS = 3
"""Maximum number of codings applied one after the other; most servers use one."""

_PIECE = 64 * 1024
_RATIO_FREE_BYTES = 1024 * 1024
"""Results up to this size may have any compression ratio: a page of blanks is not an attack."""
_MAX_MEMBERS = 1000
"""Each gzip member needs a new decoder; a body of thousands of empty members would only burn processor time."""
_MAX_ZSTD_WINDOW = 8 * 1024 * 1024
"""RFC 9659 allows no larger window in HTTP."""
_GZIP_MAGIC = b"\x1f\x8b\x08"
_MAGICS = (_GZIP_MAGIC, zstandard.FRAME_HEADER)
"""A body that begins with one of these was compressed, even if it cannot be decoded."""
_InflateError = cast("type[Exception]", igzip_lib.error)  # its stub calls the class an instance


class Decoded(Struct, frozen=True, kw_only=True, gc=False):
    """A body without its content coding."""

    body: bytes
    problem: str | None = None
    """If set, why the body is not what its header declares, or not all of it."""
    torn: bool = False
    """The data ends early or is damaged in the middle: the body is only the beginning of the content."""


class _Step(NamedTuple):
    """The result of removing one coding; `body` is None if the bytes do not have this coding."""

    body: bytes | None
    problem: str | None = None
    torn: bool = False


def decode(body: bytes, content_encoding: str | None, *, max_bytes: int, max_ratio: float = MAX_RATIO) -> Decoded:
    """Remove the codings that a Content-Encoding header lists, the last one first.

    The result has at most `max_bytes`; if it is larger than 1 MiB, it has at most `max_ratio` times the size of
    `body`. A result that is cut there, ends early or has another coding than the header declares comes with a problem.
    """
    if not body or content_encoding is None:
        return Decoded(body=body)
    parts = (part.strip() for part in content_encoding.lower().split(","))
    names = [name for name in parts if name not in ("", "identity")]
    if len(names) > MAX_CODINGS:
        return Decoded(body=body, problem=f"more than {MAX_CODINGS} content codings")
    limit = min(max_bytes, max(_RATIO_FREE_BYTES, int(len(body) * max_ratio)))
    for name in reversed(names):
        decoder = _DECODERS.get(name)
        if decoder is None:
            return Decoded(body=body, problem=f"unknown content coding {name[:40]!r}")
        step = decoder(body, limit)
        if step.body is None:
            return Decoded(body=body, problem=step.problem, torn=body.startswith(_MAGICS))
        body = step.body
        if step.problem is not None:
            return Decoded(body=body, problem=step.problem, torn=step.torn)
    if names and body.startswith(_GZIP_MAGIC):
        return Decoded(body=body, problem="gzip data inside the decoded body")
    return Decoded(body=body)


class _BoundedBuffer:
    """Collects the output of a decoder, up to one byte more than the limit."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._parts: list[bytes] = []
        self.room = limit + 1

    def take(self, data: bytes) -> bool:
        """Append data; returns whether there is room for more."""
        self._parts.append(data)
        self.room -= len(data)
        return self.room > 0

    @property
    def size(self) -> int:
        return self._limit + 1 - self.room

    def step(self, problem: str | None = None, *, torn: bool = False) -> _Step:
        body = self._parts[0] if len(self._parts) == 1 else b"".join(self._parts)
        if self.room <= 0:
            return _Step(body[: self._limit], f"decoded body cut at {self._limit} bytes")
        if problem is not None and not body:
            return _Step(None, problem)
        return _Step(body, problem, torn)

    def ended_early(self, name: str) -> _Step:
        return self.step(f"{name} data ends early", torn=True)

    def broken(self, name: str) -> _Step:
        """The decoder failed: the result is what was decoded before, if anything."""
        return self.step(f"{name} data broken" if any(self._parts) else f"not {name} data", torn=True)


def _gzip(body: bytes, limit: int) -> _Step:
    sink = _BoundedBuffer(limit)
    rest, start = b"", 0
    for _ in range(_MAX_MEMBERS):
        engine = igzip_lib.IgzipDecompressor(flag=igzip_lib.DECOMP_GZIP)
        try:
            rest, start, whole = _inflate(engine, rest, body, start, sink)
        except _InflateError:
            return sink.broken("gzip")
        if sink.room <= 0:
            return sink.step()
        if not whole:
            return sink.ended_early("gzip")
        head = (rest + body[start : start + 2])[:2]
        if not head.strip(b"\0"):  # the end, or padding
            return sink.step()
        if head != _GZIP_MAGIC[:2]:
            return sink.step("other bytes after the gzip data")
    return sink.step(f"more than {_MAX_MEMBERS} gzip members")


def _inflate(
    engine: igzip_lib.IgzipDecompressor, rest: bytes, body: bytes, start: int, sink: _BoundedBuffer
) -> tuple[bytes, int, bool]:
    """Decode one deflate stream; returns the unused input, where the body continues, and whether the stream ended.

    The body is passed in pieces, because a decoder copies the input that it does not use.
    """
    while True:
        if not rest:
            rest, start = body[start : start + _PIECE], start + _PIECE
            if not rest:
                return b"", start, False
        open_ended = sink.take(engine.decompress(rest, sink.room))
        while open_ended and not engine.eof and not engine.needs_input:
            open_ended = sink.take(engine.decompress(b"", sink.room))
        if engine.eof or not open_ended:
            return engine.unused_data, start, engine.eof
        rest = b""


def _deflate(body: bytes, limit: int) -> _Step:
    """Decode zlib data, as the standard requires, or a raw deflate stream, which some servers send."""
    for flag in (igzip_lib.DECOMP_ZLIB, igzip_lib.DECOMP_DEFLATE):
        sink = _BoundedBuffer(limit)
        try:
            _, _, whole = _inflate(igzip_lib.IgzipDecompressor(flag=flag), b"", body, 0, sink)
        except _InflateError:
            continue
        return sink.step() if whole else sink.ended_early("deflate")
    return _Step(None, "not deflate data")


def _brotli(body: bytes, limit: int) -> _Step:
    sink = _BoundedBuffer(limit)
    engine = brotli.Decompressor()
    try:
        for start in range(0, len(body), _PIECE):
            piece = body[start : start + _PIECE]
            open_ended = sink.take(engine.process(piece, output_buffer_limit=sink.room))
            while open_ended and not engine.can_accept_more_data():
                open_ended = sink.take(engine.process(b"", output_buffer_limit=sink.room))
            if engine.is_finished() or not open_ended:
                break
    except brotli.error:
        return sink.broken("br")
    return sink.step() if engine.is_finished() else sink.ended_early("br")


def _zstd(body: bytes, limit: int) -> _Step:
    sink = _BoundedBuffer(limit)
    engine = zstandard.ZstdDecompressor(max_window_size=_MAX_ZSTD_WINDOW)
    try:
        declared = zstandard.frame_content_size(body)  # -1: not declared
        with engine.stream_reader(body, read_across_frames=True) as reader:
            while data := reader.read(min(sink.room, _PIECE)):
                if not sink.take(data):
                    break
    except zstandard.ZstdError:
        return sink.broken("zstd")
    return sink.ended_early("zstd") if sink.size < declared else sink.step()


_DECODERS: dict[str, Callable[[bytes, int], _Step]] = {
    "gzip": _gzip,
    "x-gzip": _gzip,
    "deflate": _deflate,
    "br": _brotli,
    "zstd": _zstd,
}
