"""The rows of an archive's index, in files and in the answers of servers, and which of them are copies of pages."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from functools import lru_cache

from msgspec import Struct

from webstrata import urls
from webstrata.clock import DAY_S
from webstrata.digests import written_digest
from webstrata.errors import BadUrl
from webstrata.records import ArchivedCopy, SkipReason

_DIGITS = re.compile("[0-9]{14,17}")
_FIRST_YEAR = 1991
"""Of the web."""
_CLOCK_DIFFERENCE_S = DAY_S
_PAGE_SCHEME = re.compile("https?:", re.IGNORECASE)
_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*:(?![0-9])", re.IGNORECASE)
_NOT_PAGES = ("warc/", "text/dns", "screenshot")
"""Beginnings of media types of records that are not responses for a page."""
_MAX_DETAIL = 200
_UNMODIFIED = "304"
_OF_NOTHING = "sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ"
_ABSENT = frozenset({"", "-"})


class IndexRow(Struct, frozen=True, kw_only=True, gc=False):
    """A row of an index, as it is written there. `-` and an empty text stand for what the index does not know."""

    url: str
    timestamp: str
    """14 digits, or up to 17 with milliseconds."""
    mime: str = ""
    status: str = ""
    digest: str = ""


class LeftOut(Struct, frozen=True, gc=False):
    """Why a row is not a copy."""

    reason: SkipReason
    detail: str


def archived_copy(row: IndexRow, archive: str, now: float) -> ArchivedCopy | LeftOut:
    """The copy that a row of an index stands for, or why it stands for none."""
    if row.mime.startswith(_NOT_PAGES) and row.mime != "warc/revisit":
        return _left_out("not-a-page", row.mime)
    if not _PAGE_SCHEME.match(row.url) and (_SCHEME.match(row.url) or "/" not in row.url):
        return _left_out("not-a-page" if _SCHEME.match(row.url) else "invalid-url", row.url)
    try:
        url = _canonical(row.url)
    except BadUrl:
        return _left_out("invalid-url", row.url)
    at = instant(row.timestamp)
    if at is None:
        return _left_out("invalid-date", row.timestamp)
    if at > now + _CLOCK_DIFFERENCE_S:
        return _left_out("future", row.timestamp)
    status = 0 if row.mime == "warc/revisit" and row.status == _UNMODIFIED else _status(row.status)
    if status is None:
        return _left_out("malformed", f"status {row.status}")
    if status and not 200 <= status < 300:
        return _left_out("error-status", row.status)
    digest = "" if row.digest in _ABSENT else written_digest(row.digest)
    if status == 0 and row.status == _UNMODIFIED and digest == _OF_NOTHING:
        digest = ""  # of the response 304 itself, which has no body
    if digest is None:
        return _left_out("bad-checksum", row.digest)
    return ArchivedCopy(url=url, at=at, archive=archive, digest=digest, status=status)


def _left_out(reason: SkipReason, detail: str) -> LeftOut:
    return LeftOut(reason, detail[:_MAX_DETAIL])


@lru_cache(maxsize=1024)
def _canonical(url: str) -> str:
    """Indexes are sorted: most rows have the URL of the row before."""
    return urls.canonical(url if _PAGE_SCHEME.match(url) else f"http://{url}")


def _status(text: str) -> int | None:
    """The HTTP status; 0 if the index does not know it, None if it is not a status."""
    if text in _ABSENT:
        return 0
    return int(text) if len(text) == 3 and text.isascii() and text.isdigit() else None


def instant(timestamp: str) -> float | None:
    """The instant of 14 to 17 digits; None if they are not a date since the web began."""
    if not _DIGITS.fullmatch(timestamp):
        return None
    day = _day(timestamp[:8])
    hour, minute, second = int(timestamp[8:10]), int(timestamp[10:12]), int(timestamp[12:14])
    if day is None or hour > 23 or minute > 59 or second > 60:
        return None
    # A leap second counts as the second before it.
    at = day + 3600 * hour + 60 * minute + min(second, 59)
    fraction = timestamp[14:]
    return float(at) if not fraction else at + int(fraction) / 10 ** len(fraction)


@lru_cache(maxsize=16_384)
def _day(digits: str) -> int | None:
    """The first second of a day; None if there is no such day."""
    year = int(digits[:4])
    if year < _FIRST_YEAR:
        return None
    try:
        return int(datetime(year, int(digits[4:6]), int(digits[6:]), tzinfo=UTC).timestamp())
    except ValueError:
        return None
