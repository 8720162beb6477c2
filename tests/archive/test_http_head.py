"""Heads that are archived agree with their bodies, and keep everything else."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webstrata.archive.warc.http_head import archived_head, media_type_of, parse_fields, split_head, status_of

KEPT = [
    ("no framing at all", b"HTTP/1.0 200 OK\r\nA: b\r\n\r\n", 200, 7),
    ("right length", b"HTTP/1.1 200 OK\r\nContent-Length: 7\r\nA:  b \r\n\r\n", 200, 7),
    ("odd spelling", b"HTTP/1.1 200 OK\r\ncontent-LENGTH :\t7 \r\n\r\n", 200, 7),
    ("a 304 tells the length of what it stands for", b"HTTP/1.1 304 X\r\nContent-Length: 7\r\n\r\n", 304, 0),
    ("bare line feeds", b"HTTP/1.1 200 OK\nContent-Length: 7\n\n", 200, 7),
    ("a longer name", b"HTTP/1.1 200 OK\r\nContent-Length-Hint: 9\r\n\r\n", 200, 7),
]


@pytest.mark.parametrize(("head", "status", "size"), [row[1:] for row in KEPT], ids=[row[0] for row in KEPT])
def test_kept(head: bytes, status: int, size: int) -> None:
    """A head that says the truth is archived byte for byte."""
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
def test_changed(head: bytes, expected: bytes) -> None:
    """What a transfer coding or a cut made untrue is renamed, and the length is put right."""
    assert archived_head(head, 200, 7) == expected


@given(head=st.binary(max_size=200), body=st.binary(max_size=50))
def test_every_reader_splits_where_the_writer_did(head: bytes, body: bytes) -> None:
    """Whatever a server sent as a head, head and body come apart again at the same byte."""
    written = archived_head(head, 200, len(body))

    assert split_head(written + body) == (written, body)


def test_reading() -> None:
    """Status, media type and fields are read as sent, folded lines joined."""
    head = b"HTTP/1.1 203 Fine\r\nContent-Type: Text/HTML;charset=x\r\nA: b\r\n  c\r\nbroken\r\n\r\n"

    assert status_of(head) == 203
    assert media_type_of(head) == "Text/HTML"
    assert parse_fields(head) == (("content-type", "Text/HTML;charset=x"), ("a", "b c"))
    assert (status_of(b"junk 200 x"), media_type_of(b"HTTP/1.1 200 OK\r\n\r\n")) == (None, None)
