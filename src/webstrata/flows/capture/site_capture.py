"""The capture of a site: visits, revisits, further passes, then what the pages are made of. One page at a time.

Every download is archived and logged before it is told to the journal, and what the journal does not know is asked for
again. A capture that is stopped, runs out of time or loses its site ends with what there is, and can be resumed.
"""

from __future__ import annotations

from collections.abc import Callable

from webstrata.flows.capture.download import CaptureDownloader, CaptureMode
from webstrata.flows.capture.events import Event, PageDownloaded, PassPlanned, RequisiteDownloaded, to_line
from webstrata.flows.capture.pages import in_capture
from webstrata.flows.capture.plan import first_revisits, next_pass
from webstrata.flows.capture.rates import PageRates
from webstrata.flows.capture.state import CaptureState
from webstrata.ports import Clock, Journal
from webstrata.records import PageRole

MOST_FAILURES = 10
"""In a row, and the site has stopped answering."""

Told = Callable[["SiteCapture", Event], None]


class SiteCapture:
    """One site's capture under way. `told` is called after each event."""

    def __init__(
        self,
        state: CaptureState,
        *,
        downloads: CaptureDownloader,
        rates: PageRates,
        journal: Journal,
        clock: Clock,
        patience_s: float,
        told: Told,
    ) -> None:
        self.state = state
        self.phase = "visits"
        self.stopped = ""
        """Why it ended before all was done; empty: it did not."""
        self.deadline = float("inf")
        self._downloads = downloads
        self._rates = rates
        self._journal = journal
        self._clock = clock
        self._patience_s = patience_s
        self._told = told
        order = state.began.order
        self._manner = CaptureMode(layer=order.layer, conditional=order.conditional)
        if order.max_time_s is not None:
            self.deadline = clock.now() + order.max_time_s

    def stop(self, why: str = "it was interrupted") -> None:
        """Ask for nothing more; what there is stays."""
        self.stopped = self.stopped or why

    async def run(self) -> None:
        order = self.state.began.order
        if self.state.turn == 0:
            await self._pages()
            if order.sharp and not self.stopped:
                await self._happened(first_revisits(self.state))
        while self.state.turn and not self.stopped:
            self.phase = "revisits" if self.state.turn == 1 else f"repair {self.state.turn - 1}"
            await self._pages()
            if self.state.turn > order.repair or self.stopped or not await self._further():
                break
        self.phase = "requisites"
        while not self.stopped and (url := self.state.next_requisite()) is not None:
            await self._requisite(url)
        self.phase = "done"

    async def _pages(self) -> None:
        """The downloads of one turn."""
        while not self.stopped and (url := self.state.next_page()) is not None:
            if self._clock.now() + self._kept_s() > self.deadline:
                if self.state.turn or not self.state.began.order.sharp:
                    self.stop("its time was up")
                return
            await self._page(url)
            if self.state.failures >= MOST_FAILURES:
                self.stop(f"the site stopped answering ({self.state.pages[url].why})")

    def _kept_s(self) -> float:
        """Time that must be left: while pages are visited, that of their revisits."""
        sharp = self.state.began.order.sharp and self.state.turn == 0
        return self.state.pace_s() + (sum(self.state.slots_s(self.state.visited())) if sharp else 0.0)

    async def _page(self, url: str) -> None:
        got = await self._downloads.get(url, self._manner, patience_until=self._patience(), apart=self._apart)
        order = self.state.began.order
        links, traps = in_capture(got.links, order, self._clock.now()) if order.follows else ([], 0)
        new = [link for link in links if link not in self.state.pages]
        await self._happened(
            PageDownloaded(
                url=url,
                turn=self.state.turn,
                download=got.download,
                why=got.why,
                lasting=got.lasting,
                positions=got.positions,
                requisites=tuple(link for link in got.requisites if link not in self.state.requisites),
                found=tuple(await self._rates.of(new)),
                left_out=traps,
            )
        )

    def _apart(self, target: str) -> bool:
        """Is this address a page of the capture, or about to become one?"""
        order = self.state.began.order
        if target in self.state.pages:
            return True
        room = order.follows and len(self.state.pages) < order.max_pages
        return room and bool(in_capture([target], order, self._clock.now())[0])

    async def _further(self) -> bool:
        """Plan another pass, if there is something to mend and time for it."""
        plan: PassPlanned | None = next_pass(self.state, self._clock.now())
        if plan is None or self._clock.now() + self.state.pace_s() * len(plan.order) > self.deadline:
            return False
        await self._happened(plan)
        return True

    async def _requisite(self, url: str) -> None:
        if self._clock.now() + self.state.pace_s() > self.deadline:
            self.stop("its time was up")
            return
        got = await self._downloads.get(url, CaptureMode(), role=PageRole.REQUISITE, patience_until=self._patience())
        gone = f"status {got.download.status}" if got.download is not None and got.download.status >= 400 else ""
        deeper = got.requisites if self.state.reads_styles(url) else ()
        named = tuple(one for one in deeper if one not in self.state.requisites)
        await self._happened(
            RequisiteDownloaded(url=url, positions=got.positions, why=got.why or gone, requisites=named)
        )

    def _patience(self) -> float:
        return min(self.deadline, self._clock.now() + self._patience_s)

    async def _happened(self, event: Event) -> None:
        await self._journal.append([to_line(event)])
        self.state.apply(event)
        self._told(self, event)
