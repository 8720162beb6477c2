"""Times as feeds write them -> instants: ISO 8601 in its many forms, and the mail format with its many mistakes."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime

_LONGEST = 64
_ISO = re.compile(
    r"(\d{4})(?:-?(\d\d)(?:-?(\d\d))?)?"
    r"(?:[T ]+(\d\d):?(\d\d)(?::?(\d\d)(?:[.,]\d+)?)?)?\s*(Z|UTC|GMT|[+-]\d\d:?(?:\d\d)?)?",
    re.IGNORECASE | re.ASCII,
)


def instant_of(text: str) -> float | None:
    """Seconds since 1970; None for what is no time. Without a zone, UTC is meant."""
    text = text[:_LONGEST].strip()
    match = _ISO.fullmatch(text)
    try:
        moment = _from_iso(match) if match else parsedate_to_datetime(text)
    except (ValueError, OverflowError, IndexError, TypeError):
        return None
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


def _from_iso(match: re.Match[str]) -> datetime:
    year, month, day, hour, minute, second, zone = match.groups()
    moment = datetime(int(year), int(month or 1), int(day or 1), int(hour or 0), int(minute or 0), tzinfo=UTC)
    moment += timedelta(seconds=int(second or 0))  # 60 is a leap second
    if zone and zone[0] in "+-":
        offset = timedelta(hours=int(zone[1:3]), minutes=int(zone[3:].lstrip(":") or 0))
        moment += offset if zone[0] == "-" else -offset
    return moment
