"""Decoding of content codings: results, reported problems and limits."""

from __future__ import annotations

import gzip
import hashlib
import os
import tracemalloc
import zlib
from collections.abc import Callable

import brotli
import pytest
import zstandard

from webstrata.coding import Decoded, PieceSource, decode, decode_pieces, decoded_digest

TEXT = "".join(f"<p>Line {number} of a page, with ü and €.</p>\n" for number in range(5000)).encode()


def _raw_deflate(data: bytes) -> bytes:
    engine = zlib.compressobj(wbits=-15)
    return engine.compress(data) + engine.flush()


ENCODERS: dict[str, Callable[[bytes], bytes]] = {
    "gzip": gzip.compress,
    "x-gzip": gzip.compress,
    "GZIP ": gzip.compress,
    "deflate": zlib.compress,
    " deflate": _raw_deflate,
    "br": lambda data: brotli.compress(data, quality=4),
    "zstd": zstandard.compress,
}

BLANK = bytes(30_000_000)
BOMBS = {
    "gzip": lambda: gzip.compress(BLANK, compresslevel=1),
    "deflate": lambda: zlib.compress(BLANK, level=1),
    "br": lambda: brotli.compress(BLANK, quality=1),
    "zstd": lambda: zstandard.compress(BLANK),
}


def decoded_body(body: bytes, coding: str | None, max_bytes: int = 10**7, max_ratio: float = 1000.0) -> Decoded:
    return decode(body, coding, max_bytes=max_bytes, max_ratio=max_ratio)


@pytest.mark.parametrize("coding", ENCODERS)
def test_each_coding(coding: str) -> None:
    """Encoded bodies are decoded without a problem."""
    assert decoded_body(ENCODERS[coding](TEXT), coding) == Decoded(body=TEXT)


@pytest.mark.parametrize("coding", [None, "", "identity", "identity, identity", " , "])
def test_no_coding(coding: str | None) -> None:
    """Without a coding the body is unchanged."""
    assert decoded_body(TEXT, coding) == Decoded(body=TEXT)


@pytest.mark.parametrize("coding", [*ENCODERS, "unheard-of"])
def test_empty_body(coding: str) -> None:
    """An empty body (of a 304 or HEAD response) is not decoded."""
    assert decoded_body(b"", coding) == Decoded(body=b"")


def test_codings_on_top_of_one_another() -> None:
    """The last coding in the header is removed first."""
    body = brotli.compress(gzip.compress(TEXT))
    assert decoded_body(body, "gzip, identity, br") == Decoded(body=TEXT)


def test_several_gzip_members() -> None:
    """Consecutive gzip members are one body, also across the pieces in which the decoder receives it."""
    assert decoded_body(gzip.compress(TEXT, compresslevel=0) * 3, "gzip") == Decoded(body=TEXT * 3)


def test_padded_gzip() -> None:
    """Zero bytes after the last member are padding."""
    assert decoded_body(gzip.compress(TEXT) + bytes(512), "gzip") == Decoded(body=TEXT)


WRONG = {
    "plain text called gzip": (TEXT, "gzip", TEXT, "not gzip data"),
    "plain text called deflate": (TEXT, "deflate", TEXT, "not deflate data"),
    "plain text called br": (TEXT, "br", TEXT, "not br data"),
    "plain text called zstd": (TEXT, "zstd", TEXT, "not zstd data"),
    "encoded once, said twice": (gzip.compress(TEXT), "gzip, gzip", TEXT, "not gzip data"),
    "encoded twice, said once": (
        gzip.compress(gzip.compress(TEXT, mtime=0)),
        "gzip",
        gzip.compress(TEXT, mtime=0),
        "gzip data inside the decoded body",
    ),
    "unknown coding": (TEXT, "compress", TEXT, "unknown content coding 'compress'"),
    "unknown coding below": (gzip.compress(TEXT), "sdch, gzip", TEXT, "unknown content coding 'sdch'"),
    "too many codings": (TEXT, "gzip, gzip, gzip, gzip", TEXT, "more than 3 content codings"),
    "bytes behind": (gzip.compress(TEXT) + b"<!-- served -->", "gzip", TEXT, "other bytes after the gzip data"),
    "one byte": (b"\x1f", "gzip", b"\x1f", "gzip data ends early"),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_codings(name: str) -> None:
    """Of a body that does not match its header, what could be decoded is returned, with the problem."""
    body, coding, expected, problem = WRONG[name]
    assert decoded_body(body, coding) == Decoded(body=expected, problem=problem)


@pytest.mark.parametrize("coding", ["gzip", "deflate", "br", "zstd"])
def test_cut_bodies(coding: str) -> None:
    """Of a truncated body the beginning is returned, with the problem that it ends early."""
    body = ENCODERS[coding](TEXT)
    decoded = decoded_body(body[: len(body) // 2], coding)

    assert decoded.problem == f"{coding} data ends early"
    assert TEXT.startswith(decoded.body) or decoded.body == body[: len(body) // 2]


@pytest.mark.parametrize("coding", ["gzip", "deflate", "br", "zstd"])
def test_bombs_stop_at_the_limit(coding: str) -> None:
    """A decompression bomb is decoded up to the limit, and takes memory only for that."""
    bomb = BOMBS[coding]()
    tracemalloc.start()
    decoded = decoded_body(bomb, coding, max_bytes=3_000_000, max_ratio=10.0**9)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert decoded == Decoded(body=bytes(3_000_000), problem="decoded body cut at 3000000 bytes", cut=True)
    assert peak < 15_000_000


@pytest.mark.parametrize("coding", ["gzip", "deflate", "br", "zstd"])
def test_digests_take_no_memory(coding: str) -> None:
    """The digest is that of the decoded body, up to the limit; it is computed without holding the body."""
    bomb = BOMBS[coding]()
    tracemalloc.start()
    digest = decoded_digest(bomb, coding, max_bytes=20_000_000)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    body = decode(bomb, coding, max_bytes=20_000_000)
    assert (digest.sha256, digest.size) == (hashlib.sha256(body.body).hexdigest(), len(body.body))
    assert (digest.problem, digest.torn) == (body.problem, body.torn)
    assert peak < 8_000_000


@pytest.mark.parametrize("name", WRONG)
def test_digests_of_wrong_codings(name: str) -> None:
    """The digest is that of what `decode` returns."""
    body, coding, expected, problem = WRONG[name]
    digest = decoded_digest(body, coding, max_bytes=10**9)
    assert (digest.sha256, digest.problem) == (hashlib.sha256(expected).hexdigest(), problem)


def test_bomb_in_a_bomb() -> None:
    """The limit applies to every coding, not only to the last."""
    bomb = gzip.compress(gzip.compress(BLANK))
    assert len(decoded_body(bomb, "gzip, gzip", max_bytes=2_000_000).body) <= 2_000_000


def test_ratio_counts_above_a_size_only() -> None:
    """A small result may have any ratio; a large one is cut at the maximum ratio."""
    small, large = gzip.compress(bytes(1_000_000)), gzip.compress(BLANK)

    assert decoded_body(small, "gzip", max_ratio=2.0).problem is None
    assert len(decoded_body(large, "gzip", max_bytes=10**9, max_ratio=100.0).body) == len(large) * 100


def test_exactly_the_limit() -> None:
    """A body of exactly the maximum size is complete."""
    assert decoded_body(gzip.compress(TEXT), "gzip", max_bytes=len(TEXT)) == Decoded(body=TEXT)


def test_countless_tiny_members() -> None:
    """Decoding stops at the maximum number of gzip members."""
    decoded = decoded_body(gzip.compress(b"x") + gzip.compress(b"") * 100_000, "gzip")
    assert decoded == Decoded(body=b"x", problem="more than 1000 gzip members")


def test_zstd_window_beyond_the_standard() -> None:
    """A zstd frame with a larger window than HTTP allows is refused."""
    parameters = zstandard.ZstdCompressionParameters(window_log=27)
    engine = zstandard.ZstdCompressor(compression_params=parameters).compressobj()
    assert decoded_body(engine.compress(TEXT) + engine.flush(), "zstd").problem == "not zstd data"


@pytest.mark.parametrize("coding", ["gzip", "deflate", "br", "zstd"])
def test_much_output_of_the_last_input(coding: str) -> None:
    """A decoder that has read all of its input may have megabytes of output left: they belong to the body."""
    content = os.urandom(100_000) + bytes(5_000_000)
    assert decoded_body(ENCODERS[coding](content), coding) == Decoded(body=content)


@pytest.mark.parametrize("size", [1, 1000, 65536, 100_000, 10**7])
@pytest.mark.parametrize("coding", [*ENCODERS, None])
def test_bodies_in_pieces(coding: str | None, size: int) -> None:
    """A body that arrives in pieces of any size is decoded as one that is in memory, without holding it."""
    content = os.urandom(30_000) + bytes(300_000)
    body = ENCODERS[coding](content) if coding is not None else content
    pieces = (body[at : at + size] for at in range(0, len(body), size))
    decoded: list[bytes] = []
    problem = decode_pieces(PieceSource(pieces, len(body)), coding, decoded.append, max_bytes=10**7)
    assert (problem, b"".join(decoded)) == (None, content)


def test_several_members_in_pieces() -> None:
    """A body of several gzip members is decoded to its end, and one with other bytes after them has a problem."""
    body = gzip.compress(TEXT) + gzip.compress(TEXT)
    for rest, expected in ((b"", None), (b"junk", "other bytes after the gzip data")):
        source = PieceSource(iter([bytes([byte]) for byte in body + rest]), len(body + rest))
        decoded: list[bytes] = []
        assert decode_pieces(source, "gzip", decoded.append, max_bytes=10**7) == expected
        assert b"".join(decoded) == TEXT + TEXT


@pytest.mark.parametrize("coding", ["gzip", "deflate", "br", "zstd"])
def test_bombs_in_pieces_stop_at_the_limit(coding: str) -> None:
    """Decoding of pieces ends at the limit, too."""
    bomb = BOMBS[coding]()
    decoded: list[bytes] = []
    problem = decode_pieces(PieceSource([bomb], len(bomb)), coding, decoded.append, max_bytes=2_000_000)
    assert (problem, sum(map(len, decoded))) == ("decoded body cut at 2000000 bytes", 2_000_000)
