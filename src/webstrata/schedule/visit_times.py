"""When users want a page to be visited: a fixed rhythm, windows, and a snooze.

The rhythm of a page is a grid of times, `every_s` apart, that begins when the page was added: a late visit does not
shift the following ones. Windows and snoozes move a visit to the first time at which it is allowed.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Protocol

from msgspec.structs import replace

from webstrata.clock import span
from webstrata.errors import UsageError
from webstrata.records import Page
from webstrata.schedule.next_visit import NextVisit
from webstrata.schedule.visit_windows import VisitWindows, parse_windows

MIN_EVERY_S = 60.0
"""The shortest rhythm."""


class _HasVisitTimes(Protocol):
    """A page or a part of it."""

    @property
    def windows(self) -> str | None: ...

    @property
    def snoozed_until(self) -> float | None: ...


def parse_every(seconds: float) -> float:
    """Check a rhythm. Raises UsageError if it is too short or endless."""
    if not MIN_EVERY_S <= seconds < float("inf"):
        raise UsageError(f"a rhythm must be at least {span(MIN_EVERY_S)} long, not {span(seconds)}. Write 10m or 6h.")
    return seconds


def rhythm_at(added_at: float, every_s: float, visited_at: float) -> float:
    """The first time of the rhythm that is more than half an interval after a visit."""
    passed = math.floor((visited_at + every_s / 2 - added_at) / every_s)
    return added_at + (passed + 1) * every_s


def allowed_at(page: _HasVisitTimes, at: float) -> float:
    """The first time from `at` on at which the page may be visited."""
    if page.snoozed_until is not None:
        at = max(at, page.snoozed_until)
    windows = stored_windows(page.windows)
    return at if windows is None else windows.next_open(at)


def open_until(page: _HasVisitTimes, at: float) -> float:
    """When the window that is open at this time closes; infinite without windows."""
    windows = stored_windows(page.windows)
    return float("inf") if windows is None else windows.next_closed(at)


def shown_next_at(page: Page, now: float) -> float | None:
    """The next visit of a page as users see it; in the past if the page is due and may be visited now."""
    if page.next_at is None:
        return None
    allowed = allowed_at(page, max(page.next_at, now))
    return allowed if allowed > now else page.next_at


@lru_cache(maxsize=1024)
def stored_windows(text: str | None) -> VisitWindows | None:
    """Windows as they are stored; None also if their time zone is not known on this computer."""
    try:
        return None if text is None else parse_windows(text)
    except UsageError:
        return None


def with_visit_times(page: Page, at: float, next_visit: NextVisit, *, failed: bool) -> NextVisit:
    """The next visit after one at this time, by the page's rhythm if it has one, at a time at which it is allowed."""
    if page.every_s is not None and not failed:
        next_visit = replace(
            next_visit,
            next_at=rhythm_at(page.added_at, page.every_s, at),
            interval_s=page.every_s,
            reason=f"fixed rhythm: every {span(page.every_s)}",
        )
    allowed = allowed_at(page, next_visit.next_at)
    if allowed == next_visit.next_at:
        return next_visit
    return replace(next_visit, next_at=allowed, reason=f"{next_visit.reason}; {waits_for(page, allowed)}")


def waits_for(page: _HasVisitTimes, at: float) -> str:
    """Why a visit was moved to this time."""
    if page.windows is not None and at != page.snoozed_until:
        return f"moved to the next window ({page.windows})"
    return "moved to the end of its snooze"
