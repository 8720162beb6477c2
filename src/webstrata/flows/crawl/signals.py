"""`collect_signals`: what feeds and sitemaps announce, from the lists among the visits of a batch.

An unchanged list costs one comparison of digests. A list that renews nearly all of its times at once (a flood) says
nothing about a single page: a sample of its announcements is stored, so that visits can check it, and no visit is
brought forward.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from heapq import nlargest
from zlib import crc32

import numpy as np

from webstrata.clock import DAY_S
from webstrata.flows.crawl.judge import JudgedVisit
from webstrata.flows.crawl.parse import ParsedContent
from webstrata.ports import Store
from webstrata.predict.source_quality import READ_KEEP, SourceQuality, read_counts
from webstrata.records import Announcement, NewAnnouncements, Page, SignalSource
from webstrata.schedule.announcements import FLOOD_SAMPLE, is_flood, quality_rows

MAX_VISIT_SOON = 500
"""Pages whose visits one list may bring forward; those with the latest times."""
REST_S = 3600.0
"""A visit is not brought forward to less than this after the page's last visit."""
MAX_UNWATCHED = 2000
"""URLs of one list that are not watched and are stored all the same; those with the latest times."""
FEED_MEMORY_S = 180 * DAY_S
"""A feed drops old entries: a page counts as listed for this long after its last time."""

_QUALITY = SourceQuality()


async def collect_signals(
    judged: Sequence[JudgedVisit], store: Store, discovered: Iterable[str], during_visit: Sequence[Announcement] = ()
) -> tuple[NewAnnouncements, ...]:
    """One item for each source among these visits, and one for each announcement that arrived during a visit.

    `discovered`: pages that this batch adds.
    """
    announced = await _renewed_announcements(during_visit, judged, store) if during_visit else []
    seen = [verdict for verdict in judged if verdict.change is not None]
    if not seen:
        return tuple(announced)
    known = await store.signals.sources([verdict.result.page.url for verdict in seen])
    sources, new = {source.url: source for source in known}, set(discovered)
    for verdict in seen:
        page, at = verdict.result.page, verdict.result.at
        source = sources.get(page.url)
        if verdict.parsed is not None and _is_new_list(verdict):
            announced.append(await _new_announcements(page, at, verdict.parsed, source, store, new))
        elif source is not None:
            announced.append(_nothing_new(source, at))
    return tuple(announced)


def reach(given_at: float | None, seen_at: float) -> float | None:
    """The latest time of the change that a signal with this time announces; None if it announces no change.

    A date without a time of day means the whole day. Times later than tomorrow are ignored.
    """
    if given_at is None or given_at > seen_at + DAY_S:
        return None
    return given_at + DAY_S if given_at % DAY_S == 0.0 else given_at


def is_trusted(source: SignalSource) -> bool:
    """Whether a new announcement of the source brings a visit forward under a policy that weighs no announcements."""
    return bool(_QUALITY.trusted(quality_rows([source]))[0])


async def _renewed_announcements(
    during_visit: Sequence[Announcement], judged: Sequence[JudgedVisit], store: Store
) -> list[NewAnnouncements]:
    """Announcements of trusted sources that arrived while their page was being visited, once more.

    The commit of the visit replaces the time of the next visit, and with it the effect of such an announcement. It
    counts only if it gives a time after the visit.
    """
    sources = await store.signals.sources_by_id([one.source_id for one in during_visit])
    urls = {verdict.result.page.id: verdict.result.page.url for verdict in judged}
    renewed = []
    for announcement in during_visit:
        source = sources.get(announcement.source_id)
        if source is not None and is_trusted(source):
            url, given_at, seen_at = urls[announcement.page_id], announcement.at, announcement.seen_at
            renewed.append(
                NewAnnouncements(
                    source=source.url,
                    kind=source.kind,
                    seen_at=seen_at,
                    signals=((url, given_at, reach(given_at, seen_at)),),
                    finds_pages=source.finds_pages,
                    visit_soon=(url,),
                    rest_s=REST_S,
                    reason=_reason(source),
                )
            )
    return renewed


def _is_new_list(verdict: JudgedVisit) -> bool:
    """Whether the visit returned a list that differs from the last one."""
    if verdict.parsed is None or not verdict.parsed.signals:
        return False
    before = verdict.result.page.fingerprint
    return before is None or before.raw != verdict.parsed.fingerprint.raw


def _nothing_new(source: SignalSource, at: float) -> NewAnnouncements:
    """The source was read, and its list is unchanged."""
    return NewAnnouncements(
        source=source.url,
        kind=source.kind,
        seen_at=at,
        listed=source.listed,
        finds_pages=source.finds_pages,
        keep=READ_KEEP,
        counted=read_counts(pages=source.listed, days=_days_since(source, at), entries=0, late_days=np.zeros(0)),
    )


def _days_since(source: SignalSource | None, at: float) -> float:
    """Days since the last read; 0 for a new source."""
    return 0.0 if source is None or source.read_at is None else max(at - source.read_at, 0.0) / DAY_S


async def _new_announcements(
    page: Page, at: float, parsed: ParsedContent, source: SignalSource | None, store: Store, discovered: Collection[str]
) -> NewAnnouncements:
    listed = await store.signals.listed_by(page.url)
    given = {signal.url: signal.at for signal in parsed.signals if signal.url != page.url}
    unlisted = [url for url in given if url not in listed]
    watched = await store.pages.known([url for url in unlisted if url not in discovered])
    renewed = [url for url in given if url in listed and _is_later(given[url], listed[url])]
    entries = len(renewed)
    # The entries of the first read may be of any age; later ones were missing at the previous read.
    read_before = None if source is None else source.read_at
    late = [(read_before - (given[url] or 0.0)) / DAY_S for url in renewed] if read_before is not None else []
    flood = is_flood(entries, sum(known_at is not None for known_at in listed.values()))
    if flood:
        renewed = sorted(renewed, key=sample_key)[:FLOOD_SAMPLE]
    added = [url for url in unlisted if url in watched or url in discovered]
    signals = tuple((url, given[url], reach(given[url], at)) for url in (*renewed, *added))
    unwatched = [(url, given[url]) for url in unlisted if url not in watched and url not in discovered]
    dropped = _dropped(parsed, listed, given, at)
    trusted = source is not None and not flood and is_trusted(source)
    return NewAnnouncements(
        source=page.url,
        kind=parsed.signals[0].kind,
        seen_at=at,
        signals=signals,
        unwatched=tuple(nlargest(MAX_UNWATCHED, unwatched, key=lambda entry: entry[1] or 0.0)),
        dropped=dropped,
        listed=len(listed) + len(added) - len(dropped),
        keep=READ_KEEP,
        counted=read_counts(
            pages=len(listed),
            days=_days_since(source, at),
            entries=entries,
            late_days=np.array(late, dtype=np.float64),
            discovered=0 if source is None else sum(url in discovered for url in unlisted),
        ),
        finds_pages=page.site_id is not None or bool(parsed.entries),
        flood=flood,
        visit_soon=_visit_soon(signals) if trusted else (),
        rest_s=REST_S,
        reason="" if source is None else _reason(source),
    )


def _is_later(given_at: float | None, known_at: float | None) -> bool:
    return given_at is not None and (known_at is None or given_at > known_at)


def sample_key(url: str) -> int:
    """The order of a deterministic sample: each flood of a list is checked by the same pages."""
    return crc32(url.encode("utf-8", "replace"))


def _dropped(
    parsed: ParsedContent, known: Mapping[str, float | None], given: Collection[str], at: float
) -> tuple[str, ...]:
    """Pages that are no longer listed: none if the list was not parsed completely; old entries only, for a feed."""
    if parsed.fingerprint.data is None:
        return ()
    gone = [url for url in known if url not in given]
    if parsed.signals[0].kind == "feed-entry":
        gone = [url for url in gone if (known[url] or 0.0) < at - FEED_MEMORY_S]
    return tuple(gone)


def _visit_soon(signals: Sequence[tuple[str, float | None, float | None]]) -> tuple[str, ...]:
    dated = sorted(((until, url) for url, _, until in signals if until is not None), reverse=True)
    return tuple(url for _, url in dated[:MAX_VISIT_SOON])


def _reason(source: SignalSource) -> str:
    return (
        f"announced by {source.url}: {source.announced_changed:.0f} of {source.announced:.0f} announcements were right"
    )
