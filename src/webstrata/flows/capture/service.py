"""`CaptureService`: starts, resumes and finishes captures."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from webstrata import urls
from webstrata.clock import digits14
from webstrata.errors import UsageError
from webstrata.flows.capture.download import CaptureDownloader, CaptureMode
from webstrata.flows.capture.events import JOURNAL_VERSION, CaptureOrder, CaptureRun, CaptureStarted, to_line
from webstrata.flows.capture.proof import CertificateSigner, FinishedCapture
from webstrata.flows.capture.rates import PageRates, PastChanges, SitemapHints, capture_span_s, past_changes
from webstrata.flows.capture.recorded import recorded_events
from webstrata.flows.capture.site_capture import OnEvent, SiteCapture, pages_in_scope
from webstrata.flows.capture.state import CaptureState
from webstrata.ports import Clock, Journal, Store
from webstrata.records import PageRole, Position
from webstrata.sharp.proof.certificate import ObservedUrl
from webstrata.sharp.rhythm import CaptureStart, best_start

MAX_SITEMAPS = 50
"""Sitemaps per capture. More are a crawler trap, or a site that is too large for one capture."""


class _StartPages(Struct):
    """The pages that a capture starts with, the statements of sitemaps about them, and the requests for these."""

    pages: list[str]
    hints: dict[str, SitemapHints] = {}
    observations: list[ObservedUrl] = []
    positions: list[Position] = []


class CaptureService:
    """Starts, resumes and finishes captures. Several may run at the same time, each in its own task."""

    def __init__(
        self,
        *,
        store: Store,
        clock: Clock,
        downloads: CaptureDownloader,
        signer: CertificateSigner,
        new_journal: Callable[[str], tuple[str, Journal]],
        old_journal: Callable[[str], Journal],
        patience_s: float,
        rest_factor: float = 0.0,
    ) -> None:
        """`rest_factor`: after each response a host is left alone for this multiple of its response time."""
        self._store = store
        self._clock = clock
        self._downloads = downloads
        self._signer = signer
        self._new_journal = new_journal
        self._old_journal = old_journal
        self._patience_s = patience_s
        self._rest_factor = rest_factor

    async def begin(self, order: CaptureOrder, on_event: OnEvent, run: CaptureRun | None = None) -> SiteCapture:
        """Fetch robots.txt, find the first pages, and write the first line of the journal."""
        patience_until = self._clock.now() + self._patience_s
        slot_s, slot_from = await self._downloads.required_gap(order.url, patience_until=patience_until)
        past = await past_changes(self._store, order.url, self._clock.now())
        start = await self._start_pages(order, patience_until)
        pages = start.pages
        exact = order.schedule.rates_per_s if order.schedule else None
        span_s = capture_span_s(len(pages) if order.pages_known else None, past, slot_s)
        now = self._clock.now()
        rates = PageRates(self._store, past, order.weights, now=now, span_s=span_s, exact=exact, hints=start.hints)
        capture, journal = self._new_journal(f"{digits14(self._clock.now())}-{urls.host_of(order.url)}")
        started = CaptureStarted(
            version=JOURNAL_VERSION,
            capture=capture,
            order=order,
            run=run or CaptureRun(),
            at=self._clock.now(),
            slot_s=slot_s,
            slot_from=slot_from,
            reversion=past.reversion,
            rest_factor=self._rest_factor,
            pages=tuple(await rates.of(pages)),
            observations=tuple(start.observations),
            positions=tuple(start.positions),
        )
        await journal.append([to_line(started)])
        return self._site_capture(CaptureState(started), rates, journal, on_event)

    async def resume(
        self, capture: str, on_event: OnEvent, *, repair: int | None = None, max_time_s: float | None = None
    ) -> SiteCapture:
        """Continue a capture at the end of its journal, with its order; `repair` and `max_time_s` replace those of the
        order if they are given."""
        journal = self._old_journal(capture)
        events = recorded_events(capture, journal.lines())
        if events and isinstance(events[0], CaptureStarted):
            changed = {"max_time_s": max_time_s, "repair": repair}
            order = replace(events[0].order, **{name: value for name, value in changed.items() if value is not None})
            events[0] = replace(events[0], order=order)
        state = CaptureState.replay(events)
        started, now = state.started, self._clock.now()
        past = await past_changes(self._store, started.order.url, now)
        span_s = capture_span_s(len(state.pages), past, started.slot_s)
        rates = PageRates(self._store, past, started.order.weights, now=now, span_s=span_s)
        return self._site_capture(state, rates, journal, on_event)

    def _site_capture(self, state: CaptureState, rates: PageRates, journal: Journal, on_event: OnEvent) -> SiteCapture:
        return SiteCapture(
            state,
            downloads=self._downloads,
            rates=rates,
            journal=journal,
            clock=self._clock,
            patience_s=self._patience_s,
            on_event=on_event,
        )

    async def finish(self, capture: SiteCapture, out: Path) -> FinishedCapture:
        """Write the WACZ file with the certificate, and then the end to the journal."""
        finished = await self._signer.finish(capture.state, out, stopped=capture.stopped)
        await capture.record_end()
        return finished

    async def quietest_start(self, order: CaptureOrder, within_s: float) -> tuple[CaptureStart, PastChanges]:
        """The best time to start by the site's weekly rhythm. The duration is estimated from the known pages."""
        past = await past_changes(self._store, order.url, self._clock.now())
        patience_until = self._clock.now() + self._patience_s
        slot_s, _ = await self._downloads.required_gap(order.url, patience_until=patience_until)
        pages = len(order.listed) if order.listed is not None else max(1, past.pages)
        duration_s = order.max_time_s or pages * slot_s * (2 if order.sharp else 1)
        return best_start(past.changes_at, self._clock.now(), within_s, max(duration_s, slot_s)), past

    async def _start_pages(self, order: CaptureOrder, patience_until: float) -> _StartPages:
        """All pages if they are known beforehand; else the seed."""
        if not order.pages_known:
            return _StartPages([order.url])
        start = _StartPages(list(order.listed or ()))
        if order.use_sitemap:
            start = await self._sitemap_pages(order, patience_until)
        pages, _ = pages_in_scope(start.pages, order, self._clock.now())
        if not pages:
            source = "the site's sitemaps list" if order.use_sitemap else "the list names"
            raise UsageError(f"no page below {order.url} is among those that {source}. Widen --scope, or follow links.")
        start.pages = pages[: order.max_pages]
        return start

    async def _sitemap_pages(self, order: CaptureOrder, patience_until: float) -> _StartPages:
        """The pages that the site's sitemaps list, including the sitemaps of sitemap indexes."""
        pending = self._downloads.sitemaps(order.url)
        requested: set[str] = set()
        found = _StartPages([])
        while pending and len(requested) < MAX_SITEMAPS and len(found.pages) < order.max_pages:
            url = pending.pop(0)
            if url in requested or not urls.in_scope(url, order.url, "domain"):
                continue
            requested.add(url)
            result = await self._downloads.get(url, CaptureMode(), role=PageRole.SITEMAP, patience_until=patience_until)
            found.pages += result.links
            pending += result.sitemaps
            found.hints |= result.hints
            found.observations += result.observations
            found.positions += result.positions
        return found
