"""Recorded sites as timelines: an update is a link that the page never had before, or another useful text.

At page level the pages are those at depth 0 to 2, at homepage level only those at depth 0, and at website level the
sites: an update of any page is an update of its site. A copy of a site is a copy of one of its pages; the first copy of
a page, which can show no update, is left out there. Each site has copies of each page of its own, as an archive takes
them. The evaluation of each site ends at the end of its recording.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

import numpy as np
from msgspec import Struct

from webstrata.clock import DAY_S
from webstrata.columns import COPY_LINK, Days, LinkKind
from webstrata.lab.archive_samples import MEAN_DAYS, archive_copies
from webstrata.lab.hacs.timeline import MOST_DAYS, PAST_DAYS, MeanDays, PageTimes, UpdateTimeline, merged
from webstrata.lab.livingweb.recording import Recording, Window
from webstrata.lab.livingweb.site import media_type
from webstrata.observe.copy_links import copy_links
from webstrata.observe.page import observe_typed
from webstrata.site_levels import depth_of

UPDATES: dict[str, frozenset[LinkKind] | None] = {
    "links": frozenset(LinkKind),
    "internal links": frozenset({LinkKind.INTERNAL}),
    "external links": frozenset({LinkKind.EXTERNAL}),
    "content": None,
}
"""What counts as an update: a new link of one of these kinds, or (None) another content."""
_MAX_DEPTH = 2


class SeenVersion(Struct, frozen=True, kw_only=True):
    """One version of a page, as far as an update depends on it."""

    day: float
    content: str
    """Digest of the useful text, or of the bytes if the media type has none; empty while the page is deleted."""
    links: dict[LinkKind, frozenset[int]]


class SampledPage(Struct, frozen=True, kw_only=True):
    """One page of a recorded site; its days are counted from the first date of the evaluation."""

    site: int
    depth: int
    versions: list[SeenVersion]
    copy_days: list[float]


def recorded_pages(
    recordings: Iterable[Recording],
    seed: int,
    window: Window | None = None,
    gap_days: MeanDays = MEAN_DAYS,
    on_progress: Callable[[str, int, int], object] = lambda site, done, total: None,
) -> tuple[list[SampledPage], float]:
    """The pages to depth 2 with sampled copies, and the days of the evaluation: three years, or what is recorded.

    Each version is parsed, which takes some seconds for the shipped sites. Without a window, the recording of each site
    ends with its last version.
    """
    pages: list[SampledPage] = []
    most_days = MOST_DAYS if window is None else min(MOST_DAYS, (window[1] - window[0]) / DAY_S - PAST_DAYS)
    for site, recording in enumerate(recordings):
        end = window[1] if window else max((versions[-1][0] for versions in recording.pages.values()), default=0.0)
        start = end - most_days * DAY_S
        kept = [path for path in recording.pages if depth_of(recording.url(path)) <= _MAX_DEPTH]
        clipped = recording.within((start - PAST_DAYS * DAY_S, end), kept)
        for done, path in enumerate(clipped.pages):
            on_progress(recording.site, done, len(clipped.pages))
            pages.append(
                SampledPage(
                    site=site,
                    depth=depth_of(recording.url(path)),
                    versions=list(_versions(clipped, path, start)),
                    copy_days=[],
                )
            )
    return _with_copies(pages, most_days, seed, gap_days), most_days


def recorded_timelines(pages: Sequence[SampledPage], days: float) -> list[UpdateTimeline]:
    """A timeline for each kind of update and each level; its corpus is named `KIND/LEVEL`."""
    sites = np.unique([page.site for page in pages], return_inverse=True)[1]
    homepages = [page for page in pages if page.depth == 0]
    timelines = []
    for update, kinds in UPDATES.items():
        of_pages = _timeline(f"{update}/page", days, [_history(page, kinds) for page in pages])
        of_homepages = _timeline(f"{update}/homepage", days, [_history(page, kinds) for page in homepages])
        timelines += [of_pages, of_homepages, merged(of_pages, sites, f"{update}/website")]
    return [timeline for timeline in timelines if timeline.pages]


def _versions(recording: Recording, path: str, start_at: float) -> Iterator[SeenVersion]:
    known: dict[str, SeenVersion] = {}
    for at, blob in recording.pages[path]:
        day = (at - start_at) / DAY_S
        if blob is None:
            yield SeenVersion(day=day, content="", links={})
            continue
        if blob not in known:
            body = recording.contents[blob]
            url = recording.url(path)
            observed = observe_typed(body, *media_type(path, body), url)
            rows = np.frombuffer(copy_links(observed.linked, url), COPY_LINK)
            links = {kind: frozenset(rows["value"][rows["kind"] == kind].tolist()) for kind in LinkKind}
            content = observed.fingerprint.text or observed.fingerprint.raw
            known[blob] = SeenVersion(day=day, content=content, links=links)
        found = known[blob]
        yield SeenVersion(day=day, content=found.content, links=found.links)


def _with_copies(pages: list[SampledPage], days: float, seed: int, gap_days: MeanDays) -> list[SampledPage]:
    first = np.array([max(page.versions[0].day, -PAST_DAYS) for page in pages])
    page, at_days = archive_copies(first, days, seed, gap_days)
    ends = np.searchsorted(page, np.arange(len(pages) + 1))
    return [
        SampledPage(
            site=one.site,
            depth=one.depth,
            versions=one.versions,
            copy_days=at_days[ends[number] : ends[number + 1]].tolist(),
        )
        for number, one in enumerate(pages)
    ]


History = tuple[list[float], list[tuple[float, bool]]]
"""The days of the true updates, and (day, shows an update) of each copy."""


def _history(page: SampledPage, kinds: frozenset[LinkKind] | None) -> History:
    """The copies are judged by themselves: an update that is undone between two copies is in neither."""
    versions = [version for version in page.versions if version.content]
    updates = [version.day for version, new in zip(versions, _news(versions, kinds), strict=True) if new]
    days = np.array([version.day for version in page.versions])
    at = np.searchsorted(days, page.copy_days, side="right") - 1
    copies = [
        (day, page.versions[number])
        for day, number in zip(page.copy_days, at.tolist(), strict=True)
        if number >= 0 and page.versions[number].content
    ]
    shows = _news([version for _, version in copies], kinds)
    return updates, [(day, new) for (day, _), new in zip(copies, shows, strict=True)]


def _news(versions: Sequence[SeenVersion], kinds: frozenset[LinkKind] | None) -> list[bool]:
    """Whether each version is an update of those before it; the first one is none."""
    if kinds is None:
        return [number > 0 and one.content != versions[number - 1].content for number, one in enumerate(versions)]
    news: list[bool] = []
    seen: set[int] = set()
    for version in versions:
        links = frozenset[int]().union(*(version.links[kind] for kind in kinds))
        news.append(bool(news) and not links <= seen)
        seen |= links
    return news


def _timeline(corpus: str, days: float, histories: Sequence[History]) -> UpdateTimeline:
    updated = [np.array(updates) for updates, _ in histories]
    copied = [np.array([day for day, _ in copies]) for _, copies in histories]
    return UpdateTimeline(
        corpus=corpus,
        days=days,
        copies=_times(copied),
        shows=np.array([shows for _, copies in histories for _, shows in copies], dtype=np.bool_),
        updates=_times(updated),
    )


def _times(days_of_pages: Sequence[Days]) -> PageTimes:
    page = np.repeat(np.arange(len(days_of_pages)), [len(days) for days in days_of_pages])
    return PageTimes(page, np.concatenate([*days_of_pages, np.empty(0)]), len(days_of_pages))
