from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webstrata.archive.warc.http_head import (
    archived_head,
    media_type_of,
    parse_fields,
    received_head,
    split_head,
    status_of,
)

UNCHANGED = [
    ("no framing at all", b"HTTP/1.0 200 OK\r\nA: b\r\n\r\n", 200, 7),
    ("right length", b"HTTP/1.1 200 OK\r\nContent-Length: 7\r\nA:  b \r\n\r\n", 200, 7),
    ("mixed case and spaces", b"HTTP/1.1 200 OK\r\ncontent-LENGTH :\t7 \r\n\r\n", 200, 7),
    ("a 304 with the length of the full response", b"HTTP/1.1 304 X\r\nContent-Length: 7\r\n\r\n", 304, 0),
    ("bare line feeds", b"HTTP/1.1 200 OK\nContent-Length: 7\n\n", 200, 7),
    ("a longer name", b"HTTP/1.1 200 OK\r\nContent-Length-Hint: 9\r\n\r\n", 200, 7),
]


@pytest.mark.parametrize(("head", "status", "size"), [row[1:] for row in UNCHANGED], ids=[row[0] for row in UNCHANGED])
def test_unchanged_heads(head: bytes, status: int, size: int) -> None:
    """A head that agrees with the body is archived unchanged."""
    assert archived_head(head, status, size) == head


CHANGED = [
    (
        "chunking was removed",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nA: b\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nX-Crawler-Transfer-Encoding: chunked\r\nA: b\r\nContent-Length: 7\r\n\r\n",
    ),
    (
        "the body was cut",
        b"HTTP/1.1 200 OK\r\nContent-Length: 900\r\nA: b\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nX-Crawler-Content-Length: 900\r\nA: b\r\nContent-Length: 7\r\n\r\n",
    ),
    (
        "two lengths",
        b"HTTP/1.1 200 OK\r\nContent-Length: 7\r\nContent-Length: 8\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nX-Crawler-Content-Length: 7\r\nX-Crawler-Content-Length: 8\r\nContent-Length: 7\r\n\r\n",
    ),
    (
        "both, with bare line feeds",
        b"HTTP/1.1 200 OK\ntransfer-encoding: gzip,\n chunked\nContent-Length: 1\n\n",
        b"HTTP/1.1 200 OK\nX-Crawler-transfer-encoding: gzip,\n chunked\nX-Crawler-Content-Length: 1\n"
        b"Content-Length: 7\n\n",
    ),
    ("no end", b"HTTP/1.1 200 OK\r\nA: b", b"HTTP/1.1 200 OK\r\nA: b\r\n\r\n"),
    ("an end inside", b"HTTP/1.1 200 OK\r\nA: b\n\nC: d\r\n\r\n", b"HTTP/1.1 200 OK\r\nA: b\nC: d\r\n\r\n"),
]


@pytest.mark.parametrize(("head", "expected"), [row[1:] for row in CHANGED], ids=[row[0] for row in CHANGED])
def test_changed_heads(head: bytes, expected: bytes) -> None:
    """Fields that do not agree with the archived body are renamed, and the length is corrected."""
    assert archived_head(head, 200, 7) == expected


@given(head=st.binary(max_size=200), body=st.binary(max_size=50))
def test_head_and_body_are_split_again(head: bytes, body: bytes) -> None:
    """Any archived head and its body are split at the same byte."""
    written = archived_head(head, 200, len(body))

    assert split_head(written + body) == (written, body)


def test_parsing() -> None:
    """Status, media type and fields are parsed; folded lines are joined."""
    head = b"HTTP/1.1 203 Fine\r\nContent-Type: Text/HTML;charset=x\r\nA: b\r\n  c\r\nbroken\r\n\r\n"

    assert status_of(head) == 203
    assert media_type_of(head) == "Text/HTML"
    assert parse_fields(head) == (("content-type", "Text/HTML;charset=x"), ("a", "b c"))
    assert (status_of(b"junk 200 x"), media_type_of(b"HTTP/1.1 200 OK\r\n\r\n")) == (None, None)


@pytest.mark.parametrize(
    "head",
    [
        b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 7\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nETag: x\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 5000\r\nDate: y\r\n\r\n",
        b"HTTP/1.1 200 OK\nTransfer-Encoding: chunked\n\n",
    ],
)
def test_the_received_head_is_known_again(head: bytes) -> None:
    """What the archive changes in a head can be undone."""
    assert received_head(archived_head(head, 200, 7)) == head
