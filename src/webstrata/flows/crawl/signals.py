"""What feeds and sitemaps announce: kept with the pages that it is about, checked by the next visit of each.

Reading a list that says nothing new costs one comparison of digests. A list that renews nearly all of its times at once
says nothing of any page: a sample is kept, so that visits can find out, and no page is called for it.
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

MOST_CALLED = 500
"""Pages whose visits one reading of a list may bring forward; those with the latest times."""
REST_S = 3600.0
"""A page that was just visited is left in peace for so long, whatever is announced."""
FLOOD_LEAST, FLOOD_SHARE = 20, 0.9
"""Renewed times, and their share among those known, from which on a list is taken to stamp them all."""
SAMPLE = 200
"""Signals kept of a flood."""
MOST_OTHERS = 2000
"""Addresses that nobody watches, told to the store from one list; those with the latest times."""
FEED_MEMORY_S = 180 * DAY_S
"""How long a page stays listed by a feed after the feed has moved on."""


class CollectedSignals(NamedTuple):
    """For `Batch`."""

    announced: tuple[NewAnnouncements, ...]
    checked: tuple[SourceCheck, ...]


class _Check(NamedTuple):
    """One row of `Checks`."""

    source: int
    announced: bool
    changed: bool
    delay_s: float = 0.0
    late: bool = False


async def collect_signals(settled: Sequence[JudgedVisit], store: Store, discovered: Iterable[str]) -> CollectedSignals:
    """What the lists among these visits say for the first time, and what all of the visits say of the lists.

    `discovered`: pages that are known only from now on.
    """
    checks, fresh, meanwhile = await _checks(settled, store)
    lists = [(one.visited.page, one.visited.at, one.found) for one in settled if one.found is not None and _is_new(one)]
    announced = await _called_again(meanwhile, settled, store) if meanwhile else []
    if lists:
        sources = {source.url: source for source in await store.signals.sources([page.url for page, _, _ in lists])}
        new, seen = set(discovered), _seen(settled)
        for page, at, look in lists:
            listed = {**(known := await store.signals.listed_by(page.url)), **_brought_up(known, seen)}
            source = sources.get(page.url)
            if source is not None:
                checks += _late(source.id, look, listed)
            announced += await _announced(page, at, look, source, listed, store, new)
    return CollectedSignals(tuple(announced), _checked(checks, fresh))


# ── what visits say of the lists ────────────────────────────────────────────────────────────────────────────


def _seen(settled: Sequence[JudgedVisit]) -> dict[str, JudgedVisit]:
    """The visits that saw their page, be it that it is gone."""
    return {one.visited.page.url: one for one in settled if one.change is not None}


async def _checks(
    settled: Sequence[JudgedVisit], store: Store
) -> tuple[list[_Check], dict[int, list[tuple[int, float]]], list[Announcement]]:
    """Checks of what was announced; by source, which signals are news no more; and signals that came meanwhile.

    The first sight proves nothing.
    """
    seen = {one.visited.page.id: one for one in _seen(settled).values() if one.visited.page.last_seen_at is not None}
    if not seen:
        return [], {}, []
    checks: list[_Check] = []
    meanwhile: list[Announcement] = []
    fresh: dict[int, list[tuple[int, float]]] = {}
    for said in await store.signals.announcements(list(seen)):
        visit = seen[said.page_id]
        if said.seen_at > visit.visited.at:  # read after the visit began: the next one checks it
            if said.news:
                meanwhile.append(said)
            continue
        if said.news:
            fresh.setdefault(said.source_id, []).append((said.page_id, said.seen_at))
        checks.append(_Check(said.source_id, said.news > 0, _changed(visit), _delay_s(said)))
    return checks, fresh, meanwhile


async def _called_again(
    meanwhile: Sequence[Announcement], settled: Sequence[JudgedVisit], store: Store
) -> list[NewAnnouncements]:
    """Calls that came while their page was being visited, once more: the visit puts its own time in their place.

    Only those hold that give a time after the visit: what changed before, it has seen.
    """
    sources = {source.id: source for source in await store.signals.sources()}
    urls = {one.visited.page.id: one.visited.page.url for one in settled}
    found = []
    for said in meanwhile:
        source = sources.get(said.source_id)
        if source is not None and is_trusted(source.right, source.wrong):
            url = urls[said.page_id]
            found.append(
                NewAnnouncements(
                    source=source.url,
                    kind=source.kind,
                    seen_at=said.seen_at,
                    said=((url, said.at, reach(said.at, said.seen_at)),),
                    call=(url,),
                    rest_s=REST_S,
                    reason=_reason(source),
                )
            )
    return found


def _changed(one: JudgedVisit) -> bool:
    return one.change is not None and one.change.counts


def _delay_s(one: Announcement) -> float:
    given_at = reach(one.at, one.seen_at)
    return 0.0 if given_at is None else max(0.0, one.seen_at - given_at)


def _brought_up(known: Mapping[str, Listing], seen: Mapping[str, JudgedVisit]) -> dict[str, Listing]:
    """Listed pages that this batch has seen: the store does not know yet."""
    found = {}
    for url in known.keys() & seen.keys():
        at = seen[url].visited.at
        changed_at = at if _changed(seen[url]) else known[url].last_change_at
        found[url] = replace(known[url], last_seen_at=at, last_change_at=changed_at)
    return found


def _late(source: int, look: ParsedContent, listed: Mapping[str, Listing]) -> Iterator[_Check]:
    """Checks of times that our own visits have passed already."""
    for signal in look.signals:
        known = listed.get(signal.url)
        if known is None or known.last_seen_at is None or not _is_later(signal.at, known.at):
            continue
        given_at, until = signal.at or 0.0, reach(signal.at, known.last_seen_at)
        if until is not None and known.added_at < given_at and until <= known.last_seen_at:
            yield _Check(source, announced=True, changed=(known.last_change_at or 0.0) >= given_at, late=True)


def _checked(rows: Sequence[_Check], fresh: Mapping[int, list[tuple[int, float]]]) -> tuple[SourceCheck, ...]:
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
            source_id=one.source,
            keep=one.keep,
            right=one.right,
            wrong=one.wrong,
            announced=one.announced,
            silent=one.silent,
            delay_s=one.delay_s,
            delays=one.delays,
            settled=tuple(fresh.get(one.source, ())),
        )
        for one in source_counts(checks)
    )


# ── what lists say ──────────────────────────────────────────────────────────────────────────────────────────


def _is_new(one: JudgedVisit) -> bool:
    """Whether the visit brought a list other than the last one."""
    if one.found is None or one.change is None or not one.found.signals:
        return False
    before = one.visited.page.fingerprint
    return before is None or before.raw != one.found.fingerprint.raw


async def _announced(
    page: Page,
    at: float,
    look: ParsedContent,
    source: SignalSource | None,
    listed: Mapping[str, Listing],
    store: Store,
    discovered: Collection[str],
) -> list[NewAnnouncements]:
    """At most one: none where a known source says nothing new."""
    given = {signal.url: signal.at for signal in look.signals if signal.url != page.url}
    strange = [url for url in given if url not in listed]
    watched = await store.pages.known([url for url in strange if url not in discovered])
    renewed = [url for url in given if url in listed and _is_later(given[url], listed[url].at)]
    flood = len(renewed) >= max(FLOOD_LEAST, FLOOD_SHARE * sum(one.at is not None for one in listed.values()))
    if flood:
        renewed = sorted(renewed, key=_drawn)[:SAMPLE]
    fresh = [*renewed, *(url for url in strange if url in watched or url in discovered)]
    said = tuple((url, given[url], reach(given[url], at)) for url in fresh)
    others = [(url, given[url]) for url in strange if url not in watched and url not in discovered]
    dropped = _dropped(look, listed, given, at)
    if source is not None and not said and not others and not dropped:
        return []
    trusted = source is not None and not flood and is_trusted(source.right, source.wrong)
    return [
        NewAnnouncements(
            source=page.url,
            kind=look.signals[0].kind,
            seen_at=at,
            said=said,
            others=tuple(nlargest(MOST_OTHERS, others, key=lambda one: one[1] or 0.0)),
            dropped=dropped,
            flood=flood,
            call=_called(said) if trusted else (),
            rest_s=REST_S,
            reason="" if source is None else _reason(source),
        )
    ]


def _is_later(given_at: float | None, known_at: float | None) -> bool:
    return given_at is not None and (known_at is None or given_at > known_at)


def _drawn(url: str) -> int:
    """A lot that falls the same way each time: the same pages are watched for what a flood is worth."""
    return crc32(url.encode("utf-8", "replace"))


def _dropped(look: ParsedContent, known: Mapping[str, Listing], given: Collection[str], at: float) -> tuple[str, ...]:
    """Pages listed no more. A list that was not read to its end drops none; a feed forgets its entries slowly."""
    if look.fingerprint.data is None:
        return ()
    gone = [url for url in known if url not in given]
    if look.signals[0].kind == "feed-entry":
        gone = [url for url in gone if (known[url].at or 0.0) < at - FEED_MEMORY_S]
    return tuple(gone)


def _called(said: Sequence[tuple[str, float | None, float | None]]) -> tuple[str, ...]:
    dated = sorted(((until, url) for url, _, until in said if until is not None), reverse=True)
    return tuple(url for _, url in dated[:MOST_CALLED])


def _reason(source: SignalSource) -> str:
    return f"announced by {source.url}, whose word is good for {float(precision(source.right, source.wrong)):.0%}"
