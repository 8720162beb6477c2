"""Which rows of an index are copies of pages."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from webstrata.clock import parse_instant
from webstrata.copy_rules import LeftOut
from webstrata.history.index_row import IndexRow, archived_copy, instant

NOW = parse_instant("20260101000000")
DIGEST = "B2LTWWPUOYAH7UIPQ7ZUPQ4VMBSVC36A"
ROW = IndexRow(url="http://example.org/", timestamp="20140103030321", mime="text/html", status="200", digest=DIGEST)


def _changed(**changes: str) -> IndexRow:
    return replace(ROW, **changes)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"url": "http://exa mple.org/"}, "invalid-url"),
        ({"url": "http://user@example.org/"}, "invalid-url"),
        ({"url": "nothing"}, "invalid-url"),
        ({"url": "http://example.org/" + "x" * 3000}, "invalid-url"),
        ({"url": "dns:example.org"}, "not-a-page"),
        ({"url": "ftp://example.org/"}, "not-a-page"),
        ({"url": "metadata://example.org/"}, "not-a-page"),
        ({"url": "screenshot:http://example.org/"}, "not-a-page"),
        ({"url": "urn:pageinfo:http://example.org/"}, "not-a-page"),
        ({"mime": "warc/metadata"}, "not-a-page"),
        ({"mime": "warc/request"}, "not-a-page"),
        ({"timestamp": "2014010303032"}, "invalid-date"),
        ({"timestamp": "20140230030321"}, "invalid-date"),
        ({"timestamp": "20140103240321"}, "invalid-date"),
        ({"timestamp": "19890103030321"}, "invalid-date"),
        ({"timestamp": "201401030303210000"}, "invalid-date"),
        ({"timestamp": "२०१४०१०३०३०३२१"}, "invalid-date"),
        ({"timestamp": "20260103000000"}, "future"),
        ({"timestamp": "99991231235959"}, "future"),
        ({"status": "302"}, "error-status"),
        ({"status": "404"}, "error-status"),
        ({"status": "503"}, "error-status"),
        ({"status": "304"}, "error-status"),
        ({"status": "100"}, "error-status"),
        ({"status": "two"}, "malformed"),
        ({"digest": "ABC"}, "bad-checksum"),
        ({"digest": f"{DIGEST}0"}, "bad-checksum"),
    ],
)
def test_rows_left_out(changes: dict[str, str], reason: str) -> None:
    """A row that is no copy has a reason."""
    found = archived_copy(_changed(**changes), "archive", NOW)
    assert isinstance(found, LeftOut)
    assert found.reason == reason


@pytest.mark.parametrize(
    ("changes", "url", "digest", "status"),
    [
        ({}, "http://example.org/", f"sha1:{DIGEST}", 200),
        ({"url": "HTTP://EXAMPLE.org:80/a#b"}, "http://example.org/a", f"sha1:{DIGEST}", 200),
        ({"url": "example.org/a"}, "http://example.org/a", f"sha1:{DIGEST}", 200),
        ({"url": "example.org:8080/a"}, "http://example.org:8080/a", f"sha1:{DIGEST}", 200),
        ({"status": "-", "mime": "warc/revisit"}, "http://example.org/", f"sha1:{DIGEST}", 0),
        ({"status": "304", "mime": "warc/revisit"}, "http://example.org/", f"sha1:{DIGEST}", 0),
        (
            {"status": "304", "mime": "warc/revisit", "digest": "3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ"},
            "http://example.org/", "", 0,
        ),
        ({"status": "", "digest": "-", "mime": "-"}, "http://example.org/", "", 0),
        ({"status": "204"}, "http://example.org/", f"sha1:{DIGEST}", 204),
        ({"mime": "application/pdf"}, "http://example.org/", f"sha1:{DIGEST}", 200),
    ],
)  # fmt: skip
def test_copies(changes: dict[str, str], url: str, digest: str, status: int) -> None:
    """The URL is canonical, the digest has one form, and what the index does not know is empty."""
    copy = archived_copy(_changed(**changes), "archive", NOW)
    assert not isinstance(copy, LeftOut)
    assert (copy.url, copy.digest, copy.status, copy.archive) == (url, digest, status, "archive")
    assert copy.at == parse_instant("20140103030321")


def test_instants() -> None:
    """Up to 17 digits name milliseconds; a leap second is the second before it; a copy of today is kept."""
    assert instant("20161231235960") == parse_instant("20161231235959")
    assert instant("20140103030321250") == parse_instant("20140103030321") + 0.25
    assert instant("201401030303215") == parse_instant("20140103030321") + 0.5
    assert not isinstance(archived_copy(_changed(timestamp="20260101120000"), "archive", NOW), LeftOut)
