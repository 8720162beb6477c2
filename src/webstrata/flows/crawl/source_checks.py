"""`check_sources`: visits check what feeds and sitemaps announced of the visited pages.

Each check compares three things: whether the source had announced a change, whether the visit found one, and how
probable a change was without any announcement. The last is what the schedule expects before it learns from the visit.
So a source gets no credit for changes that would have come anyway. The counts are added in the visit's transaction.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from webstrata.clock import DAY_S
from webstrata.columns import Days, Flags
from webstrata.flows.crawl.judge import JudgedVisit
from webstrata.ports import Store
from webstrata.predict.source_quality import SourceQuality
from webstrata.records import VISIT_COUNTS, Announcement, SignalSource, SourceCheck
from webstrata.schedule.announcements import quality_rows
from webstrata.schedule.schedule import Schedule

_QUALITY = SourceQuality()


class SourceChecks(NamedTuple):
    """The checks of one batch of visits."""

    checked: tuple[SourceCheck, ...] = ()
    during_visit: tuple[Announcement, ...] = ()
    """News that was stored after the start of the visit of its page: the next visit checks it."""


async def check_sources(judged: Sequence[JudgedVisit], store: Store, schedule: Schedule) -> SourceChecks:
    """Checks of announcements by these visits. The schedule must not have learned from them yet.

    A page's first visit checks nothing.
    """
    seen = {
        verdict.result.page.id: verdict
        for verdict in judged
        if verdict.change is not None and verdict.result.page.last_seen_at is not None
    }
    announcements = await store.signals.announcements(list(seen)) if seen else []
    if not announcements:
        return SourceChecks()
    in_time = [one for one in announcements if one.seen_at <= seen[one.page_id].result.at]
    late = tuple(one for one in announcements if one.news and one.seen_at > seen[one.page_id].result.at)
    sources = await store.signals.sources_by_id([one.source_id for one in in_time])
    known = [one for one in in_time if one.source_id in sources]
    return SourceChecks(_checks(known, seen, sources, schedule), late)


def _checks(
    announcements: Sequence[Announcement],
    seen: dict[int, JudgedVisit],
    sources: dict[int, SignalSource],
    schedule: Schedule,
) -> tuple[SourceCheck, ...]:
    """The checks of these announcements by source."""
    if not announcements:
        return ()
    ids = sorted(sources)
    delays = dict(zip(ids, _QUALITY.delay_days(quality_rows([sources[id_] for id_ in ids])).tolist(), strict=True))
    visits = [seen[one.page_id] for one in announcements]
    at = np.array([verdict.result.at for verdict in visits])
    since = np.array([verdict.result.page.last_seen_at or 0.0 for verdict in visits])
    until = np.array([(sources[one.source_id].read_at or 0.0) - DAY_S * delays[one.source_id] for one in announcements])
    covered = np.clip(until, since, np.maximum(at, since))
    announced: Flags = np.array([one.news > 0 for one in announcements])
    changed: Flags = np.array([verdict.change is not None and verdict.change.counts for verdict in visits])
    unchanged, unchanged_covered = _expected(visits, at, covered, schedule)
    said = announced | (covered > since)
    if not said.any():
        return ()
    counted = _QUALITY.visit_counts(
        len(ids),
        np.searchsorted(ids, [one.source_id for one in announcements])[said],
        (np.maximum(at - since, 0.0) / DAY_S)[said],
        announced[said],
        changed[said],
        unchanged[said],
        unchanged_covered[said],
    )
    settled: dict[int, list[tuple[int, float]]] = {}
    for one in announcements:
        if one.news:
            settled.setdefault(one.source_id, []).append((one.page_id, one.seen_at))
    return tuple(
        SourceCheck(
            source_id=id_,
            keep=float(counted.keep[index]),
            added={name: float(counted.added[name][index]) for name in VISIT_COUNTS},
            settled=tuple(settled.get(id_, ())),
        )
        for index, id_ in enumerate(ids)
        if counted.keep[index] < 1.0
    )


def _expected(visits: Sequence[JudgedVisit], at: Days, covered: Days, schedule: Schedule) -> tuple[Days, Days]:
    """Probability of no change since the last visit: until the visit, and in the time that the source covers."""
    pages = [verdict.result.page for verdict in visits]
    chances = schedule.unchanged([*pages, *pages], [*at.tolist(), *covered.tolist()], float(at.max()))
    unchanged, unchanged_covered = np.array(chances).reshape(2, -1)
    return unchanged, unchanged_covered
