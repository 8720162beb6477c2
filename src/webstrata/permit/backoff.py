"""How long a host is left alone after a refusal: Retry-After, else a pause that doubles; and the HTTP dates for it.

HTTP dates and Retry-After (RFC 9110, 5.6.7 and 10.2.3) are parsed leniently and bounded.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from zlib import crc32

from webstrata.permit.spacing import PolitenessRules
from webstrata.records import Exchange, FailureKind

MAX_RETRY_AFTER_S = 366 * 86_400.0
"""Upper bound of Retry-After, so that no response can overflow a clock."""

_MONTH_NAMES = "jan feb mar apr may jun jul aug sep oct nov dec"
_MONTHS = {name: number for number, name in enumerate(_MONTH_NAMES.split(), start=1)}
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
_MAX_TEXT = 64


def parse_http_date(text: str) -> float | None:
    """The instant of an HTTP-date in any of its three forms, or None.

    The weekday is not checked; `UTC` and `+0000` are accepted for `GMT`, in upper or lower case. Two-digit years mean
    1970 to 2069.
    """
    text = text.strip()
    if len(text) > _MAX_TEXT:
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
    if second > 60:  # 60 is a leap second, the largest value of the grammar
        return None
    return whole.timestamp() + (second - min(second, 59))


def parse_retry_after(text: str, now: float) -> float | None:
    """Seconds to wait, between 0 and a year, from a number of seconds or an HTTP-date; None for anything else."""
    text = text.strip()
    if text.isascii() and text.isdigit():
        return MAX_RETRY_AFTER_S if len(text) > 9 else min(float(text), MAX_RETRY_AFTER_S)
    at = parse_http_date(text)
    return None if at is None else min(max(at - now, 0.0), MAX_RETRY_AFTER_S)


_REFUSALS = frozenset((429, 503))
_OWN_FAULTS = frozenset((FailureKind.LOCAL, FailureKind.INTERNAL))
_UNREACHABLE = frozenset((FailureKind.REFUSED, FailureKind.CONNECT, FailureKind.TIMEOUT_CONNECT))
_PATIENCE = 3
"""Consecutive refusals for which Retry-After is obeyed exactly; at this many failed connections the pauses begin."""
_JITTER = 0.25
_MAX_DOUBLINGS = 30


def is_refusal(exchange: Exchange) -> bool:
    """Whether the server refused the request for now."""
    return exchange.status in _REFUSALS


def is_unreachable(exchange: Exchange) -> bool:
    """Whether no connection could be established."""
    return exchange.failure is not None and exchange.failure.kind in _UNREACHABLE


def is_own_fault(exchange: Exchange) -> bool:
    """Whether the request failed for a reason that lies here: it was cancelled, or this machine has a fault."""
    return exchange.failure is not None and exchange.failure.kind in _OWN_FAULTS


def pause_s(host: str, exchange: Exchange, count: int, now: float, rules: PolitenessRules) -> float:
    """Seconds to pause after the `count`-th consecutive refusal or failed connection of a host."""
    doubled = doubling_s(host, count, rules.backoff_first_s, rules.backoff_max_s)
    if is_unreachable(exchange):
        return doubled if count >= _PATIENCE else 0.0
    requested = parse_retry_after(exchange.header("retry-after") or "", now)
    if requested is None:
        return doubled
    return min(requested if count <= _PATIENCE else max(requested, doubled), rules.backoff_max_s)


def doubling_s(name: str, count: int, first_s: float, max_s: float) -> float:
    """`first_s`, doubled for each consecutive failure after the first, plus a jitter of up to a quarter.

    The jitter depends only on the name and the count, so it is the same in every run. It prevents that hosts which
    failed at the same time are requested again at the same time.
    """
    jitter = 1 + _JITTER * (crc32(f"{name} {count}".encode()) / 0xFFFF_FFFF)
    return min(first_s * 2.0 ** min(max(count - 1, 0), _MAX_DOUBLINGS) * jitter, max_s)
