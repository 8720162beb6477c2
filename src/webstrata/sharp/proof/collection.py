"""The coherence of a collection: which pages of anybody's archive provably coexisted at one instant.

Each page is proved in the windows that its own sightings give (`proved_windows.py`). Pages whose windows share an
instant coexisted at it. This is the proof of a sharp capture, applied to downloads that were not planned for it.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from webstrata.records import Sighting
from webstrata.sharp.proof.coherence import CoveredInstant, UnchangedSpan, instants
from webstrata.sharp.proof.proved_windows import ProvedWindow, proved_windows, shows_content, shows_nothing

Standing = Literal["proved", "changed", "interrupted", "uncertain", "open", "later", "error"]


class PageStanding(Struct, frozen=True, kw_only=True):
    """The standing of one page at the instant."""

    url: str
    standing: Standing
    """`proved`: seen with the same content before and after. `changed`: seen before and after with different contents,
    or gone. `interrupted`: the same content before and after, but something else in between. `uncertain`: seen at a
    time that is not certainly before or after. `open`: seen only before; a visit now could prove it. `later`: seen only
    after. `error`: never seen with content."""
    status: int
    """The status at the instant if the page is proved, else the last one."""
    statuses: tuple[int, ...]
    """All statuses that were seen, each once, in the order of time."""
    windows: tuple[ProvedWindow, ...] = ()
    """All periods in which a content is proved."""
    window: ProvedWindow | None = None
    """The one of them that covers the instant."""
    sightings: int = 1


class WrongDigest(Struct, frozen=True, kw_only=True):
    """A sighting for which the observer wrote another digest than the bytes have."""

    url: str
    at: float | None
    """None if the record has no date."""


class Coherence(Struct, frozen=True, kw_only=True):
    """The coherence of a collection: an instant, and the standing of each page at it."""

    pages: tuple[PageStanding, ...]
    instant: tuple[float, float] | None
    """None if no page is proved at any instant."""
    uncertainty_s: float
    """The coarsest resolution of the dates that the result rests on."""
    first: float | None
    last: float | None
    is_single_pass: bool
    """No page was seen with content at two times that certainly differ."""
    others: tuple[CoveredInstant, ...] = ()
    """Further instants, for pages that this one does not cover."""
    sightings: int = 0
    assumed_ends: int = 0
    """Sightings whose observer did not record how long the download took."""
    declared: int = 0
    """Sightings whose content is known by the observer's digest only."""
    wrong_digests: tuple[WrongDigest, ...] = ()

    @property
    def proved(self) -> int:
        return sum(page.standing == "proved" for page in self.pages)


def coherence(sightings: Iterable[Sighting], *, at: float | None = None) -> Coherence:
    """The coherence of a collection at the instant `at`; by default at the instant that most pages share."""
    pages = _pages(sightings)
    every = [one for seen in pages.values() for one in seen]
    windows = {url: proved_windows(seen) for url, seen in pages.items()}
    spans = [
        UnchangedSpan(page=index, start=window.start, end=window.end)
        for index, found in enumerate(windows.values())
        for window in found
    ]
    best = instants(spans)
    chosen = (at, at) if at is not None else (best[0].start, best[0].end) if best else None
    standings = tuple(_standing(url, seen, windows[url], chosen) for url, seen in pages.items())
    times = [one.at for one in every if math.isfinite(one.at)]
    return Coherence(
        pages=standings,
        instant=chosen,
        uncertainty_s=_uncertainty_s(standings, every),
        first=min(times, default=None),
        last=max(times, default=None),
        is_single_pass=not any(_is_seen_twice(seen) for seen in pages.values()),
        others=tuple(best[1:] if at is None else best),
        sightings=len(every),
        assumed_ends=sum(one.is_end_assumed for one in every),
        declared=sum(one.evidence == "declared" for one in every),
        wrong_digests=tuple(
            WrongDigest(url=one.url, at=one.at if math.isfinite(one.at) else None)
            for one in every
            if one.has_wrong_digest
        ),
    )


def _is_seen_twice(seen: Iterable[Sighting]) -> bool:
    contents = [one for one in seen if shows_content(one)]
    return len(contents) > 1 and min(one.ended_by for one in contents) <= max(one.at for one in contents)


def _uncertainty_s(pages: Iterable[PageStanding], every: Iterable[Sighting]) -> float:
    """Of the dates that prove pages at the instant; if they prove none, of all dates."""
    proving = [page.window.resolution_s for page in pages if page.window is not None]
    finite = (one.resolution_s for one in every if math.isfinite(one.resolution_s))
    return max(proving) if proving else max(finite, default=0.0)


def _pages(sightings: Iterable[Sighting]) -> dict[str, list[Sighting]]:
    """The sightings of each URL in the order of time; those of redirects that lead nowhere are failures."""
    by_url: dict[str, list[Sighting]] = defaultdict(list)
    for sighting in sightings:
        by_url[sighting.url].append(sighting)
    loops = _looping({url: target for url in by_url if (target := _only_target(by_url[url]))})
    for url, seen in by_url.items():
        for index, one in enumerate(seen):
            if one.target and (url in loops or one.target == url):
                seen[index] = replace(one, failure="redirect loop")
        seen.sort(key=lambda one: (one.at, one.ended_by))
    return {url: by_url[url] for url in sorted(by_url)}


def _only_target(seen: Sequence[Sighting]) -> str:
    """The address to which a URL was last redirected; empty if it was also seen with content of its own."""
    if any(shows_content(one) and not one.target for one in seen):
        return ""
    return max(seen, key=lambda one: (bool(one.target), one.at)).target


def _looping(targets: Mapping[str, str]) -> set[str]:
    """The URLs from which the redirects never lead to anything else than a redirect."""
    looping: set[str] = set()
    ending: set[str] = set()
    for url in targets:
        path: dict[str, None] = {}
        at = url
        while at in targets and at not in path and at not in looping and at not in ending:
            path[at] = None
            at = targets[at]
        (looping if at in path or at in looping else ending).update(path)
    return looping


def _standing(
    url: str, seen: Sequence[Sighting], windows: Sequence[ProvedWindow], instant: tuple[float, float] | None
) -> PageStanding:
    window = None
    if instant is not None:
        window = next((one for one in windows if one.start <= instant[0] and instant[1] <= one.end), None)
    return PageStanding(
        url=url,
        standing="proved" if window is not None else _unproved(seen, math.inf if instant is None else sum(instant) / 2),
        status=window.status if window is not None else seen[-1].status,
        statuses=tuple(dict.fromkeys(one.status for one in seen)),
        windows=tuple(windows),
        window=window,
        sightings=len(seen),
    )


def _unproved(seen: Sequence[Sighting], instant: float) -> Standing:
    """Why a page is not proved at an instant (of a period, in its middle)."""
    told = [one for one in seen if not shows_nothing(one)]
    if not any(map(shows_content, told)):
        return "error"
    before = [one for one in told if one.ended_by <= instant]
    after = [one for one in told if one.at >= instant]
    if not after and before:
        return "open" if shows_content(told[-1]) else "changed"
    if len(before) + len(after) < len(told) and not (before and after):
        return "uncertain"
    if not before:
        return "later"
    last, following = next(_contents(reversed(before)), None), next(_contents(after), None)
    return "interrupted" if last is not None and last == following else "changed"


def _contents(seen: Iterable[Sighting]) -> Iterator[str]:
    return (one.content for one in seen if shows_content(one))
