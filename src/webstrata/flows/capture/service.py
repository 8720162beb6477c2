"""Captures from their beginning (or where an earlier run left them) to the file that proves them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import msgspec
from msgspec.structs import replace

from webstrata import urls
from webstrata.clock import digits14
from webstrata.errors import UsageError
from webstrata.flows.capture.download import CaptureDownloader
from webstrata.flows.capture.events import CaptureOrder, CaptureStarted, from_line, to_line
from webstrata.flows.capture.pages import listed_pages
from webstrata.flows.capture.proof import CertificateSigner, FinishedCapture
from webstrata.flows.capture.rates import PageRates, PastChanges, past_changes
from webstrata.flows.capture.site_capture import SiteCapture, Told
from webstrata.flows.capture.state import CaptureState
from webstrata.ports import Clock, Journal, Store
from webstrata.sharp.rhythm import CaptureStart, best_start


class CaptureService:
    """Begins, resumes and finishes captures. Several may run at the same time, each a task of its own."""

    def __init__(
        self,
        *,
        store: Store,
        clock: Clock,
        downloads: CaptureDownloader,
        notary: CertificateSigner,
        new_journal: Callable[[str], tuple[str, Journal]],
        old_journal: Callable[[str], Journal],
        patience_s: float,
        rest_factor: float = 0.0,
    ) -> None:
        """`rest_factor`: so many times its response time every host rests after an answer."""
        self._store = store
        self._clock = clock
        self._downloads = downloads
        self._notary = notary
        self._new_journal = new_journal
        self._old_journal = old_journal
        self._patience_s = patience_s
        self._rest_factor = rest_factor

    async def begin(self, order: CaptureOrder, told: Told) -> SiteCapture:
        """Meet the site, and write the first line of the journal."""
        patience_until = self._clock.now() + self._patience_s
        slot_s = await self._downloads.pace_s(order.url, patience_until=patience_until)
        past = await past_changes(self._store, order.url)
        named = await listed_pages(order, self._downloads, now=self._clock.now(), patience_until=patience_until)
        sure = order.ready.rates_per_s if order.ready else None
        rates = PageRates(self._store, past, order.weights, sure, named.told)
        capture, journal = self._new_journal(f"{digits14(self._clock.now())}-{urls.host_of(order.url)}")
        began = CaptureStarted(
            capture=capture,
            order=order,
            at=self._clock.now(),
            slot_s=max(float(slot_s), 1e-3),
            reversion=past.reversion,
            rest_factor=self._rest_factor,
            pages=tuple(await rates.of(named.pages)),
        )
        await journal.append([to_line(began)])
        return self._under_way(CaptureState(began), rates, journal, told)

    async def resume(
        self, capture: str, told: Told, *, repair: int | None = None, max_time_s: float | None = None
    ) -> SiteCapture:
        """Go on where the journal ends; more passes and another time may be allowed than at first."""
        journal = self._old_journal(capture)
        try:
            events = [from_line(line) for line in journal.lines()]
        except msgspec.DecodeError as problem:
            raise UsageError(f"the journal of {capture} cannot be read ({problem}). Start a new capture.") from None
        if events and isinstance(events[0], CaptureStarted):
            order = events[0].order
            order = replace(order, max_time_s=max_time_s, repair=order.repair if repair is None else repair)
            events[0] = replace(events[0], order=order)
        state = CaptureState.replayed(events)
        past = await past_changes(self._store, state.began.order.url)
        rates = PageRates(self._store, past, state.began.order.weights)
        return self._under_way(state, rates, journal, told)

    def _under_way(self, state: CaptureState, rates: PageRates, journal: Journal, told: Told) -> SiteCapture:
        return SiteCapture(
            state,
            downloads=self._downloads,
            rates=rates,
            journal=journal,
            clock=self._clock,
            patience_s=self._patience_s,
            told=told,
        )

    async def finish(self, capture: SiteCapture, out: Path) -> FinishedCapture:
        return await self._notary.prove(capture.state, out)

    async def quietest(self, order: CaptureOrder, within_s: float) -> tuple[CaptureStart, PastChanges]:
        """When to start, by the site's own week. How long it will take is guessed from the pages that are known."""
        past = await past_changes(self._store, order.url)
        slot_s = await self._downloads.pace_s(order.url, patience_until=self._clock.now() + self._patience_s)
        pages = len(order.listed) if order.listed is not None else max(1, past.pages)
        lasts_s = order.max_time_s or pages * slot_s * (2 if order.sharp else 1)
        return best_start(past.changes_at, self._clock.now(), within_s, max(lasts_s, slot_s)), past
