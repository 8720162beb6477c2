"""The entries of a feed, their contents as text, and the notations of times in feeds."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from html import unescape

from msgspec import Struct

MAX_ENTRIES = 50_000
MAX_CONTENT_LENGTH = 20_000
MAX_ALL_CONTENTS = 5_000_000
"""Characters of the contents of one entry and of all entries that are kept for display."""
_TAG = re.compile(r"<[^<>]*>")


class FeedEntry(Struct, frozen=True, kw_only=True, gc=False):
    """One entry of a feed."""

    url: str | None = None
    """Canonical absolute URL of the page that the entry announces."""
    id: str = ""
    title: str = ""
    updated_at: float | None = None
    """The time in the feed, which may be wrong or in the future."""
    digest: str = ""
    """Digest of these fields and the content."""
    content: str = ""
    """The beginning of the text of the content, without tags; only if it was asked for."""


class Feed(Struct, frozen=True, kw_only=True):
    """The entries of a feed."""

    entries: tuple[FeedEntry, ...] = ()
    """In the order of the feed, without duplicates."""
    problem: str | None = None
    """Why it was not parsed to its end; the entries before that point are included."""
    note: str | None = None
    """What was repaired."""


def plain_content(markup: str) -> str:
    """The words of a content, without tags."""
    return " ".join(unescape(_TAG.sub(" ", markup)).split())


_MAX_TIME_LENGTH = 64
_ISO = re.compile(
    r"(\d{4})(?:-?(\d\d)(?:-?(\d\d))?)?"
    r"(?:[T ]+(\d\d):?(\d\d)(?::?(\d\d)(?:[.,]\d+)?)?)?\s*(Z|UTC|GMT|[+-]\d\d:?(?:\d\d)?)?",
    re.IGNORECASE | re.ASCII,
)


def feed_time(text: str) -> float | None:
    """A time in a feed (ISO 8601 or mail format, with common mistakes) as seconds since 1970; None if it is no time.

    A time without a zone is UTC.
    """
    text = text[:_MAX_TIME_LENGTH].strip()
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
