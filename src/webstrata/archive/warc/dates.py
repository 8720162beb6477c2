"""The dates of records as intervals: a date of whole seconds tells the second, not the moment."""

from __future__ import annotations

import re
from calendar import monthrange
from datetime import UTC, datetime, timedelta, timezone
from typing import NamedTuple

_DIGITS = re.compile(r"(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(?:(\d\d)(\d{0,9}))?")
_W3C = re.compile(
    r"(\d{4})(?:-(\d\d)(?:-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:[.,](\d{1,12}))?)?\s*(Z|[+-]\d\d:?\d\d)?)?)?)?",
    re.IGNORECASE | re.ASCII,
)
_YEARS = frozenset(map(str, range(1970, 3000)))
"""There was no web before, and times far from ours have no ISO 8601 form with four digits in all zones."""
_DAY_S, _MINUTE_S = 86_400.0, 60.0
_FINEST_S = 1e-6
"""Instants are floats, which hold about a quarter of a microsecond."""


class DateInterval(NamedTuple):
    """The interval that a date names: from `at` to `at + resolution_s`, without its end."""

    at: float
    resolution_s: float


def date_interval(date: str) -> DateInterval | None:
    """The interval of a WARC-Date of any precision, or of an ARC date; None if it is not a date.

    Some writers fill up dates of whole seconds with zeros, so a fraction of zeros only is no fraction.
    """
    text = date.strip()
    match = _DIGITS.fullmatch(text) or _W3C.fullmatch(text)
    if match is None or match[1] not in _YEARS:
        return None
    year, month, day, hour, minute, second, fraction, *rest = match.groups()
    # The leap second is in the last second of its minute for all clocks that know none, and takes one more.
    is_leap = second == "60"
    try:
        moment = datetime(
            int(year),
            int(month or 1),
            int(day or 1),
            int(hour or 0),
            int(minute or 0),
            59 if is_leap else int(second or 0),
            int((fraction or "0")[:6].ljust(6, "0")),
            tzinfo=_zone(rest[0] if rest else None),
        )
        at = moment.timestamp()
    except (ValueError, OverflowError):
        return None
    if is_leap:
        return DateInterval(float(int(at)), 2.0)
    return DateInterval(at, _resolution_s(moment, month, day, hour, second, fraction))


def _zone(text: str | None) -> timezone:
    if text is None or text in "zZ":
        return UTC
    hours, minutes = int(text[1:3]), int(text[-2:])
    return timezone((1 if text[0] == "+" else -1) * timedelta(hours=hours, minutes=minutes))


def _resolution_s(
    moment: datetime, month: str | None, day: str | None, hour: str | None, second: str | None, fraction: str | None
) -> float:
    if fraction and fraction.strip("0"):
        return max(_FINEST_S, 10.0 ** -len(fraction))
    if second:
        return 1.0
    if hour:
        return _MINUTE_S
    if day:
        return _DAY_S
    return _DAY_S * (monthrange(moment.year, moment.month)[1] if month else 366)
