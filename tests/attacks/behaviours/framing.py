"""Hosts whose messages are malformed: contradictory lengths, damaged chunks, wrong content codings."""

from __future__ import annotations

import gzip
import zlib

import brotli
import zstandard

from tests.attacks.behaviour import CHUNKED, PAGE, Behaviour, Serve, body, chunk, in_turn, page, sends

_OK = b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n"
_WHOLE = _OK + b"Content-Length: %d\r\n\r\n" % len(PAGE) + PAGE
_GZIP = gzip.compress(PAGE, mtime=0)


def _head(*lines: bytes, content: bytes = PAGE) -> Serve:
    return sends(_OK + b"".join(line + b"\r\n" for line in lines) + b"\r\n" + content)


def _raw_deflate() -> bytes:
    stream = zlib.compressobj(9, zlib.DEFLATED, -15)
    return stream.compress(PAGE) + stream.flush()


def _coded_often() -> bytes:
    content = PAGE
    for _ in range(20):
        content = gzip.compress(content, mtime=0)
    return content


FRAMING = (
    Behaviour(
        "frame-two-lengths", "two different Content-Length fields", _head(b"Content-Length: 5", b"Content-Length: 99")
    ),
    Behaviour("frame-length-list", "Content-Length: 5, 99", _head(b"Content-Length: 5, 99")),
    Behaviour("frame-length-negative", "Content-Length: -1", _head(b"Content-Length: -1")),
    Behaviour("frame-length-plus", "Content-Length: +99", _head(b"Content-Length: +99")),
    Behaviour("frame-length-junk", "Content-Length: many", _head(b"Content-Length: many")),
    Behaviour("frame-length-overflow", "Content-Length: 2^64 + 5", _head(b"Content-Length: 18446744073709551621")),
    Behaviour(
        "frame-length-and-chunks",
        "Content-Length and chunks (smuggling)",
        _head(b"Content-Length: 6", b"Transfer-Encoding: chunked", content=b"0\r\n\r\nGET /smuggled HTTP/1.1\r\n\r\n"),
    ),
    Behaviour(
        "frame-two-codings",
        "Transfer-Encoding: chunked, identity",
        _head(b"Transfer-Encoding: chunked, identity", content=chunk(PAGE) + b"0\r\n\r\n"),
    ),
    Behaviour(
        "frame-hidden-chunks",
        "Transfer-Encoding: xchunked",
        _head(b"Transfer-Encoding: xchunked", content=chunk(PAGE) + b"0\r\n\r\n"),
    ),
    Behaviour("frame-chunk-junk", "a chunk size that is no number", sends(CHUNKED + b"zz\r\nabc\r\n0\r\n\r\n")),
    Behaviour("frame-chunk-negative", "a negative chunk size", sends(CHUNKED + b"-5\r\nabcde\r\n0\r\n\r\n")),
    Behaviour("frame-chunk-overflow", "a chunk size of 2^68", sends(CHUNKED + b"100000000000000000\r\nabc\r\n")),
    Behaviour("frame-chunk-huge", "a chunk size of 2^62, and three bytes", sends(CHUNKED + b"4000000000000000\r\nabc")),
    Behaviour("frame-chunk-no-end", "a chunk without its line end", sends(CHUNKED + b"3\r\nabc3\r\nabc\r\n0\r\n\r\n")),
    Behaviour("frame-chunks-cut", "the last chunk is missing", sends(CHUNKED + chunk(PAGE))),
    Behaviour("frame-body-cut", "the body ends before its length", _head(b"Content-Length: 100000")),
    Behaviour("frame-extra-bytes", "bytes after the end of the body", sends(_WHOLE + b"more bytes")),
    Behaviour(
        "frame-second-response",
        "a second response that nothing asked for",
        sends(_WHOLE + _OK + b"Content-Length: 8\r\n\r\npoisoned"),
    ),
    Behaviour("frame-bare-lines", "a head with bare line feeds", sends(_WHOLE.replace(b"\r\n", b"\n"))),
    Behaviour("frame-bare-returns", "a head with bare carriage returns", sends(_WHOLE.replace(b"\r\n", b"\r"))),
    Behaviour("frame-no-colon", "a header line without colon", _head(b"This is not a header", b"Content-Length: 5")),
    Behaviour("frame-folded", "a folded header line", _head(b"X-Long: one", b"  two", b"Content-Length: 5")),
    Behaviour("frame-nul", "NUL bytes in the head", _head(b"X-Nul: a\0b", b"Content-Length: 5")),
    Behaviour("frame-blank-name", "white space before the colon", _head(b"Content-Length : 5")),
    Behaviour("frame-old", "a body without any head (HTTP/0.9)", sends(PAGE)),
    Behaviour("frame-http2", "the preface of HTTP/2", sends(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + b"\0" * 64)),
    Behaviour("frame-version", "HTTP/9.9", sends(_WHOLE.replace(b"HTTP/1.1", b"HTTP/9.9"))),
    Behaviour("frame-status-999", "status 999", sends(_WHOLE.replace(b"200 OK", b"999 Odd"))),
    Behaviour("frame-status-000", "status 000", sends(_WHOLE.replace(b"200 OK", b"000 Odd"))),
    Behaviour("frame-status-words", "a status that is no number", sends(_WHOLE.replace(b"200 OK", b"two hundred"))),
    Behaviour("frame-204-body", "status 204 with a body", sends(_WHOLE.replace(b"200 OK", b"204 None"))),
    Behaviour("frame-304-body", "status 304 with a body", sends(_WHOLE.replace(b"200 OK", b"304 Same"))),
    Behaviour("frame-304-first", "status 304 without an earlier copy", sends(b"HTTP/1.1 304 Not Modified\r\n\r\n")),
    Behaviour(
        "frame-101", "status 101 without a request to upgrade", sends(b"HTTP/1.1 101 Switch\r\nUpgrade: x\r\n\r\n")
    ),
    Behaviour("frame-206", "status 206 that nothing asked for", body(PAGE, status=206, Content_Range="bytes 5-9/100")),
    Behaviour("coding-plain", "plain text that says it is gzip", body(PAGE, Content_Encoding="gzip")),
    Behaviour("coding-twice", "gzip of gzip that says gzip", body(gzip.compress(_GZIP), Content_Encoding="gzip")),
    Behaviour("coding-cut", "a gzip body without its end", body(_GZIP[:-12], Content_Encoding="gzip")),
    Behaviour("coding-tail", "a gzip body with junk after it", body(_GZIP + b"junk" * 99, Content_Encoding="gzip")),
    Behaviour(
        "coding-checksum", "a gzip body with a wrong checksum", body(_GZIP[:-8] + b"\0" * 8, Content_Encoding="gzip")
    ),
    Behaviour("coding-deflate", "raw deflate without a zlib head", body(_raw_deflate, Content_Encoding="deflate")),
    Behaviour(
        "coding-brotli", "a Brotli body without its end", body(brotli.compress(PAGE * 9)[:40], Content_Encoding="br")
    ),
    Behaviour(
        "coding-zstd",
        "a damaged Zstandard body",
        body(zstandard.compress(PAGE)[:20] + b"\xff" * 30, Content_Encoding="zstd"),
    ),
    Behaviour(
        "coding-many",
        "a body that is coded with gzip twenty times, and says so",
        body(_coded_often, Content_Encoding=", ".join(["gzip"] * 20)),
    ),
    Behaviour("coding-unknown", "an unknown content coding", body(PAGE, Content_Encoding="rot13, x-none")),
    Behaviour(
        "coding-changes",
        "plain and gzip by turns, both labelled plain",
        in_turn(page(), body(_GZIP), page(), body(_GZIP), page()),
    ),
)
