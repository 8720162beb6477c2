"""The periods in which sightings of a page prove that it had one content.

A sighting is an interval: what was seen was sent at some moment of it. A page had a content at an instant if one
sighting of the content had certainly ended by then, another one certainly began no earlier, and no sighting of anything
else (another content, an error, a failed download) may lie between these two. A sighting lies between them unless it
certainly ended before the first one began, or certainly began after the second one had ended.

That a page had no other content between two sightings that nothing contradicts is the one assumption that is made, as
for the pages of a site capture. Two sightings in the same interval, as in the same second, prove nothing.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Literal, NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from webstrata.records import Sighting

Evidence = Literal["payload", "revisit", "declared"]
_WEAKEST_LAST: tuple[Evidence, ...] = ("payload", "revisit", "declared")


class ProvedWindow(Struct, frozen=True, kw_only=True):
    """A period (both ends included) in which a page is proved to have had one content."""

    start: float
    end: float
    content: str
    status: int
    resolution_s: float
    """The coarsest resolution of the dates that it rests on."""
    evidence: Evidence
    """The weakest evidence of the sightings that it rests on."""


def shows_content(sighting: Sighting) -> bool:
    """Whether the page, or a redirect to a known address, was seen; an error, or a download that failed, is neither."""
    return bool(sighting.content) and not sighting.failure and 200 <= sighting.status < 400


def shows_nothing(sighting: Sighting) -> bool:
    """Whether the sighting tells nothing: the server answered 304, and for which content is not known."""
    return sighting.status == 304 and not sighting.content and not sighting.failure


def proved_windows(seen: Iterable[Sighting]) -> list[ProvedWindow]:
    """The windows of one page, in order; no two of them share an instant. Takes n log n steps for n sightings."""
    told = [sighting for sighting in seen if not shows_nothing(sighting)]
    by_content: dict[str, list[Sighting]] = defaultdict(list)
    for sighting in told:
        if shows_content(sighting):
            by_content[sighting.content].append(sighting)
    contrary = _Contrary(told)
    windows = [
        window
        for content, sightings in by_content.items()
        if len(sightings) > 1
        for window in _joined(_windows_of(sightings, content, contrary))
    ]
    return _apart(sorted(windows, key=lambda window: (window.start, window.end)))


class _Earliest(NamedTuple):
    """The earliest beginning of some sightings, and of those among them that show something else than the earliest."""

    at: float
    content: str | None
    other_at: float


class _Contrary:
    """Finds, for a content and a time, the earliest sighting of anything else that may have ended after the time."""

    def __init__(self, told: Sequence[Sighting]) -> None:
        in_order = sorted(told, key=lambda sighting: sighting.ended_by)
        self._ends = [sighting.ended_by for sighting in in_order]
        found = _Earliest(math.inf, None, math.inf)
        self._from = [found]
        for sighting in reversed(in_order):
            content = sighting.content if shows_content(sighting) else ""  # no content is empty: contrary to all
            if content == found.content:
                found = found._replace(at=min(found.at, sighting.at))
            elif sighting.at < found.at:
                found = _Earliest(sighting.at, content, found.at)
            else:
                found = found._replace(other_at=min(found.other_at, sighting.at))
            self._from.append(found)
        self._from.reverse()

    def begins_at(self, content: str, after: float) -> float:
        """When the earliest contrary sighting that may have ended after a time may have begun; infinite if none."""
        found = self._from[bisect_right(self._ends, after)]
        return found.other_at if found.content == content else found.at


def _windows_of(sightings: Sequence[Sighting], content: str, contrary: _Contrary) -> list[ProvedWindow]:
    """For each sighting of a content the window from its end to the last possible sighting of the same content."""
    in_order = sorted(sightings, key=lambda sighting: sighting.ended_by)
    ends = [sighting.ended_by for sighting in in_order]
    latest: list[Sighting] = []
    for sighting in in_order:
        latest.append(sighting if not latest or sighting.at > latest[-1].at else latest[-1])
    windows = []
    for first in in_order:
        known = bisect_right(ends, contrary.begins_at(content, first.at))
        last = latest[known - 1] if known else None
        if last is None or last is first or first.ended_by > last.at:
            continue
        windows.append(
            ProvedWindow(
                start=first.ended_by,
                end=last.at,
                content=content,
                status=first.status,
                resolution_s=max(first.resolution_s, last.resolution_s),
                evidence=_weaker(first.evidence, last.evidence),
            )
        )
    return windows


def _weaker(one: Evidence, other: Evidence) -> Evidence:
    return max(one, other, key=_WEAKEST_LAST.index)


def _joined(windows: Iterable[ProvedWindow]) -> list[ProvedWindow]:
    """Windows of one content, with those joined that share an instant."""
    joined: list[ProvedWindow] = []
    for window in sorted(windows, key=lambda window: (window.start, -window.end)):
        if not joined or window.start > joined[-1].end:
            joined.append(window)
        elif window.end > joined[-1].end:  # else it is a part of what stronger evidence may prove already
            before = joined[-1]
            joined[-1] = replace(
                before,
                end=window.end,
                resolution_s=max(before.resolution_s, window.resolution_s),
                evidence=_weaker(before.evidence, window.evidence),
            )
    return joined


def _apart(windows: Iterable[ProvedWindow]) -> list[ProvedWindow]:
    """Windows in order. One content may end at the very instant at which the next begins: it has that instant."""
    apart: list[ProvedWindow] = []
    for window in windows:
        start = window.start
        if apart and start <= apart[-1].end:
            start = math.nextafter(apart[-1].end, math.inf)
        if start <= window.end:
            apart.append(replace(window, start=start))
    return apart
