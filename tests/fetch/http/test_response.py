"""Bytes of a connection become one response, or the reason why they do not."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from webstrata.fetch.http.failures import ConnectionLost, HeadTooLarge, NotHttp, TotalTimeout
from webstrata.fetch.http.request import FetchLimits
from webstrata.fetch.http.response import Response, ResponseParser
from webstrata.records import FailureKind

OK = b"HTTP/1.1 200 OK\r\n"
CHUNKED = OK + b"Transfer-Encoding: chunked\r\n\r\n"
LOST = ConnectionLost("closed", stale=False)
LIMITS = FetchLimits(header_bytes=1000, header_count=10, body_bytes=50)


def fed(pieces: Iterable[bytes], limits: FetchLimits = LIMITS) -> ResponseParser:
    """A parser that received the pieces, up to the one that completed the response."""
    parser = ResponseParser(limits)
    for piece in pieces:
        if parser.done:
            break
        parser.feed(piece)
    return parser


def pieces_of(data: bytes, size: int) -> list[bytes]:
    return [data[start : start + size] for start in range(0, len(data), size)]


def complete(parser: ResponseParser) -> Response:
    assert parser.done
    assert parser.error is None
    assert parser.response is not None
    return parser.response


WHOLE = {
    "length": (OK + b"Content-Length: 5\r\n\r\nhello", b"hello"),
    "no body": (OK + b"Content-Length: 0\r\n\r\n", b""),
    "status without body": (b"HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n", b""),
    "chunks": (CHUNKED + b"3\r\nhel\r\n2;x=y\r\nlo\r\n0\r\n\r\n", b"hello"),
    "trailers": (CHUNKED + b"5\r\nhello\r\n0\r\nX-Check: 9\r\nSet-Cookie: a\r\n\r\n", b"hello"),
    "spaces after a chunk size": (CHUNKED + b"5 \r\nhello\r\n0\r\n\r\n", b"hello"),
    "interim responses": (b"HTTP/1.1 103 Early\r\nLink: x\r\n\r\n" + OK + b"Content-Length: 5\r\n\r\nhello", b"hello"),
}


@pytest.mark.parametrize("name", WHOLE)
@pytest.mark.parametrize("size", [1, 2, 5, 1000])
def test_complete_responses(name: str, size: int) -> None:
    """A response is complete with its last byte, however it is divided, and the connection can be used again."""
    data, body = WHOLE[name]
    pieces = pieces_of(data, size)
    assert not fed(pieces[:-1]).done
    parser = fed(pieces)
    response = complete(parser)
    assert (response.body, response.truncated, response.failure) == (body, None, None)
    assert parser.reusable
    assert all(header not in ("link", "set-cookie") for header, _ in response.headers)


def test_folded_and_empty_headers() -> None:
    """Folded values are joined, trailing white space is removed, and empty values are kept."""
    head = OK + b"X: a\r\n b\r\nEmpty:\r\nSpaces: c \t\r\nContent-Length: 0\r\n\r\n"
    response = complete(fed([head]))
    assert response.head == head
    assert dict(response.headers) == {"x": "a b", "empty": "", "spaces": "c", "content-length": "0"}


FOLLOWED = {
    "length": OK + b"Content-Length: 5\r\n\r\nhello",
    "chunks": CHUNKED + b"5\r\nhello\r\n0\r\n\r\n",
    "chunks and close": OK + b"Connection: close\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
}


@pytest.mark.parametrize("name", FOLLOWED)
@pytest.mark.parametrize("following", [b"x", OK + b"Content-Length: 6\r\n\r\npoison"])
def test_bytes_after_the_response(name: str, following: bytes) -> None:
    """Bytes that follow a complete response are discarded, and the connection is not used again."""
    parser = fed([FOLLOWED[name] + following])
    response = complete(parser)
    assert (response.body, response.truncated, response.failure) == (b"hello", None, None)
    assert not parser.reusable


NOT_REUSABLE = [
    b"HTTP/1.0 200 OK\r\nContent-Length: 5\r\n\r\nhello",
    OK + b"Connection: close\r\nContent-Length: 5\r\n\r\nhello",
]


@pytest.mark.parametrize("data", NOT_REUSABLE)
def test_connections_that_the_server_closes(data: bytes) -> None:
    """A connection that the server does not keep alive is not used again."""
    parser = fed([data])
    assert complete(parser).body == b"hello"
    assert not parser.reusable


MALFORMED = [
    OK + b"Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello",
    OK + b"Content-Length: 5\r\nContent-Length: 5\r\n\r\nhello",
    OK + b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    OK + b"Content-Length: 5, 5\r\n\r\nhello",
    OK + b"Content-Length: +5\r\n\r\nhello",
    b"HTTP/1.1  200 OK\r\nContent-Length: 5\r\n\r\nhello",
    b"HTTP/3.1 200 OK\r\nContent-Length: 5\r\n\r\nhello",
    b"SSH-2.0-OpenSSH_9.6\r\n",
]


@pytest.mark.parametrize("data", MALFORMED)
@pytest.mark.parametrize("size", [1, 1000])
def test_malformed_heads(data: bytes, size: int) -> None:
    """Ambiguous framing and what is not HTTP/1 are refused with the head."""
    parser = fed(pieces_of(data, size))
    assert parser.done
    assert isinstance(parser.error, NotHttp)
    assert parser.response is None


REFUSED = [
    b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: upgrade\r\n\r\n\x81\x00",
    b"HTTP/1.1 101 Switching Protocols\r\n\r\n",
    b"HTTP/2.0 200 OK\r\nContent-Length: 5\r\n\r\nhello",
    b"ICE/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello",
    OK + b"X: a\0b\r\nContent-Length: 5\r\n\r\nhello",
    CHUNKED + b"5\r\nhello\r\nnot a length\r\n",
    CHUNKED + b"5\r\nhello!\r\n0\r\n\r\n",
]


@pytest.mark.parametrize("data", REFUSED)
@pytest.mark.parametrize("size", [1, 1000])
def test_malformed_responses(data: bytes, size: int) -> None:
    """A response that llhttp parses and that is not one to our request, or whose chunks are malformed, is a failure."""
    parser = fed(pieces_of(data, size))
    response = complete(parser)
    assert response.failure is not None
    assert response.failure.kind is FailureKind.MALFORMED
    assert not parser.reusable


def test_a_head_that_is_too_large() -> None:
    """The limits of the head apply before it is complete."""
    assert isinstance(fed([OK + b"X: " + b"a" * 1000]).error, HeadTooLarge)
    assert isinstance(fed([OK + b"X: a\r\n" * 13]).error, HeadTooLarge)


@pytest.mark.parametrize("endless", [b"5;" + b"x" * 500, b"0\r\n" + b"X: a\r\n" * 90, b"0\r\nX: " + b"a" * 500])
def test_endless_framing(endless: bytes) -> None:
    """Chunk extensions and trailers that do not end are refused."""
    parser = fed([CHUNKED + b"5\r\nhello\r\n", endless, *[endless[-100:]] * 20])
    failure = complete(parser).failure
    assert failure is not None
    assert failure.kind is FailureKind.MALFORMED


@pytest.mark.parametrize("extension", [b"", b";a"])
@pytest.mark.parametrize("size", [1, 7, 10_000])
def test_small_chunks(extension: bytes, size: int) -> None:
    """A body in chunks of one byte is complete, although its framing is several times as long as the body."""
    limits = FetchLimits(header_bytes=1000, body_bytes=100_000)
    data = CHUNKED + b"".join(b"1%s\r\nx\r\n" % extension for _ in range(10_000)) + b"0\r\n\r\n"
    response = complete(fed(pieces_of(data, size), limits))
    assert (response.body, response.truncated, response.failure) == (b"x" * 10_000, None, None)


@pytest.mark.parametrize("head", [OK + b"\r\n", OK + b"Content-Length: 99\r\n\r\n"])
def test_a_body_over_the_limit(head: bytes) -> None:
    """The body is truncated at the limit."""
    response = complete(fed([head, b"x" * 40, b"x" * 40]))
    assert (len(response.body), response.truncated) == (50, "length")


ENDED = [
    (OK + b"\r\nhello", None, None),
    (OK + b"\r\nhello", ConnectionResetError(), "disconnect"),
    (OK + b"Content-Length: 9\r\n\r\nhello", None, "disconnect"),
    (CHUNKED + b"5\r\nhello\r\n", None, "disconnect"),
    (OK + b"Transfer-Encoding: gzip, Chunked\r\n\r\n9\r\nhello", None, "disconnect"),
    (OK + b"Transfer-Encoding: gzip\r\n\r\nhello", None, None),
]


@pytest.mark.parametrize(("data", "error", "truncated"), ENDED)
def test_the_connection_ends_in_the_body(data: bytes, error: BaseException | None, truncated: str | None) -> None:
    """The end of the connection completes a body without announced end, and truncates any other."""
    parser = fed([data])
    assert not parser.done
    parser.end(error, LOST)
    response = complete(parser)
    assert (response.body, response.truncated, parser.reusable) == (b"hello", truncated, False)


def test_the_head_is_not_complete() -> None:
    """If the connection or the time ends before the head is complete, there is no response."""
    for data in (b"", OK, OK + b"X: y\r\n", b"HTTP/1.1 103 Early\r\n\r\n"):
        lost, late, expired = fed([data] if data else []), fed([data] if data else []), TotalTimeout("too late")
        lost.end(None, LOST)
        late.expire(expired)
        assert (lost.error, lost.response) == (LOST, None)
        assert (late.error, late.response) == (expired, None)
        assert lost.received == bool(data)


def test_the_time_ends_in_the_body() -> None:
    """A time limit truncates the body."""
    parser = fed([OK + b"Content-Length: 9\r\n\r\nhello"])
    parser.expire(TotalTimeout("too late"))
    response = complete(parser)
    assert (response.body, response.truncated, response.failure) == (b"hello", "time", None)
