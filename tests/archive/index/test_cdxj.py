from __future__ import annotations

import pytest

from webstrata.archive.index import cdxj


def test_format() -> None:
    """Keys are in a fixed order, numbers are strings, and the line is ASCII."""
    line = cdxj.line(
        kind="response",
        url='http://example.com/é"',
        date="2026-09-21T14:13:20.25Z",
        digest="sha1:X",
        truncated="length",
        head=b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=x\r\n\r\n",
        content_type=None,
        length=10,
        offset=20,
        filename="a.warc.gz",
    )

    assert line == (
        b'com,example)/%c3%a9" 20260921141320 {"url": "http://example.com/\\u00e9\\"", "mime": "text/html", '
        b'"status": "200", "digest": "sha1:X", "length": "10", "offset": "20", "filename": "a.warc.gz", '
        b'"truncated": "length"}\n'
    )
    entry = cdxj.parse(line)
    assert entry is not None
    assert (entry.url, entry.length, entry.offset, entry.truncated) == ('http://example.com/é"', 10, 20, "length")


DATES = [
    ("2026-09-21T14:13:20Z", "20260921141320", 1_790_000_000.0),
    ("2026-09-21T14:13:20.123456789Z", "20260921141320", 1_790_000_000.123456),
    ("2026-09-21T14:13Z", "20260921141300", 1_789_999_980.0),
    ("2026-09-21", "20260921000000", 1_789_948_800.0),
    ("2026", "20260101000000", 1_767_225_600.0),
    ("20260921141320", "20260921141320", 1_790_000_000.0),
    ("201404010000000000", "20140401000000", 1_396_310_400.0),
    ("blue monday", "00000000000000", 0.0),
    ("2026-99-99T99:99:99Z", "20269999999999", 0.0),
]


@pytest.mark.parametrize(("date", "stamp", "at"), DATES)
def test_dates(date: str, stamp: str, at: float) -> None:
    """Dates of any precision give a timestamp and an instant; invalid dates give zeros."""
    assert cdxj.timestamp(date) == stamp
    assert cdxj.at_of(date) == at


@pytest.mark.parametrize("line", [b"", b"junk", b"a b", b"a b {", b"a {}", b"\xff 1 {}", b'a 1 {"offset": "x"}'])
def test_invalid_lines(line: bytes) -> None:
    """Parsing an invalid line returns None."""
    assert cdxj.parse(line) is None


@pytest.mark.parametrize("url", ["", " ", "not a url", "http://[", "urn:x:y z", "\ud800", "dns:example.com"])
def test_every_url_has_a_key(url: str) -> None:
    """The key of any text is ASCII without spaces."""
    key = cdxj.surt_key(url)

    assert key
    assert key.isascii()
    assert not any(char.isspace() for char in key)
