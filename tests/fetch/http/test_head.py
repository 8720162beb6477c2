"""The response head is recorded byte for byte."""

from __future__ import annotations

import pytest

from webstrata.fetch.http.failures import HeadTooLarge
from webstrata.fetch.http.head import HeadRecorder

HEAD = b"HTTP/1.1 200 OK\r\nServer:  x \r\nContent-Length: 5\r\n\r\n"

CASES = [
    (HEAD + b"hello", HEAD, 5),
    (HEAD, HEAD, 0),
    (b"HTTP/1.0 200 OK\nA: b\n\nhello", b"HTTP/1.0 200 OK\nA: b\n\n", 5),
    (b"\r\n\r\n" + HEAD + b"hello", HEAD, 5),
    (b"HTTP/1.1 100 Continue\r\n\r\n" + HEAD + b"hello", HEAD, 5),
    (b"HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n\r\nHTTP/1.1 102 P\r\n\r\n" + HEAD, HEAD, 0),
    (b"HTTP/1.1 101 Switching\r\n\r\nxx", b"HTTP/1.1 101 Switching\r\n\r\n", 2),
]


@pytest.mark.parametrize(("data", "head", "following"), CASES)
def test_in_one_piece(data: bytes, head: bytes, following: int) -> None:
    """The head of the final response is recorded as received; interim responses before it are left out."""
    recorder = HeadRecorder(1000, 100)
    assert recorder.feed(data) == following
    assert recorder.head == head


@pytest.mark.parametrize(("data", "head", "following"), CASES)
@pytest.mark.parametrize("size", [1, 2, 3, 7])
def test_in_pieces(data: bytes, head: bytes, following: int, size: int) -> None:
    """The result does not depend on how the data is divided into pieces."""
    recorder = HeadRecorder(1000, 100)
    counted = 0
    for start in range(0, len(data), size):
        piece = data[start : start + size]
        counted += len(piece) if recorder.head else recorder.feed(piece) or 0
    assert (recorder.head, counted) == (head, following)


LENGTHS = [
    (HEAD, 5),
    (b"HTTP/1.1 200 OK\r\ncontent-LENGTH:\t7 \r\n\r\n", 7),
    (b"HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n", 0),
    (b"HTTP/1.1 204 No Content\r\n\r\n", 0),
    (b"HTTP/1.1 200 OK\r\n\r\n", None),
    (b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n", None),
    (b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n", None),
    (b"HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\n", None),
    (b"HTTP/1.1 200 OK\r\nX-Content-Length: 5\r\n\r\n", None),
]


@pytest.mark.parametrize(("head", "length"), LENGTHS)
def test_body_length(head: bytes, length: int | None) -> None:
    """The head determines the length of the body only if it is unambiguous."""
    recorder = HeadRecorder(1000, 100)
    recorder.feed(head)
    assert recorder.body_length() == length


TOO_LARGE = [
    b"HTTP/1.1 200 OK\r\nX: " + b"a" * 200 + b"\r\n\r\n",
    b"HTTP/1.1 200 OK\r\nX: " + b"a" * 200,
    b"HTTP/1.1 103 Early\r\n\r\n" * 20,
    b"\r\n" * 200,
    b"HTTP/1.1 200 OK\r\n" + b"X:\r\n" * 11 + b"\r\n",
    b"HTTP/1.1 200 OK\r\n" + b"X:\r\n" * 13,
]


@pytest.mark.parametrize("data", TOO_LARGE)
def test_limits(data: bytes) -> None:
    """Bytes and lines are limited, interim responses included, whether or not the head is complete."""
    with pytest.raises(HeadTooLarge):
        HeadRecorder(200, 10).feed(data)
