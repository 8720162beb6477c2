"""`SiteCapture`: the capture of one site. It visits and revisits the pages, makes further passes, and downloads their
requisites, one request at a time.

Every download is archived and committed before it is written to the journal. Downloads that are missing in the journal
are repeated. A capture that is stopped, runs out of time or loses the connection to its site ends with the downloads
made so far, and can be resumed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from webstrata import urls
from webstrata.flows.capture.download import CaptureDownloader, CaptureMode
from webstrata.flows.capture.events import (
    CaptureEnded,
    CaptureOrder,
    Event,
    PageDownloaded,
    RequisiteDownloaded,
    to_line,
)
from webstrata.flows.capture.plan import first_revisits, next_pass
from webstrata.flows.capture.rates import PageRates
from webstrata.flows.capture.state import CaptureState
from webstrata.ports import Clock, Journal
from webstrata.records import PageRole

MAX_FAILURES = 10
"""After this number of failures in a row the capture stops, because the site no longer responds."""

OnEvent = Callable[["SiteCapture", Event], None]


def pages_in_scope(links: Iterable[str], order: CaptureOrder, now: float) -> tuple[list[str], int]:
    """The links that belong to the capture, each once, and the number of links in scope that look like crawler
    traps."""
    in_scope = [link for link in dict.fromkeys(links) if urls.in_scope(link, order.url, order.scope)]
    pages = [link for link in in_scope if not urls.looks_like_trap(link, now)]
    return pages, len(in_scope) - len(pages)


class SiteCapture:
    """A running capture of one site. `on_event` is called after each event."""

    def __init__(
        self,
        state: CaptureState,
        *,
        downloads: CaptureDownloader,
        rates: PageRates,
        journal: Journal,
        clock: Clock,
        patience_s: float,
        on_event: OnEvent,
    ) -> None:
        self.state = state
        self.phase = "visits"
        self.stopped = ""
        """Why the capture ended early; empty if it did not."""
        self.deadline = float("inf")
        self._downloads = downloads
        self._rates = rates
        self._journal = journal
        self._clock = clock
        self._patience_s = patience_s
        self._on_event = on_event
        order = state.started.order
        if order.max_time_s is not None:
            self.deadline = clock.now() + order.max_time_s

    def stop(self, why: str = "it was interrupted") -> None:
        """Send no further requests; the downloads made so far stay."""
        self.stopped = self.stopped or why

    async def run(self) -> None:
        order = self.state.started.order
        if self.state.pass_number == 0:
            await self._download_pages()
            if order.sharp and not self.stopped:
                await self._record(first_revisits(self.state))
        while self.state.pass_number and not self.stopped:
            self.phase = "revisits" if self.state.pass_number == 1 else f"repair {self.state.pass_number - 1}"
            await self._download_pages()
            if self.state.pass_number > order.repair or self.stopped or not await self._plan_further_pass():
                break
        self.phase = "requisites"
        while not self.stopped and (url := self.state.next_requisite()) is not None:
            await self._download_requisite(url)
        self.phase = "done"

    async def record_end(self) -> None:
        """Write to the journal that the package was written."""
        await self._journal.append([to_line(CaptureEnded(stopped=self.stopped))])

    async def _download_pages(self) -> None:
        """The downloads of one pass."""
        while not self.stopped and (url := self.state.next_page()) is not None:
            if self._clock.now() + self._reserved_s() > self.deadline:
                if self.state.pass_number or not self.state.started.order.sharp:
                    self.stop("its time was up")
                return
            await self._download_page(url)
            if self.state.failures_in_a_row >= MAX_FAILURES:
                self.stop(f"the site stopped answering ({self.state.last_failure})")

    def _reserved_s(self) -> float:
        """The time needed before the deadline: for the next download and, during the visits, for all revisits."""
        visiting = self.state.started.order.sharp and self.state.pass_number == 0
        return self.state.pace_s() + (sum(self.state.slots_s(self.state.visited())) if visiting else 0.0)

    async def _download_page(self, url: str) -> None:
        order = self.state.started.order
        result = await self._downloads.get(
            url,
            CaptureMode(previous=self.state.last_content(url) if order.conditional else None, render=order.render),
            patience_until=self._patience_until(),
            is_captured=self._is_captured,
        )
        links, traps = ([], 0) if order.pages_known else pages_in_scope(result.links, order, self._clock.now())
        new = [link for link in links if link not in self.state.pages]
        await self._record(
            PageDownloaded(
                url=url,
                pass_number=self.state.pass_number,
                observations=result.observations,
                why=result.why,
                permanent=result.permanent,
                positions=result.positions,
                rules=result.rules,
                requisites=self._new_files(url, result.requisites),
                frames=tuple(link for link in result.frames if link not in self.state.frames),
                found=tuple(await self._rates.of(new)),
                left_out=traps,
            )
        )

    def _is_captured(self, target: str) -> bool:
        """Whether this URL is a page of the capture, or will become one."""
        order = self.state.started.order
        if target in self.state.pages:
            return True
        accepts_pages = not order.pages_known and len(self.state.pages) < order.max_pages
        return accepts_pages and bool(pages_in_scope([target], order, self._clock.now())[0])

    async def _plan_further_pass(self) -> bool:
        """Plan another pass if pages are blurred and there is time for it."""
        plan = next_pass(self.state, self._clock.now())
        if plan is None or self._clock.now() + self.state.pace_s() * len(plan.order) > self.deadline:
            return False
        await self._record(plan)
        return True

    async def _download_requisite(self, url: str) -> None:
        if self._clock.now() + self.state.pace_s() > self.deadline:
            self.stop("its time was up")
            return
        result = await self._downloads.get(
            url, CaptureMode(), role=PageRole.REQUISITE, patience_until=self._patience_until()
        )
        follow = self.state.captures_files_of(url, is_page=result.is_page)
        await self._record(
            RequisiteDownloaded(
                url=url,
                observations=result.observations,
                positions=result.positions,
                why=result.why,
                requisites=self._new_files(url, result.requisites if follow else ()),
                frames=tuple(file for file in result.frames if follow and file not in self.state.frames),
            )
        )

    def _new_files(self, url: str, files: Iterable[str]) -> tuple[str, ...]:
        """The files to which this page or file refers, without those that are known of it."""
        known = self.state.files.get(url, {})
        return tuple(file for file in files if file not in known)

    def _patience_until(self) -> float:
        return min(self.deadline, self._clock.now() + self._patience_s)

    async def _record(self, event: Event) -> None:
        """Write the event to the journal, then apply it."""
        await self._journal.append([to_line(event)])
        self.state.apply(event)
        self._on_event(self, event)
