"""Decoding of the content codings gzip, deflate, br and zstd, with a limit on the size of the result.

Decoding is streamed and stops at the limit, so that a decompression bomb takes no more memory than a harmless body of
that size. If a body does not match its Content-Encoding header, decoding stops before the step that fails, the bytes
decoded so far are returned, and the problem is reported.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable
from io import BytesIO
from typing import NamedTuple, Protocol, cast

import brotli
import zstandard
from isal import igzip_lib
from msgspec import Struct

from webstrata.records import Exchange

MAX_RATIO = 1000.0
"""A body may be decoded to at most this multiple of its size."""
MAX_CODINGS = 3
"""Maximum number of codings applied one after the other; most servers use one."""

_PIECE = 64 * 1024
_OUTPUT_PIECE = 1024 * 1024
"""Bytes that a decoder returns at once: a digest is computed without holding more of the content."""
_RATIO_FREE_BYTES = 1024 * 1024
"""Results up to this size may have any compression ratio: a page of blanks is not an attack."""
_MAX_MEMBERS = 1000
"""Each gzip member needs a new decoder; a body of thousands of empty members would only burn processor time."""
_MAX_ZSTD_WINDOW = 8 * 1024 * 1024
"""RFC 9659 allows no larger window in HTTP."""
_GZIP_MAGIC = b"\x1f\x8b\x08"
_MAGICS = (_GZIP_MAGIC, zstandard.FRAME_HEADER)
"""A body that begins with one of these was compressed, even if it cannot be decoded."""
_Write = Callable[[bytes], object]
_InflateError = cast("type[Exception]", igzip_lib.error)  # its stub calls the class an instance


class EncodedBody(Struct, frozen=True, kw_only=True, gc=False):
    """A body as it was sent, with what is needed to decode and parse it."""

    url: str
    body: bytes
    content_encoding: str | None = None
    content_type: str | None = None


def encoded_body(response: Exchange) -> EncodedBody:
    """The body of a response as it was sent, for the parser."""
    return EncodedBody(
        url=response.url,
        body=response.body,
        content_encoding=response.header("content-encoding"),
        content_type=response.header("content-type"),
    )


class Decoded(Struct, frozen=True, kw_only=True, gc=False):
    """A body without its content coding."""

    body: bytes
    problem: str | None = None
    """If set, why the body is not what its header declares, or not all of it."""
    torn: bool = False
    """The data ends early or is damaged in the middle: the body is only the beginning of the content."""
    cut: bool = False
    """The content is longer than the limit: the body is its beginning."""


class DecodedDigest(Struct, frozen=True, kw_only=True, gc=False):
    """Digest and size of a body without its content coding; the other fields as those of `Decoded`."""

    sha256: str
    size: int
    problem: str | None = None
    torn: bool = False


class _Source(Protocol):
    """A body as the decoders read it: `bytes`, or `PieceSource`."""

    def __len__(self) -> int: ...

    def __getitem__(self, part: slice, /) -> bytes: ...


class PieceSource:
    """A body that is read from pieces, from the first byte to the last. Only the part in use is in memory."""

    def __init__(self, pieces: Iterable[bytes], size: int) -> None:
        self._pieces = iter(pieces)
        self._size = size
        self._at = 0
        self._held = b""
        """The bytes from `_at` on that were read from the pieces."""

    def __len__(self) -> int:
        return self._size

    def __getitem__(self, part: slice) -> bytes:
        """A part that does not begin before the last one did."""
        start, stop, _ = part.indices(self._size)
        while self._at + len(self._held) < stop and (piece := next(self._pieces, b"")):
            self._drop(start)
            self._held += piece
        self._drop(start)
        return self._held[: max(0, stop - start)]

    def read(self, size: int) -> bytes:
        """The next bytes, for decoders that read a file."""
        data = self[self._at : self._at + size]
        self._drop(self._at + len(data))
        return data

    def _drop(self, until: int) -> None:
        dropped = min(max(0, until - self._at), len(self._held))
        self._held = self._held[dropped:]
        self._at += dropped


class _Step(NamedTuple):
    """The result of removing one coding; `output` is None if the bytes do not have this coding."""

    output: _Output | None
    problem: str | None = None
    torn: bool = False


class _Result(NamedTuple):
    """The result of removing all codings: the last output, or the bytes before the step that failed."""

    output: _Output | None
    body: bytes
    problem: str | None = None
    torn: bool = False
    cut: bool = False


def decode(body: bytes, content_encoding: str | None, *, max_bytes: int, max_ratio: float = MAX_RATIO) -> Decoded:
    """Remove the codings that a Content-Encoding header lists, the last one first.

    The result has at most `max_bytes`; if it is larger than 1 MiB, it has at most `max_ratio` times the size of
    `body`. A result that is cut there, ends early or has another coding than the header declares comes with a problem.
    """
    collected = BytesIO()
    result = _remove_codings(body, content_encoding, _limit(body, max_bytes, max_ratio), collected.write)
    body = result.body if result.output is None else collected.getvalue()
    return Decoded(body=body, problem=result.problem, torn=result.torn, cut=result.cut)


def decoded_digest(body: bytes, content_encoding: str | None, *, max_bytes: int) -> DecodedDigest:
    """The digest of what `decode` returns. The output of the last coding is not kept, so that memory is bounded."""
    digest = hashlib.sha256()
    result = _remove_codings(body, content_encoding, _limit(body, max_bytes, MAX_RATIO), digest.update)
    if result.output is None:
        digest.update(result.body)
    size = len(result.body) if result.output is None else result.output.size
    return DecodedDigest(sha256=digest.hexdigest(), size=size, problem=result.problem, torn=result.torn)


def content_codings(content_encoding: str | None) -> list[str]:
    """The codings that a Content-Encoding header lists, without those that change nothing."""
    parts = (part.strip() for part in (content_encoding or "").lower().split(","))
    return [name for name in parts if name not in ("", "identity")]


def decode_pieces(source: PieceSource, content_encoding: str | None, write: _Write, *, max_bytes: int) -> str | None:
    """Decode a body that is not in memory and pass it to `write`, piece by piece; returns the problem, if there is one.

    Only one coding is removed: what two codings have in between would have to be in memory.
    """
    names = content_codings(content_encoding)
    if not names:
        at = 0
        while piece := source[at : at + _OUTPUT_PIECE]:
            write(piece)
            at += len(piece)
        return None
    if len(names) > 1:
        return "more than one content coding"
    decoder = _DECODERS.get(names[0])
    if decoder is None:
        return f"unknown content coding {names[0][:40]!r}"
    return decoder(source, max_bytes, write).problem


def _limit(body: bytes, max_bytes: int, max_ratio: float) -> int:
    return min(max_bytes, max(_RATIO_FREE_BYTES, int(len(body) * max_ratio)))


def _remove_codings(body: bytes, content_encoding: str | None, limit: int, write: _Write) -> _Result:
    """Remove all codings; the output of the last one is passed to `write`."""
    if not body or content_encoding is None:
        return _Result(None, body)
    names = content_codings(content_encoding)
    if len(names) > MAX_CODINGS:
        return _Result(None, body, f"more than {MAX_CODINGS} content codings")
    for index, name in enumerate(reversed(names), 1):
        decoder = _DECODERS.get(name)
        if decoder is None:
            return _Result(None, body, f"unknown content coding {name[:40]!r}")
        is_last = index == len(names)
        collected = BytesIO()
        step = decoder(body, limit, write if is_last else collected.write)
        if step.output is None:
            return _Result(None, body, step.problem, body.startswith(_MAGICS))
        if not is_last:
            body = collected.getvalue()
        if step.problem is not None:
            return _Result(step.output if is_last else None, body, step.problem, step.torn, step.output.room <= 0)
        if is_last:
            problem = "gzip data inside the decoded body" if step.output.head == _GZIP_MAGIC else None
            return _Result(step.output, body, problem)
    return _Result(None, body)


class _Output:
    """Passes the output of a decoder on, up to a limit. One byte more shows that there is more."""

    def __init__(self, limit: int, write: _Write) -> None:
        self._limit = limit
        self._write = write
        self.room = limit + 1
        self.head = b""

    @property
    def piece(self) -> int:
        """Bytes to request from the decoder at once."""
        return min(self.room, _OUTPUT_PIECE)

    def take(self, data: bytes) -> bool:
        """Pass data on; returns whether there is room for more."""
        if len(self.head) < len(_GZIP_MAGIC):
            self.head = (self.head + data[: len(_GZIP_MAGIC)])[: len(_GZIP_MAGIC)]
        self._write(data if len(data) < self.room else data[: max(self.room - 1, 0)])
        self.room -= len(data)
        return self.room > 0

    @property
    def size(self) -> int:
        return min(self._limit + 1 - self.room, self._limit)

    def step(self, problem: str | None = None, *, torn: bool = False) -> _Step:
        if self.room <= 0:
            return _Step(self, f"decoded body cut at {self._limit} bytes")
        if problem is not None and not self.size:
            return _Step(None, problem)
        return _Step(self, problem, torn)

    def ended_early(self, name: str) -> _Step:
        return self.step(f"{name} data ends early", torn=True)

    def broken(self, name: str) -> _Step:
        """The decoder failed: the result is what was decoded before, if anything."""
        return self.step(f"{name} data broken" if self.size else f"not {name} data", torn=True)


def _gzip(body: _Source, limit: int, write: _Write) -> _Step:
    output = _Output(limit, write)
    rest, start = b"", 0
    for _ in range(_MAX_MEMBERS):
        engine = igzip_lib.IgzipDecompressor(flag=igzip_lib.DECOMP_GZIP)
        try:
            rest, start, whole = _inflate(engine, rest, body, start, output)
        except _InflateError:
            return output.broken("gzip")
        if output.room <= 0:
            return output.step()
        if not whole:
            return output.ended_early("gzip")
        head = (rest + body[start : start + 2])[:2]
        if not head.strip(b"\0"):  # the end, or padding
            return output.step()
        if head != _GZIP_MAGIC[:2]:
            return output.step("other bytes after the gzip data")
    return output.step(f"more than {_MAX_MEMBERS} gzip members")


def _inflate(
    engine: igzip_lib.IgzipDecompressor, rest: bytes, body: _Source, start: int, output: _Output
) -> tuple[bytes, int, bool]:
    """Decode one deflate stream; returns the unused input, where the body continues, and whether the stream ended.

    The body is passed in pieces, because a decoder copies the input that it does not use.
    """
    while True:
        if not rest:
            rest, start = body[start : start + _PIECE], start + _PIECE
            if not rest:
                return b"", start, False
        open_ended = output.take(engine.decompress(rest, output.piece))
        while open_ended and not engine.eof and not engine.needs_input:
            open_ended = output.take(engine.decompress(b"", output.piece))
        if engine.eof or not open_ended:
            return engine.unused_data, start, engine.eof
        rest = b""


def _deflate(body: _Source, limit: int, write: _Write) -> _Step:
    """Decode zlib data, as the standard requires, or a raw deflate stream, which some servers send."""
    output = _Output(limit, write)
    engine = igzip_lib.IgzipDecompressor(flag=_deflate_flag(body[:_PIECE]))
    try:
        _, _, whole = _inflate(engine, b"", body, 0, output)
    except _InflateError:
        return output.broken("deflate")
    return output.step() if whole else output.ended_early("deflate")


def _deflate_flag(start: bytes) -> int:
    try:
        igzip_lib.IgzipDecompressor(flag=igzip_lib.DECOMP_ZLIB).decompress(start, _PIECE)
    except _InflateError:
        return igzip_lib.DECOMP_DEFLATE
    return igzip_lib.DECOMP_ZLIB


def _brotli(body: _Source, limit: int, write: _Write) -> _Step:
    output = _Output(limit, write)
    engine = brotli.Decompressor()
    try:
        for start in range(0, len(body), _PIECE):
            piece = body[start : start + _PIECE]
            open_ended = output.take(engine.process(piece, output_buffer_limit=output.piece))
            # A decoder that has read all of its input may still have output.
            while open_ended and not engine.is_finished():
                more = engine.process(b"", output_buffer_limit=output.piece)
                if not more and engine.can_accept_more_data():
                    break
                open_ended = output.take(more)
            if engine.is_finished() or not open_ended:
                break
    except brotli.error:
        return output.broken("br")
    return output.step() if engine.is_finished() else output.ended_early("br")


def _zstd(body: _Source, limit: int, write: _Write) -> _Step:
    output = _Output(limit, write)
    engine = zstandard.ZstdDecompressor(max_window_size=_MAX_ZSTD_WINDOW)
    try:
        declared = zstandard.frame_content_size(body[:_PIECE])  # -1: not declared
        with engine.stream_reader(cast("bytes", body), read_across_frames=True) as reader:  # both have what it needs
            while data := reader.read(min(output.room, _PIECE)):
                if not output.take(data):
                    break
    except zstandard.ZstdError:
        return output.broken("zstd")
    return output.ended_early("zstd") if output.size < declared else output.step()


_DECODERS: dict[str, Callable[[_Source, int, _Write], _Step]] = {
    "gzip": _gzip,
    "x-gzip": _gzip,
    "deflate": _deflate,
    "br": _brotli,
    "zstd": _zstd,
}
