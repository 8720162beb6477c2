"""Where a capture stands: made from its events, in order, and from nothing else."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterable, Sequence
from itertools import pairwise
from statistics import median

from webstrata.errors import UsageError
from webstrata.flows.capture.events import (
    CaptureStarted,
    Event,
    FoundPage,
    PageDownloaded,
    PassPlanned,
    RequisiteDownloaded,
)
from webstrata.records import Position
from webstrata.sharp.online import OnlineScheduler
from webstrata.sharp.proof.capture_outcome import CaptureOutcome, PageDownloads, capture_outcome
from webstrata.sharp.survival import Survival, believed
from webstrata.sharp.passes import uneven_mirror

_GONE = (404, 410)
_SHEETS_DEEP = 2
_PACED_BY = 21
"""The pace is that of so many downloads."""


class CaptureState:
    """Pages with their downloads, what is to be asked for next, and what was expected."""

    def __init__(self, began: CaptureStarted) -> None:
        self.began = began
        self.turn = 0
        self.pages: dict[str, PageDownloads] = {}
        self.positions: list[Position] = []
        self.requisites: dict[str, bool | None] = {}
        """Of images, styles and scripts: had or not; none: not asked for yet."""
        self._sheets: dict[str, int] = {}
        """Of those that style sheets name: how many sheets lie between them and a page."""
        self.appeared: list[str] = []
        """Pages that were first linked to after the visits had ended."""
        self.left_out = 0
        """Links in scope that look like traps, or are beyond the most pages wanted."""
        self.failures = 0
        """In a row."""
        self.plans: list[PassPlanned] = []
        self._starts: deque[float] = deque(maxlen=_PACED_BY)
        self._pending: deque[str] = deque()
        self._again: deque[str] = deque()
        self._failed_once: set[str] = set()
        known = began.order.listed is not None or began.order.use_sitemap
        self._scheduler = OnlineScheduler(
            began.slot_s, count=len(began.pages) if known else None, most=began.order.max_pages
        )
        self._take_in(began.pages, None)
        if known:
            ready = began.order.ready
            self._pending.extend(self._best_visits() if ready is None else ready.visits)

    @classmethod
    def replayed(cls, events: Iterable[Event]) -> CaptureState:
        """As an earlier run left it."""
        rest = iter(events)
        first = next(rest, None)
        if not isinstance(first, CaptureStarted):
            raise UsageError("the journal has no beginning: nothing of that capture can be resumed. Start a new one.")
        state = cls(first)
        for event in rest:
            state.apply(event)
        return state

    # ── what happens ────────────────────────────────────────────────────────────────────────────────────────

    def apply(self, event: Event) -> None:
        match event:
            case PageDownloaded():
                self._got(event)
            case PassPlanned():
                self.turn = event.turn
                self.plans.append(event)
                self._pending, self._again = deque(event.order), deque()
                self._failed_once.clear()
            case RequisiteDownloaded():
                self.requisites[event.url] = not event.why
                self.positions += event.positions
                for url in event.requisites:
                    if url not in self.requisites:
                        self.requisites[url] = None
                        self._sheets[url] = self._sheets.get(event.url, 0) + 1

    def _got(self, event: PageDownloaded) -> None:
        self.positions += event.positions
        self.left_out += event.left_out
        for url in event.requisites:
            self.requisites.setdefault(url, None)
        self._no_longer_pending(event.url)
        was_there = event.download is not None and (self.turn > 0 or event.download.status not in _GONE)
        if event.download is not None and was_there:
            self._downloaded(event)
        else:
            self._failed(event)
        if self.turn == 0:
            self._take_in(event.found, event.url)
        else:
            self._appear(event.found)

    def _downloaded(self, event: PageDownloaded) -> None:
        page, download = self.pages[event.url], event.download
        assert download is not None
        page.downloads.append(download)
        self._starts.append(download.started)
        page.why = ""
        self.failures = 0
        if self.turn == 0:
            self._scheduler.visited(event.url, download.started, download.ended)

    def _failed(self, event: PageDownloaded) -> None:
        status = event.download.status if event.download is not None else None
        self.pages[event.url].why = event.why or f"status {status}"
        if status is not None:
            self.failures = 0
        elif not event.lasting:
            self.failures += 1
        if self.turn == 0:
            self._scheduler.gave_up(event.url)
        if status is None and not event.lasting and event.url not in self._failed_once:
            self._failed_once.add(event.url)
            self._again.append(event.url)

    def _no_longer_pending(self, url: str) -> None:
        for waiting in (self._pending, self._again):
            if waiting and waiting[0] == url:
                waiting.popleft()
                return

    def _take_in(self, found: Iterable[FoundPage], found_on: str | None) -> None:
        pages = list(found)
        new = self._scheduler.discovered(
            [page.url for page in pages],
            [page.rate_per_s for page in pages],
            [page.weight for page in pages],
            shapes=[page.shape for page in pages],
            found_on=found_on,
        )
        taken = set(new)
        for page in pages:
            if page.url in taken:
                self.pages[page.url] = _history(page)
            else:
                self.left_out += page.url not in self.pages

    def _appear(self, found: Iterable[FoundPage]) -> None:
        for page in found:
            if page.url not in self.pages and len(self.pages) < self.began.order.max_pages:
                self.pages[page.url] = _history(page)
                self.pages[page.url].why = "it was first linked to after the visits had ended"
                self.appeared.append(page.url)

    # ── what to do ──────────────────────────────────────────────────────────────────────────────────────────

    def next_page(self) -> str | None:
        """The page to ask for now; none: this turn is over. What failed is asked for once more at its end."""
        if self._pending:
            return self._pending[0]
        if self.turn == 0 and (page := self._scheduler.next_visit()) is not None:
            return page
        return self._again[0] if self._again else None

    def next_requisite(self) -> str | None:
        asked = sum(had is not None for had in self.requisites.values())
        if asked >= self.began.order.max_requisites:
            return None
        return next((url for url, had in self.requisites.items() if had is None), None)

    def reads_styles(self, url: str) -> bool:
        """Are the files wanted that this style sheet names? Those of a sheet that a sheet imports are, others not."""
        return self._sheets.get(url, 0) < _SHEETS_DEEP

    def _best_visits(self) -> list[str]:
        """All pages are known: the best schedule's visits, from its outside to its inside."""
        pages = list(self.pages.values())
        if not pages:
            return []
        plan = uneven_mirror(survival_of(pages), [page.weight for page in pages], self.slots_s(pages))
        return [pages[place].url for place in plan.order[::-1]]

    # ── what is known ───────────────────────────────────────────────────────────────────────────────────────

    def visited(self) -> list[PageDownloads]:
        return [page for page in self.pages.values() if page.downloads]

    def pace_s(self) -> float:
        """Seconds from download to download, as they lately were; at first, as the site asks."""
        gaps = [after - before for before, after in pairwise(self._starts)]
        return max(median(gaps), 1e-3) if gaps else self.began.slot_s

    def slots_s(self, pages: Sequence[PageDownloads]) -> list[float]:
        """Seconds from the download of each page to the next one: the pace, or longer where the page is slow."""
        pace = self.pace_s()
        return [max(pace, (_download_s(page) or 0.0) * (1.0 + self.began.rest_factor)) for page in pages]

    def to_come(self) -> int:
        """Requests of this turn that are still to be made, as far as is known."""
        if self.turn > 0 or self._pending:
            return len(self._pending) + len(self._again)
        waiting = sum(not page.downloads and not page.why for page in self.pages.values())
        return waiting + self._scheduler.unknown() + len(self._again)

    def expected(self) -> float:
        """Sharp pages to be expected as things stand."""
        if self.turn == 0:
            return self._scheduler.expected()
        return sum(self._chance(page, self.plans[-1]) * page.weight for page in self.visited())

    def _chance(self, page: PageDownloads, plan: PassPlanned) -> float:
        """Of a page to be sharp as of the instant of a plan, as it is known now."""
        after = [one for one in page.downloads if one.started >= plan.instant]
        before = [one for one in page.downloads if one.ended <= plan.instant]
        if before and after:
            return float((before[-1].content, before[-1].status) == (after[0].content, after[0].status))
        return plan.chances.get(page.url, 0.0)

    def outcome(self) -> CaptureOutcome:
        """What the downloads show; each page with the chance that the plan of the instant had given it."""
        for page in self.pages.values():
            if not page.downloads and not page.why:
                page.why = "there was no time to visit it"
        result = capture_outcome(list(self.pages.values()))
        if result.instant is not None and self.plans:
            middle = (result.instant.start + result.instant.end) / 2
            plan = min(self.plans, key=lambda one: math.fabs(one.instant - middle))
            for page in self.pages.values():
                page.expected = plan.chances.get(page.url, 0.0)
            result = capture_outcome(list(self.pages.values()))
        return result


def survival_of(pages: Sequence[PageDownloads]) -> Survival:
    """What is believed of the rates of these pages, per second."""
    shapes = [math.inf if page.rate_shape is None else page.rate_shape for page in pages]
    return believed([page.rate_per_s for page in pages], shapes)


def _download_s(page: PageDownloads) -> float | None:
    if not page.downloads:
        return page.lasts_s
    return median(one.ended - one.started for one in page.downloads)


def _history(page: FoundPage) -> PageDownloads:
    return PageDownloads(
        url=page.url,
        rate_per_s=page.rate_per_s,
        rate_from=page.rate_from,
        rate_shape=page.shape,
        lasts_s=page.lasts_s,
        weight=page.weight,
    )
