"""The answer's head, kept byte for byte."""

from __future__ import annotations

import pytest

from webstrata.fetch.http.failures import HeadTooLarge
from webstrata.fetch.http.head import HeadKeeper

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


@pytest.mark.parametrize(("data", "head", "behind"), CASES)
def test_whole(data: bytes, head: bytes, behind: int) -> None:
    """The final answer's head is kept as it came; interim answers before it are left out."""
    keeper = HeadKeeper(1000, 100)
    keeper.start()
    assert keeper.feed(data) == behind
    assert (keeper.head, keeper.open) == (head, False)


@pytest.mark.parametrize(("data", "head", "behind"), CASES)
@pytest.mark.parametrize("size", [1, 2, 3, 7])
def test_in_pieces(data: bytes, head: bytes, behind: int, size: int) -> None:
    """It makes no difference where the network cuts."""
    keeper = HeadKeeper(1000, 100)
    keeper.start()
    seen = 0
    for start in range(0, len(data), size):
        piece = data[start : start + size]
        seen += (keeper.feed(piece) or 0) if keeper.open else len(piece)
    assert (keeper.head, seen) == (head, behind)


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
def test_announced_length(head: bytes, length: int | None) -> None:
    """A length counts only where the head leaves no doubt."""
    keeper = HeadKeeper(1000, 100)
    keeper.start()
    keeper.feed(head)
    assert keeper.body_length() == length


TOO_LARGE = [
    b"HTTP/1.1 200 OK\r\nX: " + b"a" * 200 + b"\r\n\r\n",
    b"HTTP/1.1 200 OK\r\nX: " + b"a" * 200,
    b"HTTP/1.1 103 Early\r\n\r\n" * 20,
    b"\r\n" * 200,
    b"HTTP/1.1 200 OK\r\n" + b"X:\r\n" * 11 + b"\r\n",
]


@pytest.mark.parametrize("data", TOO_LARGE)
def test_limits(data: bytes) -> None:
    """Bytes and lines are bounded, interim answers included, whether or not an end comes."""
    keeper = HeadKeeper(200, 10)
    keeper.start()
    with pytest.raises(HeadTooLarge):
        keeper.feed(data)


def test_the_next_answer() -> None:
    """A second head on the same connection starts afresh."""
    keeper = HeadKeeper(100, 10)
    for _ in range(5):
        keeper.start()
        assert not keeper.received
        assert keeper.feed(HEAD + b"hello") == 5
        assert keeper.head == HEAD
