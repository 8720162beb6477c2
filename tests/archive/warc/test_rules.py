"""Faults of the fields of records."""

from __future__ import annotations

import pytest

from webstrata.archive.warc.record import parse_record
from webstrata.archive.warc.rules import record_faults

FIELDS = (
    "WARC-Type: resource",
    "WARC-Record-ID: <urn:uuid:1>",
    "WARC-Date: 2026-01-01T00:00:00Z",
    "WARC-Target-URI: http://example.org/",
    "Content-Type: text/plain",
    "Content-Length: 2",
)


def _faults(*more: str) -> list[str]:
    raw = "\r\n".join(["WARC/1.1", *FIELDS, *more, "", "ab", "", ""]).encode()
    parsed = parse_record(raw, 0, len(raw))
    assert parsed is not None
    return record_faults(parsed[0])


@pytest.mark.parametrize("field", FIELDS)
def test_repeated_fields(field: str) -> None:
    """A repeated field is a fault, with the same value or another, and in any letter case."""
    name = field.partition(":")[0].lower()

    assert _faults() == []
    assert [fault.partition(":")[0] for fault in _faults(field.upper())] == [f"{name} is repeated"]
    assert len(_faults(field, field)) == 2


@pytest.mark.parametrize("field", ["WARC-Concurrent-To: <urn:uuid:2>", "X-Note: a", "WARC-Protocol: h2"])
def test_fields_that_may_be_repeated(field: str) -> None:
    """WARC 1.1 lets only WARC-Concurrent-To be repeated; fields that it does not define are extensions."""
    assert _faults(field, field) == []


def test_another_length_is_reported() -> None:
    """The first value is used, and the second is reported."""
    assert _faults("Content-Length: 9999") == ["content-length is repeated: '9999'"]
