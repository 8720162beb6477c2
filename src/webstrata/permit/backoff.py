"""HTTP dates and Retry-After (RFC 9110, 5.6.7 and 10.2.3), read leniently and bounded.

How long a host rests after it refused: as long as it asks, else doubling.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from zlib import crc32

from webstrata.permit.spacing import PolitenessRules
from webstrata.records import Exchange, FailureKind

LONGEST_S = 366 * 86_400.0
"""A longer Retry-After is cut to this: no answer of a server may overflow a clock."""

_MONTHS = {
    name: number
    for number, name in enumerate(
        ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"), start=1
    )
}
_TIME = r"(?P<hour>\d\d):(?P<minute>\d\d):(?P<second>\d\d)"
_MONTH = rf"(?P<month>{'|'.join(_MONTHS)})"
_ZONE = r"(?:gmt|utc|\+0000)"
_FORMS = tuple(
    re.compile(form, re.ASCII | re.IGNORECASE)
    for form in (
        rf"[a-z]{{3}}, (?P<day>\d\d?) {_MONTH} (?P<year>\d{{4}}) {_TIME} {_ZONE}",  # IMF-fixdate
        rf"[a-z]{{6,9}}, (?P<day>\d\d)-{_MONTH}-(?P<year>\d\d) {_TIME} {_ZONE}",  # RFC 850
        rf"[a-z]{{3}} {_MONTH} (?P<day>[ \d]\d) {_TIME} (?P<year>\d{{4}})",  # asctime
    )
)
_LONGEST_TEXT = 64


def parse_http_date(text: str) -> float | None:
    """The instant of an HTTP-date in any of its three forms, or None.

    The weekday is not checked; `UTC` and `+0000` pass for `GMT`, in any case of letters. Two-digit years are those
    of 1970 to 2069.
    """
    text = text.strip()
    if len(text) > _LONGEST_TEXT:
        return None
    for form in _FORMS:
        match = form.fullmatch(text)
        if match:
            return _instant(match)
    return None


def _instant(match: re.Match[str]) -> float | None:
    year = int(match["year"])
    if len(match["year"]) == 2:
        year += 1900 if year >= 70 else 2000
    month, day = _MONTHS[match["month"].lower()], int(match["day"])
    hour, minute, second = int(match["hour"]), int(match["minute"]), int(match["second"])
    try:
        whole = datetime(year, month, day, hour, minute, min(second, 59), tzinfo=UTC)
    except ValueError:
        return None
    if second > 60:  # 60 is a leap second, the grammar's last
        return None
    return whole.timestamp() + (second - min(second, 59))


def parse_retry_after(text: str, now: float) -> float | None:
    """Seconds to wait, between 0 and a year, from a number of seconds or an HTTP-date; None for anything else."""
    text = text.strip()
    if text.isascii() and text.isdigit():
        return LONGEST_S if len(text) > 9 else min(float(text), LONGEST_S)
    at = parse_http_date(text)
    return None if at is None else min(max(at - now, 0.0), LONGEST_S)


_REFUSALS = frozenset((429, 503))
_UNREACHABLE = frozenset((FailureKind.REFUSED, FailureKind.CONNECT, FailureKind.TIMEOUT_CONNECT))
_PATIENCE = 3
"""So many refusals in a row are met as the server asks, so many failed connections without a rest; then it doubles."""
_JITTER = 0.25
_MOST_DOUBLINGS = 30


def is_refusal(exchange: Exchange) -> bool:
    """The server said: not now."""
    return exchange.status in _REFUSALS


def is_unreachable(exchange: Exchange) -> bool:
    """Nobody answered at the address."""
    return exchange.failure is not None and exchange.failure.kind in _UNREACHABLE


def rest_s(host: str, exchange: Exchange, count: int, now: float, rules: PolitenessRules) -> float:
    """Seconds that a host rests after its `count`-th refusal or failed connection in a row."""
    doubled = doubling_s(host, count, rules.backoff_first_s, rules.backoff_max_s)
    if is_unreachable(exchange):
        return doubled if count >= _PATIENCE else 0.0
    asked = parse_retry_after(exchange.header("retry-after") or "", now)
    if asked is None:
        return doubled
    return min(asked if count <= _PATIENCE else max(asked, doubled), rules.backoff_max_s)


def doubling_s(name: str, count: int, first_s: float, max_s: float) -> float:
    """`first_s`, doubled for each further in a row, with up to a quarter more that depends on the name only.

    The jitter keeps hosts that failed together from being asked again together, and is the same in every run.
    """
    jitter = 1 + _JITTER * (crc32(f"{name} {count}".encode()) / 0xFFFF_FFFF)
    return min(first_s * 2.0 ** min(max(count - 1, 0), _MOST_DOUBLINGS) * jitter, max_s)
