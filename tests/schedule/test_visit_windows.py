"""Visit windows: parsing, local time across changes of the clocks, and the next opening."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webstrata.clock import parse_instant
from webstrata.errors import UsageError
from webstrata.schedule.visit_windows import VisitWindow, VisitWindows, parse_windows

ZONES = ("UTC", "Europe/Vienna", "America/New_York", "Asia/Kathmandu", "Australia/Lord_Howe", "Africa/Casablanca")
DAY_MIN = 1440


@st.composite
def windows(draw: st.DrawFn) -> VisitWindows:
    def window() -> VisitWindow:
        first, last = draw(st.integers(0, 6)), draw(st.integers(0, 6))
        if (first - last) % 7 == 1:
            first, last = 0, 6
        start = draw(st.integers(0, DAY_MIN - 1))
        length = draw(st.integers(1, DAY_MIN).filter(lambda length: start == 0 or length < DAY_MIN))
        return VisitWindow(first, last, start, start + length)

    return VisitWindows(tuple(window() for _ in range(draw(st.integers(1, 4)))), draw(st.sampled_from(ZONES)))


@given(windows())
def test_texts_are_parsed_back(some: VisitWindows) -> None:
    """The text of windows describes the same windows."""
    assert parse_windows(str(some)) == some


@given(windows(), st.integers(1_700_000_000, 1_900_000_000))
def test_the_next_opening(some: VisitWindows, at: int) -> None:
    """It is open then, it is not before the given time, and no minute between them is open."""
    opening = some.next_open(float(at))
    assert opening >= at
    assert some.is_open(opening)
    minute = (at // 60 + 1) * 60
    between = [then for then in range(minute, min(int(opening), minute + 100_000), 60) if some.is_open(float(then))]
    assert between == []
    if opening > at:
        assert not some.is_open(float(at))
        assert not some.is_open(opening - 1)


@given(windows(), st.integers(1_700_000_000, 1_900_000_000))
def test_the_next_closing(some: VisitWindows, at: int) -> None:
    """It is closed then, and open in every minute before; windows without an end never close."""
    closing = some.next_closed(float(at))
    minutes = range((at // 60 + 1) * 60, int(min(closing, at + 100_000)), 60)
    assert all(some.is_open(float(then)) for then in minutes)
    if closing < float("inf"):
        assert closing >= at
        assert not some.is_open(closing)
    assert parse_windows("0-24 UTC").next_closed(float(at)) == float("inf")


@given(windows(), st.integers(1_700_000_000, 1_900_000_000))
def test_open_by_the_clock_on_the_wall(some: VisitWindows, at: int) -> None:
    """A window is open if the local day and time, or those of the day before, are within it."""
    local = datetime.fromtimestamp(at, ZoneInfo(some.zone)).replace(tzinfo=None)
    midnight = local.replace(hour=0, minute=0, second=0)
    expected = False
    for window in some.windows:
        for day in (midnight, midnight - timedelta(days=1)):
            begins = day + timedelta(minutes=window.start_min)
            ends = day + timedelta(minutes=window.end_min)
            days = {(window.first_day + n) % 7 for n in range((window.last_day - window.first_day) % 7 + 1)}
            expected |= day.weekday() in days and begins <= local < ends
    assert some.is_open(float(at)) == expected


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("Mon-Fri 9-17 Europe/Vienna", "Mon-Fri 9-17 Europe/Vienna"),
        ("monday – FRIDAY  09:00 - 17:30, sat 10-12   europe/vienna", "Mon-Fri 9-17:30, Sat 10-12 Europe/Vienna"),
        ("9-17 UTC", "9-17 UTC"),
        ("Sat UTC", "Sat UTC"),
        ("Sat-Mon 22-6 UTC", "Sat-Mon 22-6 UTC"),
        ("Fri-Thu 0-12 UTC", "0-12 UTC"),
        ("0-24 UTC", "0-24 UTC"),
    ],
)
def test_notations(text: str, canonical: str) -> None:
    """Days may be long or short, hours with or without minutes; the canonical text is short."""
    assert str(parse_windows(text)) == canonical


@pytest.mark.parametrize(
    ("text", "now", "opening"),
    [
        # 2026-03-29: clocks in Vienna go from 2 to 3 at 01:00 UTC; 2026-10-25: from 3 to 2 at 01:00 UTC.
        ("9-17 Europe/Vienna", "2026-03-28T17:00:00Z", "2026-03-29T07:00:00Z"),
        ("9-17 Europe/Vienna", "2026-03-27T17:00:00Z", "2026-03-28T08:00:00Z"),
        ("2:30-4 Europe/Vienna", "2026-03-29T00:00:00Z", "2026-03-29T01:00:00Z"),
        ("2-3 Europe/Vienna", "2026-03-29T00:00:00Z", "2026-03-30T00:00:00Z"),
        ("Sun 2-3 Europe/Vienna", "2026-03-29T00:00:00Z", "2026-04-05T00:00:00Z"),
        ("2:30-3 Europe/Vienna", "2026-10-25T00:00:00Z", "2026-10-25T00:30:00Z"),
        ("2:30-3 Europe/Vienna", "2026-10-25T01:00:00Z", "2026-10-25T01:30:00Z"),
        ("Mon-Fri 9-17 Europe/Vienna", "2026-11-13T16:00:00Z", "2026-11-16T08:00:00Z"),
        ("Mon-Fri 9-17, Sat 10-12 Europe/Vienna", "2026-11-13T16:00:00Z", "2026-11-14T09:00:00Z"),
        ("Fri 22-6 Europe/Vienna", "2026-11-14T04:59:59Z", "2026-11-14T04:59:59Z"),
        ("Fri 22-6 Europe/Vienna", "2026-11-14T05:00:00Z", "2026-11-20T21:00:00Z"),
    ],
)
def test_openings(text: str, now: str, opening: str) -> None:
    """Openings follow the local clock, also where it changes."""
    found = parse_windows(text).next_open(parse_instant(now))
    assert datetime.fromtimestamp(found, UTC) == datetime.fromtimestamp(parse_instant(opening), UTC)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "empty"),
        ("Mon-Fri 9-17", "no windows with a time zone at the end"),
        ("Mon-Fri", "no windows with a time zone at the end"),
        ("Mon, Tue", "no windows with a time zone at the end"),
        ("UTC", "no windows with a time zone at the end"),
        ("Mon-Fri 9-17 Europe/Wien", "there is no time zone 'Europe/Wien'. Did you mean Europe/Vie"),
        ("Mon-Fri 9-17 Europe", "there is no time zone 'Europe'"),
        ("Mon-Fri 9-17 ../../etc/passwd", "there is no time zone"),
        ("Mon-Fri 9-17 " + "x" * 500, "there is no time zone"),
        ("Mon-Fri 9-25 UTC", "'25' in 'Mon-Fri 9-25' is not a time of the day"),
        ("Mon-Fri 9:60-17 UTC", "'9:60'"),
        ("Mon-Fri 9-9 UTC", "is empty"),
        ("24-24 UTC", "is empty"),
        ("24-6 UTC", "is empty"),
        ("Foo 9-17 UTC", "'Foo' in 'Foo 9-17' is not a day. Days are Mon, Tue"),
        ("Mon-Monster UTC", "'Monster'"),
        ("Mon-Fri 9 UTC", "'Mon-Fri 9' is not a visit window"),
        ("Mon-Fri 9-17,, UTC", "'' is not a visit window"),
        ("Mon-Fri 9-17; Sat UTC", "is not a visit window"),
        (", ".join(["Mon"] * 51) + " UTC", "at most 50"),
        ("9-17 " * 1000 + "UTC", "at most 1000"),
    ],
)
def test_mistakes(text: str, message: str) -> None:
    """Errors name the part that is wrong."""
    with pytest.raises(UsageError) as problem:
        parse_windows(text)
    assert message in str(problem.value)


@given(st.text(alphabet="MonFriSat 0123456789-:,/UTCEurope\u2013", max_size=60) | st.text(max_size=40))
def test_any_text_gives_windows_or_an_error(text: str) -> None:
    """No text raises another exception, and windows always open."""
    try:
        found = parse_windows(text)
    except UsageError:
        return
    assert found.is_open(found.next_open(1.8e9))
