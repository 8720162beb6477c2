"""Calendars: events compared one by one."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.observe.documents.samples import calendar
from webstrata.observe.documents.icalendar import calendar_digest, calendar_entries

MEETING = "UID:1@e.org\r\nSUMMARY:Meeting\\, weekly\r\nDTSTART;TZID=Europe/Berlin:20261117T093000\r\nLOCATION:Room 1"
LUNCH = "UID:2@e.org\r\nSUMMARY:Lunch\r\nDTSTART;VALUE=DATE:20261118"


def digest(body: bytes) -> str:
    data = calendar_digest(body, None, "")
    assert data.digest is not None, data.note
    return data.digest


def fields(body: bytes) -> dict[str, int]:
    data = calendar_digest(body, None, "")
    assert data.read_fields is not None
    return {field.name: field.value for field in data.read_fields()}


@pytest.mark.parametrize(
    "body",
    [
        calendar([LUNCH, MEETING]),
        calendar([MEETING, LUNCH], stamp="20300101T000000Z", product="Other 2.0"),
        calendar([MEETING.replace("weekly", "week\r\n ly"), LUNCH]),
        calendar(
            [f"{MEETING}\r\nSEQUENCE:4\r\nLAST-MODIFIED:20260101T000000Z", f"CREATED:20200101T000000Z\r\n{LUNCH}"]
        ),
        calendar([MEETING, LUNCH]).replace(b"\r\n", b"\n"),
        calendar(["LOCATION:Room 1\r\n" + MEETING.replace("\r\nLOCATION:Room 1", ""), LUNCH]),
    ],
    ids=["order", "stamps", "folding", "revisions", "line ends", "order of properties"],
)
def test_what_does_not_count(body: bytes) -> None:
    """Order, times of generation, revision numbers, folding and line ends."""
    assert digest(body) == digest(calendar([MEETING, LUNCH]))


def test_a_changed_event_is_one_changed_field() -> None:
    """Only the field of the changed event differs; its example is readable."""
    before, after = calendar([MEETING, LUNCH]), calendar([MEETING, LUNCH.replace("1118", "1119")])
    assert digest(before) != digest(after)
    old, new = fields(before), fields(after)
    assert {name for name in old if old[name] != new[name]} == {"entry:2@e.org"}
    lines = [entry.line for entry in calendar_entries(before, None)]
    assert lines == ["2026-11-17 09:30, Meeting, weekly, Room 1", "2026-11-18, Lunch"]


def test_occurrences_of_one_event() -> None:
    """A changed occurrence of a repeated event is an entry of its own; alarms belong to their event."""
    moved = f"{MEETING}\r\nRECURRENCE-ID:20261124T093000"
    alarm = f"{MEETING}\r\nBEGIN:VALARM\r\nTRIGGER:-PT5M\r\nEND:VALARM"
    assert set(fields(calendar([MEETING, moved]))) == {"entry:1@e.org", "entry:1@e.org 20261124T093000"}
    assert digest(calendar([alarm])) != digest(calendar([MEETING]))
    assert len(fields(calendar([LUNCH, LUNCH.replace("Lunch", "Dinner")]))) == 2


@pytest.mark.parametrize(
    "body",
    [b"", b"BEGIN:VEVENT\r\nEND:VEVENT", b"BEGIN:VCALENDAR\r\nEND:VCALENDAR", b"BEGIN:VCALENDAR\n" * 50],
    ids=["empty", "no calendar", "no entries", "nested"],
)
def test_calendars_without_entries(body: bytes) -> None:
    """What is no calendar, or has no entries, is compared by its bytes."""
    assert calendar_digest(body, None, "").digest is None


@given(st.binary(max_size=200))
def test_any_bytes(body: bytes) -> None:
    """Any bytes, alone or inside a calendar, give a digest or a note."""
    for content in (body, calendar([MEETING]).replace(b"weekly", body)):
        data = calendar_digest(content, None, "")
        assert (data.digest is None) == (data.note is not None)
