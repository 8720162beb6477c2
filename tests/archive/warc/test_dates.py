"""Dates of records as intervals."""

from __future__ import annotations

import pytest

from webstrata.archive.warc.dates import date_interval

AT = 1_788_256_800.0
"""2026-09-01T10:00:00Z"""


@pytest.mark.parametrize(
    ("date", "at", "resolution_s"),
    [
        ("2026-09-01T10:00:00Z", AT, 1.0),
        ("20260901100000", AT, 1.0),
        ("20260901100000250", AT + 0.25, 0.001),
        ("2026-09-01T10:00:00.25Z", AT + 0.25, 0.01),
        ("2026-09-01T10:00:00.250Z", AT + 0.25, 0.001),
        ("2026-09-01T10:00:00.250000Z", AT + 0.25, 1e-6),
        ("2026-09-01T10:00:00.250000000Z", AT + 0.25, 1e-6),
        ("2026-09-01T10:00:00.000Z", AT, 1.0),  # filled up with zeros
        ("2026-09-01T12:00:00+02:00", AT, 1.0),
        ("2026-09-01T08:00:00.5-0200", AT + 0.5, 0.1),
        (" 2026-09-01 10:00:00 ", AT, 1.0),
        ("2026-09-01T10:00Z", AT, 60.0),
        ("2026-09-01", AT - 36_000, 86_400.0),
        ("2026-09", AT - 36_000, 30 * 86_400.0),
        ("2016-12-31T23:59:60Z", 1_483_228_799.0, 2.0),  # the leap second
    ],
)
def test_intervals(date: str, at: float, resolution_s: float) -> None:
    interval = date_interval(date)

    assert interval is not None
    assert interval == (at, pytest.approx(resolution_s))


def test_a_year_is_an_interval() -> None:
    interval = date_interval("2026")

    assert interval is not None
    assert interval.resolution_s == 366 * 86_400.0


@pytest.mark.parametrize(
    "date",
    [
        "",
        "yesterday",
        "2026-13-01T00:00:00Z",
        "2026-02-30",
        "0000-01-01",
        "20261301000000",
        "2026-09-01T",
        "9" * 40,
        "9999-12-31T23:59:59Z",
    ],
)
def test_no_dates(date: str) -> None:
    assert date_interval(date) is None
