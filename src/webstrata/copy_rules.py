"""What counts as a copy of a page, whatever says so: a row of an index, a record of a WARC file, a table."""

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

FIRST_YEAR = 1991
"""Of the web."""
FIRST_AT = datetime(FIRST_YEAR, 1, 1, tzinfo=UTC).timestamp()
CLOCK_DIFFERENCE_S = DAY_S
"""A copy that is later than now by more is of the future."""
_PAGE_SCHEME = re.compile("https?:", re.IGNORECASE)
_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*:(?![0-9])", re.IGNORECASE)
_ABSENT = frozenset({"", "-"})


class LeftOut(Struct, frozen=True, gc=False):
    """Why a row is not a copy."""

    reason: SkipReason
    detail: str


def copy_at(
    *, url: str, at: float | None, shown_time: str, status: str, digest: str, archive: str, now: float
) -> ArchivedCopy | LeftOut:
    """The copy of a page at an instant, or why there is none; `shown_time`: the instant as it is written."""
    if not _PAGE_SCHEME.match(url) and (_SCHEME.match(url) or "/" not in url):
        return LeftOut("not-a-page" if _SCHEME.match(url) else "invalid-url", url)
    try:
        page = _canonical(url)
    except BadUrl:
        return LeftOut("invalid-url", url)
    if at is None or not at >= FIRST_AT:
        return LeftOut("invalid-date", shown_time)
    if at > now + CLOCK_DIFFERENCE_S:
        return LeftOut("future", shown_time)
    number = _status(status)
    if number is None:
        return LeftOut("malformed", f"status {status}")
    if number and not 200 <= number < 300:
        return LeftOut("error-status", status)
    written = "" if digest in _ABSENT else written_digest(digest)
    if written is None:
        return LeftOut("bad-checksum", digest)
    return ArchivedCopy(url=page, at=at, archive=archive, digest=written, status=number)


@lru_cache(maxsize=1024)
def _canonical(url: str) -> str:
    """Indexes are sorted: most rows have the URL of the row before."""
    return urls.canonical(url if _PAGE_SCHEME.match(url) else f"http://{url}")


def _status(text: str) -> int | None:
    """The HTTP status; 0 if the index does not know it, None if it is not a status."""
    if text in _ABSENT:
        return 0
    return int(text) if len(text) == 3 and text.isascii() and text.isdigit() else None
