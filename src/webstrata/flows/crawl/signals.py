"""`collect_signals`: announcements of feeds and sitemaps, and the checks of earlier announcements by visits.

An unchanged list costs one comparison of digests. A list that renews nearly all of its times at once (a flood) says
nothing about a single page: a sample of its announcements is stored, so that visits can check it, and no visit is
brought forward.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from heapq import nlargest
from typing import NamedTuple
from zlib import crc32

import numpy as np
from msgspec.structs import replace

from webstrata.clock import DAY_S
from webstrata.flows.crawl.judge import JudgedVisit
from webstrata.flows.crawl.parse import ParsedContent
from webstrata.ports import Store
from webstrata.predict.source_trust import SourceChecks, is_trusted, precision, reach, source_counts
from webstrata.records import Announcement, Listing, NewAnnouncements, Page, SignalSource, SourceCheck

MAX_VISIT_SOON = 500
"""Pages whose visits one list may bring forward; those with the latest times."""
REST_S = 3600.0
"""A visit is not brought forward to less than this after the page's last visit."""
FLOOD_MIN, FLOOD_SHARE = 20, 0.9
"""The number of renewed times, and their share of the known ones, that make a list a flood."""
SAMPLE = 200
"""Announcements that are stored of a flood."""
MAX_UNWATCHED = 2000
"""URLs of one list that are not watched and are stored all the same; those with the latest times."""
FEED_MEMORY_S = 180 * DAY_S
"""A feed drops old entries: a page counts as listed for this long after its last time."""


class CollectedSignals(NamedTuple):
    """The fields of `Batch` about signals."""

    announced: tuple[NewAnnouncements, ...]
    checked: tuple[SourceCheck, ...]


class _Check(NamedTuple):
    """One row of `SourceChecks`."""

    source: int
    announced: bool
    changed: bool
    delay_s: float = 0.0
    late: bool = False


async def collect_signals(judged: Sequence[JudgedVisit], store: Store, discovered: Iterable[str]) -> CollectedSignals:
    """New announcements of the lists among these visits, and the checks of earlier announcements by all of the visits.

    `discovered`: pages that this batch adds.
    """
    checks, fresh, during_visit = await _checks(judged, store)
    lists = [
        (verdict.result.page, verdict.result.at, verdict.parsed)
        for verdict in judged
        if verdict.parsed is not None and _is_new_list(verdict)
    ]
    announced = await _renewed_announcements(during_visit, judged, store) if during_visit else []
    if lists:
        sources = {source.url: source for source in await store.signals.sources([page.url for page, _, _ in lists])}
        new, seen = set(discovered), _seen(judged)
        for page, at, parsed in lists:
            listed = {**(known := await store.signals.listed_by(page.url)), **_with_batch(known, seen)}
            source = sources.get(page.url)
            if source is not None:
                checks += _late_checks(source.id, parsed, listed)
            announced += await _new_announcements(page, at, parsed, source, listed, store, new)
    return CollectedSignals(tuple(announced), _source_checks(checks, fresh))


# ── checks of earlier announcements ────────────────────────────────────────────────────────────────────────────


def _seen(judged: Sequence[JudgedVisit]) -> dict[str, JudgedVisit]:
    """The visits that saw their page, or that it is gone; by URL."""
    return {verdict.result.page.url: verdict for verdict in judged if verdict.change is not None}


async def _checks(
    judged: Sequence[JudgedVisit], store: Store
) -> tuple[list[_Check], dict[int, list[tuple[int, float]]], list[Announcement]]:
    """Checks of announcements; by source, the announcements that are checked now; and those stored during the visit.

    A page's first visit checks nothing.
    """
    seen = {
        verdict.result.page.id: verdict
        for verdict in _seen(judged).values()
        if verdict.result.page.last_seen_at is not None
    }
    if not seen:
        return [], {}, []
    checks: list[_Check] = []
    during_visit: list[Announcement] = []
    fresh: dict[int, list[tuple[int, float]]] = {}
    for announcement in await store.signals.announcements(list(seen)):
        verdict = seen[announcement.page_id]
        if announcement.seen_at > verdict.result.at:  # after the start of the visit: the next visit checks it
            if announcement.news:
                during_visit.append(announcement)
            continue
        source_id, has_news = announcement.source_id, announcement.news > 0
        if has_news:
            fresh.setdefault(source_id, []).append((announcement.page_id, announcement.seen_at))
        checks.append(_Check(source_id, has_news, _changed(verdict), _delay_s(announcement)))
    return checks, fresh, during_visit


async def _renewed_announcements(
    during_visit: Sequence[Announcement], judged: Sequence[JudgedVisit], store: Store
) -> list[NewAnnouncements]:
    """Announcements of trusted sources that arrived while their page was being visited, once more.

    The commit of the visit replaces the time of the next visit, and with it the effect of such an announcement. It
    counts only if it gives a time after the visit.
    """
    sources = {source.id: source for source in await store.signals.sources()}
    urls = {verdict.result.page.id: verdict.result.page.url for verdict in judged}
    renewed = []
    for announcement in during_visit:
        source = sources.get(announcement.source_id)
        if source is not None and is_trusted(source.right, source.wrong):
            url, given_at, seen_at = urls[announcement.page_id], announcement.at, announcement.seen_at
            renewed.append(
                NewAnnouncements(
                    source=source.url,
                    kind=source.kind,
                    seen_at=seen_at,
                    signals=((url, given_at, reach(given_at, seen_at)),),
                    visit_soon=(url,),
                    rest_s=REST_S,
                    reason=_reason(source),
                )
            )
    return renewed


def _changed(verdict: JudgedVisit) -> bool:
    return verdict.change is not None and verdict.change.counts


def _delay_s(announcement: Announcement) -> float:
    given_at = reach(announcement.at, announcement.seen_at)
    return 0.0 if given_at is None else max(0.0, announcement.seen_at - given_at)


def _with_batch(known: Mapping[str, Listing], seen: Mapping[str, JudgedVisit]) -> dict[str, Listing]:
    """The listed pages that this batch visited, as they are after its commit."""
    updated = {}
    for url in known.keys() & seen.keys():
        at = seen[url].result.at
        changed_at = at if _changed(seen[url]) else known[url].last_change_at
        updated[url] = replace(known[url], last_seen_at=at, last_change_at=changed_at)
    return updated


def _late_checks(source: int, parsed: ParsedContent, listed: Mapping[str, Listing]) -> Iterator[_Check]:
    """Checks of announced times that lie before a visit that was already made."""
    for signal in parsed.signals:
        known = listed.get(signal.url)
        if known is None or known.last_seen_at is None or not _is_later(signal.at, known.at):
            continue
        given_at, until = signal.at or 0.0, reach(signal.at, known.last_seen_at)
        if until is not None and known.added_at < given_at and until <= known.last_seen_at:
            yield _Check(source, announced=True, changed=(known.last_change_at or 0.0) >= given_at, late=True)


def _source_checks(rows: Sequence[_Check], fresh: Mapping[int, list[tuple[int, float]]]) -> tuple[SourceCheck, ...]:
    if not rows:
        return ()
    sources, announced, changed, delays, late = zip(*rows, strict=True)
    checks = SourceChecks(
        source=np.array(sources, dtype=np.int64),
        announced=np.array(announced, dtype=bool),
        changed=np.array(changed, dtype=bool),
        delay_s=np.array(delays, dtype=np.float64),
        late=np.array(late, dtype=bool),
    )
    return tuple(
        SourceCheck(
            source_id=counts.source,
            keep=counts.keep,
            right=counts.right,
            wrong=counts.wrong,
            announced=counts.announced,
            silent=counts.silent,
            delay_s=counts.delay_s,
            delays=counts.delays,
            settled=tuple(fresh.get(counts.source, ())),
        )
        for counts in source_counts(checks)
    )


# ── new announcements ──────────────────────────────────────────────────────────────────────────────────────────


def _is_new_list(verdict: JudgedVisit) -> bool:
    """Whether the visit returned a list that differs from the last one."""
    if verdict.parsed is None or verdict.change is None or not verdict.parsed.signals:
        return False
    before = verdict.result.page.fingerprint
    return before is None or before.raw != verdict.parsed.fingerprint.raw


async def _new_announcements(
    page: Page,
    at: float,
    parsed: ParsedContent,
    source: SignalSource | None,
    listed: Mapping[str, Listing],
    store: Store,
    discovered: Collection[str],
) -> list[NewAnnouncements]:
    """At most one item; none if a known source announces nothing new."""
    given = {signal.url: signal.at for signal in parsed.signals if signal.url != page.url}
    unlisted = [url for url in given if url not in listed]
    watched = await store.pages.known([url for url in unlisted if url not in discovered])
    renewed = [url for url in given if url in listed and _is_later(given[url], listed[url].at)]
    flood = len(renewed) >= max(FLOOD_MIN, FLOOD_SHARE * sum(listing.at is not None for listing in listed.values()))
    if flood:
        renewed = sorted(renewed, key=_sample_key)[:SAMPLE]
    fresh = [*renewed, *(url for url in unlisted if url in watched or url in discovered)]
    signals = tuple((url, given[url], reach(given[url], at)) for url in fresh)
    unwatched = [(url, given[url]) for url in unlisted if url not in watched and url not in discovered]
    dropped = _dropped(parsed, listed, given, at)
    if source is not None and not signals and not unwatched and not dropped:
        return []
    trusted = source is not None and not flood and is_trusted(source.right, source.wrong)
    return [
        NewAnnouncements(
            source=page.url,
            kind=parsed.signals[0].kind,
            seen_at=at,
            signals=signals,
            unwatched=tuple(nlargest(MAX_UNWATCHED, unwatched, key=lambda entry: entry[1] or 0.0)),
            dropped=dropped,
            flood=flood,
            visit_soon=_visit_soon(signals) if trusted else (),
            rest_s=REST_S,
            reason="" if source is None else _reason(source),
        )
    ]


def _is_later(given_at: float | None, known_at: float | None) -> bool:
    return given_at is not None and (known_at is None or given_at > known_at)


def _sample_key(url: str) -> int:
    """The order of a deterministic sample: each flood of a list is checked by the same pages."""
    return crc32(url.encode("utf-8", "replace"))


def _dropped(parsed: ParsedContent, known: Mapping[str, Listing], given: Collection[str], at: float) -> tuple[str, ...]:
    """Pages that are no longer listed: none if the list was not parsed completely; old entries only, for a feed."""
    if parsed.fingerprint.data is None:
        return ()
    gone = [url for url in known if url not in given]
    if parsed.signals[0].kind == "feed-entry":
        gone = [url for url in gone if (known[url].at or 0.0) < at - FEED_MEMORY_S]
    return tuple(gone)


def _visit_soon(signals: Sequence[tuple[str, float | None, float | None]]) -> tuple[str, ...]:
    dated = sorted(((until, url) for url, _, until in signals if until is not None), reverse=True)
    return tuple(url for _, url in dated[:MAX_VISIT_SOON])


def _reason(source: SignalSource) -> str:
    share = float(precision(source.right, source.wrong))
    return f"announced by {source.url}, whose announcements are right in {share:.0%} of cases"
