"""HTTP dates and Retry-After are parsed."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webstrata.permit.backoff import MAX_RETRY_AFTER_S, parse_http_date, parse_retry_after

BIRTHDAY = 784_111_777.0  # 1994-11-06T08:49:37Z

DATES = [
    ("Sun, 06 Nov 1994 08:49:37 GMT", BIRTHDAY),
    ("Sunday, 06-Nov-94 08:49:37 GMT", BIRTHDAY),
    ("Sun Nov  6 08:49:37 1994", BIRTHDAY),
    ("  sun, 06 nov 1994 08:49:37 utc ", BIRTHDAY),
    ("Sun, 6 Nov 1994 08:49:37 +0000", BIRTHDAY),
    ("Thu, 01 Jan 1970 00:00:00 GMT", 0.0),
    ("Tue, 30 Jun 2015 23:59:60 GMT", 1_435_708_800.0),
    ("Sun, 06 Nov 1994 08:49:61 GMT", None),
    ("Sun, 06 Nov 1994 24:00:00 GMT", None),
    ("Tue, 30 Feb 2021 00:00:00 GMT", None),
    ("Sun, 06 Nov 1994 08:49:37 PST", None),
    ("Sun, ٠٦ Nov 1994 08:49:37 GMT", None),
    ("1994-11-06", None),
    ("", None),
    ("x" * 100_000, None),
]


@pytest.mark.parametrize(("text", "at"), DATES)
def test_http_dates(text: str, at: float | None) -> None:
    """The three forms of an HTTP-date are parsed; anything else is None."""
    assert parse_http_date(text) == at


WAITS = [
    ("120", 120.0),
    (" 0 ", 0.0),
    ("99999999999999999999", MAX_RETRY_AFTER_S),
    ("999999999", MAX_RETRY_AFTER_S),
    ("Sun, 06 Nov 1994 08:50:37 GMT", 60.0),
    ("Sun, 06 Nov 1994 08:00:00 GMT", 0.0),
    ("Fri, 31 Dec 9999 23:59:59 GMT", MAX_RETRY_AFTER_S),
    ("-5", None),
    ("1.5", None),
    ("٣", None),
    ("soon", None),
    ("", None),
]


@pytest.mark.parametrize(("text", "seconds"), WAITS)
def test_retry_after(text: str, seconds: float | None) -> None:
    """Seconds or a date become a bounded number of seconds; anything else is None."""
    assert parse_retry_after(text, BIRTHDAY) == seconds


@given(st.text())
def test_any_text_is_accepted(text: str) -> None:
    """No header value raises an exception, and every result is bounded."""
    wait_s = parse_retry_after(text, 0.0)

    assert wait_s is None or 0 <= wait_s <= MAX_RETRY_AFTER_S
