"""WARC files are read in bounded memory, and only if they are written as captures write them."""

from __future__ import annotations

import io
import tracemalloc

import pytest
from isal import isal_zlib

from tests.archive.conftest import make_capture
from webstrata.archive.wacz.record_stream import MAX_RECORD_BYTES, RecordStream, StreamError
from webstrata.archive.warc.compose import ExchangeRecords

RECORD = ExchangeRecords(make_capture(), "urn:uuid:1", "urn:uuid:2").record


def packed(record: bytes) -> bytes:
    return bytes(isal_zlib.compress(record, 2, 31))


def stream(data: bytes) -> RecordStream:
    return RecordStream(io.BytesIO(data), 0, len(data))


def test_records_and_bodies() -> None:
    """Each record has its place, its digests and its payload."""
    first, second = stream(packed(RECORD) * 2).records()
    assert (first.offset, second.offset) == (0, first.length)
    assert first.sha256 == second.sha256
    assert stream(packed(RECORD)).body(0, 1000) == b"<title>hello</title>"
    assert stream(packed(RECORD)).body(0, 5) is None


@pytest.mark.parametrize(
    "data",
    [
        packed(RECORD)[:-1],
        packed(RECORD) + b"x",
        b"x" + packed(RECORD),
        packed(RECORD + b"x"),
        packed(RECORD[:-1]),
        packed(RECORD + RECORD),
        packed(b"no record"),
        packed(RECORD.replace(b"Content-Length: ", b"Content-Length: 9", 1)),
        packed(RECORD.replace(b"WARC-Date", b" WARC-Date", 1)),
        packed(RECORD)[:-5] + bytes([packed(RECORD)[-5] ^ 1]) + packed(RECORD)[-4:],
        b"",
    ],
)
def test_other_bytes(data: bytes) -> None:
    """Nothing but one record in each gzip member is accepted; folded header lines and a wrong checksum are not."""
    if not data:
        assert list(stream(data).records()) == []
        return
    with pytest.raises(StreamError):
        list(stream(data).records())


def test_a_record_that_inflates_a_thousand_times() -> None:
    """A record larger than the limit ends the reading; the memory does not grow with it."""
    head = RECORD.partition(b"Content-Length")[0]
    declared = b"Content-Length: %d\r\n\r\n" % (2 * MAX_RECORD_BYTES)
    engine = isal_zlib.compressobj(2, isal_zlib.DEFLATED, 31)
    data = engine.compress(head + declared) + b"".join(engine.compress(bytes(1 << 24)) for _ in range(80))
    data += engine.flush()
    assert len(data) * 100 < 80 << 24
    tracemalloc.start()
    with pytest.raises(StreamError, match="inflates to more than"):
        list(stream(data).records())
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 64 << 20
