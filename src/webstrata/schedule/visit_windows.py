"""Visit windows: the hours of the week, in a time zone, in which a page may be visited.

    Mon-Fri 9-17 Europe/Vienna
    Mon-Fri 9-12:30, Sat 10-12, Sun UTC
    22-6 America/New_York            every day; a window that ends before it begins ends on the next day

Windows are in local time as clocks show it: 9-17 is from 9 to 17 o'clock before and after a change of the clocks, and
an hour that the clocks skip has no window.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, date, datetime, time, timedelta
from difflib import get_close_matches
from functools import lru_cache
from zoneinfo import ZoneInfo, available_timezones

from msgspec import Struct

from webstrata.errors import UsageError

_DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_LONG_DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_DAY_MIN = 24 * 60
_MAX_WINDOWS = 50
_MAX_LENGTH = 1000
_SEARCH_DAYS = 30
"""Every window opens at least once in this time, even if the clocks skip one of its days."""
_EXAMPLE = 'Write for example "Mon-Fri 9-17, Sat 10-12 Europe/Vienna".'

_TIME = r"[0-9]{1,2}(?::[0-9]{2})?"
_WINDOW = re.compile(
    r"(?:(?P<first>[a-z]+)(?:\s*-\s*(?P<last>[a-z]+))?)?\s*"
    rf"(?:(?P<start>{_TIME})\s*-\s*(?P<end>{_TIME}))?",
    re.IGNORECASE,
)


class VisitWindow(Struct, frozen=True, order=True):
    """Hours of a day, on some days of the week. Minutes since midnight; an `end` above 1440 is on the next day."""

    first_day: int
    """0 is Monday."""
    last_day: int
    """May be before the first day: Sat-Mon are three days."""
    start_min: int
    end_min: int

    def has_day(self, weekday: int) -> bool:
        return (weekday - self.first_day) % 7 <= (self.last_day - self.first_day) % 7

    def __str__(self) -> str:
        days = "" if self._is_daily else _DAYS[self.first_day]
        if not self._is_daily and self.last_day != self.first_day:
            days += f"-{_DAYS[self.last_day]}"
        if (self.start_min, self.end_min) == (0, _DAY_MIN) and days:
            return days
        end = self.end_min if self.end_min <= _DAY_MIN else self.end_min - _DAY_MIN
        return f"{days} {_clock(self.start_min)}-{_clock(end)}".strip()

    @property
    def _is_daily(self) -> bool:
        return (self.last_day - self.first_day) % 7 == 6


class VisitWindows(Struct, frozen=True):
    """All windows of a page, in one time zone."""

    windows: tuple[VisitWindow, ...]
    zone: str

    def __str__(self) -> str:
        return f"{', '.join(map(str, self.windows))} {self.zone}"

    def is_open(self, at: float) -> bool:
        """Whether a page may be visited at this instant."""
        local = datetime.fromtimestamp(at, ZoneInfo(self.zone))
        minute = local.hour * 60 + local.minute
        today, yesterday = local.weekday(), (local.weekday() - 1) % 7
        return any(
            (window.has_day(today) and window.start_min <= minute < window.end_min)
            or (window.has_day(yesterday) and minute < window.end_min - _DAY_MIN)
            for window in self.windows
        )

    def next_open(self, at: float) -> float:
        """The first instant from `at` on at which a page may be visited."""
        if self.is_open(at):
            return at
        return next(edge for edge in self._edges(at) if self.is_open(edge))

    def next_closed(self, at: float) -> float:
        """The first instant from `at` on at which a page may not be visited; infinite if there is none."""
        if not self.is_open(at):
            return at
        return next((edge for edge in self._edges(at) if not self.is_open(edge)), float("inf"))

    def _edges(self, at: float) -> Iterator[float]:
        """Instants after `at`, in order, at which windows may begin or end: at their hours, or where clocks change."""
        zone = ZoneInfo(self.zone)
        today = datetime.fromtimestamp(at, zone).date()
        for ahead in range(-1, _SEARCH_DAYS):
            day = today + timedelta(days=ahead)
            edges = {edge for window in self.windows for edge in _hours(window, day, zone)}
            changed_at = _clock_change(day, zone)
            yield from sorted(edge for edge in {*edges, changed_at or at} if edge > at)


def _hours(window: VisitWindow, day: date, zone: ZoneInfo) -> Iterator[float]:
    """The begin and the end of a window on a local day; each twice if the clocks show that time twice."""
    if window.has_day(day.weekday()):
        for minutes in (window.start_min, window.end_min):
            wall = datetime.combine(day, time(), zone) + timedelta(minutes=minutes)
            yield from (wall.replace(fold=fold).timestamp() for fold in (0, 1))


@lru_cache(maxsize=1024)
def parse_windows(text: str) -> VisitWindows:
    """The windows that a text describes. Raises UsageError with the part that is wrong and an example."""
    words = " ".join(text.replace("\N{EN DASH}", "-").split())
    if len(words) > _MAX_LENGTH:
        raise UsageError(f"the visit windows have {len(words)} characters; at most {_MAX_LENGTH} are possible.")
    listed, _, zone = words.rpartition(" ")
    if not words:
        raise UsageError(f"the visit windows are empty. {_EXAMPLE}")
    if not listed or _is_window(zone):
        raise UsageError(f"{text!r} has no windows with a time zone at the end. {_EXAMPLE}")
    parts = [part.strip() for part in listed.split(",")]
    if len(parts) > _MAX_WINDOWS:
        raise UsageError(f"there are {len(parts)} visit windows; at most {_MAX_WINDOWS} are possible.")
    return VisitWindows(tuple(_window(part) for part in parts), _zone_name(zone))


def _is_window(word: str) -> bool:
    return word[0].isdigit() or word.endswith(",") or _weekday(word.partition("-")[0]) is not None


def _window(text: str) -> VisitWindow:
    match = _WINDOW.fullmatch(text)
    if not text or match is None:
        raise UsageError(f"{text!r} is not a visit window. {_EXAMPLE}")
    first, last = _day(match["first"], text, 0), _day(match["last"] or match["first"], text, 6)
    if match["start"] is None:
        return VisitWindow(first, last, 0, _DAY_MIN)
    start, end = _minutes(match["start"], text), _minutes(match["end"], text)
    if start in (end, _DAY_MIN):
        raise UsageError(f"the window {text!r} is empty. Leave out the hours for the whole day. {_EXAMPLE}")
    if (first - last) % 7 == 1:  # every day, from whichever day on
        first, last = 0, 6
    return VisitWindow(first, last, start, end if end > start else end + _DAY_MIN)


def _day(name: str | None, text: str, default: int) -> int:
    if name is None:
        return default
    day = _weekday(name)
    if day is None:
        raise UsageError(f"{name!r} in {text!r} is not a day. Days are {', '.join(_DAYS)}.")
    return day


def _weekday(name: str) -> int | None:
    lowered = name.lower()
    return next((day for day, long in enumerate(_LONG_DAYS) if lowered in (long, long[:3])), None)


def _minutes(clock: str, text: str) -> int:
    hours, _, minutes = clock.partition(":")
    total = int(hours) * 60 + int(minutes or 0)
    if total > _DAY_MIN or int(minutes or 0) > 59:
        raise UsageError(f"{clock!r} in {text!r} is not a time of the day from 0 to 24. {_EXAMPLE}")
    return total


def _clock(minutes: int) -> str:
    hours, rest = divmod(minutes, 60)
    return f"{hours}:{rest:02}" if rest else f"{hours}"


def _zone_name(name: str) -> str:
    try:
        return ZoneInfo(name).key
    except (KeyError, ValueError, OSError):  # not found, not a relative path, a folder of zones
        known = {zone.lower(): zone for zone in available_timezones()}
    if name.lower() in known:
        return known[name.lower()]
    if not known:
        raise UsageError("this computer has no time zones: install the package `tzdata`, or use UTC.")
    close = get_close_matches(name.lower(), known, 1)
    hint = f"Did you mean {known[close[0]]}?" if close else "Name one like Europe/Vienna, or UTC."
    raise UsageError(f"there is no time zone {name[:80]!r}. {hint}")


def _clock_change(day: date, zone: ZoneInfo) -> float | None:
    """The instant of a local day at which the clocks change."""
    low, high = (int(datetime.combine(day + timedelta(days=days), time(), zone).timestamp()) for days in (0, 1))
    low -= 1
    before = _offset(low, zone)
    if _offset(high, zone) == before:
        return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if _offset(middle, zone) == before else (low, middle)
    return float(high)


def _offset(at: float, zone: ZoneInfo) -> timedelta | None:
    return datetime.fromtimestamp(at, UTC).astimezone(zone).utcoffset()
