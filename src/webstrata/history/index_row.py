"""The rows of an archive's index, in files and in the answers of servers, and which of them are copies of pages."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from functools import lru_cache

from msgspec import Struct

from webstrata.copy_rules import FIRST_YEAR, LeftOut, copy_at
from webstrata.records import ArchivedCopy

_DIGITS = re.compile("[0-9]{14,17}")
_NOT_PAGES = ("warc/", "text/dns", "screenshot")
"""Beginnings of media types of records that are not responses for a page."""
_UNMODIFIED = "304"
_OF_NOTHING = "3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ"


class IndexRow(Struct, frozen=True, kw_only=True, gc=False):
    """A row of an index, as it is written there. `-` and an empty text stand for what the index does not know."""

    url: str
    timestamp: str
    """14 digits, or up to 17 with milliseconds."""
    mime: str = ""
    status: str = ""
    digest: str = ""


def archived_copy(row: IndexRow, archive: str, now: float) -> ArchivedCopy | LeftOut:
    """The copy that a row of an index stands for, or why it stands for none."""
    if row.mime.startswith(_NOT_PAGES) and row.mime != "warc/revisit":
        return LeftOut("not-a-page", row.mime)
    is_unmodified = row.mime == "warc/revisit" and row.status == _UNMODIFIED
    digest = row.digest
    if is_unmodified and digest.removeprefix("sha1:") == _OF_NOTHING:
        digest = ""  # of the response 304 itself, which has no body
    return copy_at(
        url=row.url,
        at=instant(row.timestamp),
        shown_time=row.timestamp,
        status="" if is_unmodified else row.status,
        digest=digest,
        archive=archive,
        now=now,
    )


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
    if year < FIRST_YEAR:
        return None
    try:
        return int(datetime(year, int(digits[4:6]), int(digits[6:]), tzinfo=UTC).timestamp())
    except ValueError:
        return None
