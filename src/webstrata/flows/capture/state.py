"""The state of a capture, computed from its events in order and from nothing else."""

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
from webstrata.sharp.passes import uneven_mirror
from webstrata.sharp.proof.capture_outcome import CaptureOutcome, PageDownloads, capture_outcome
from webstrata.sharp.proof.certificate import Download
from webstrata.sharp.survival import Survival, survival_of_beliefs

_GONE = (404, 410)
_MAX_FILE_DEPTH = 5
"""The files of a page are followed through this number of style sheets, scripts, manifests and frames."""
_MAX_FRAME_DEPTH = 2
"""The files of a frame are captured up to this depth."""
_PACE_DOWNLOADS = 21
"""The pace is the median over this number of downloads."""


class CaptureState:
    """The pages with their downloads, the next requests, and the expected outcome."""

    def __init__(self, started: CaptureStarted) -> None:
        self.started = started
        self.pass_number = 0
        """0: visits, 1: revisits, 2 and above: further passes."""
        self.pages: dict[str, PageDownloads] = {}
        self.positions: list[Position] = []
        self.requisites: dict[str, bool | None] = {}
        """Images, style sheets, scripts, frames: whether the download succeeded; None if it was not requested yet."""
        self._depths: dict[str, int] = {}
        """For files that other files refer to: the number of files between the file and a page."""
        self.frames: set[str] = set()
        """Requisites that are shown in a frame."""
        self.appeared: list[str] = []
        """Pages that were first linked to after the visits had ended."""
        self.left_out = 0
        """The number of links in scope that look like crawler traps or exceed the maximum number of pages."""
        self.failures_in_a_row = 0
        self.plans: list[PassPlanned] = []
        self._starts: deque[float] = deque(maxlen=_PACE_DOWNLOADS)
        self._pending: deque[str] = deque()
        self._retries: deque[str] = deque()
        self._failed_once: set[str] = set()
        order = started.order
        self._scheduler = OnlineScheduler(
            started.slot_s,
            count=len(started.pages) if order.pages_known else None,
            max_pages=order.max_pages,
        )
        self._add_found(started.pages, None)
        if order.pages_known:
            self._pending.extend(self._best_visits() if order.schedule is None else order.schedule.visits)

    @classmethod
    def replay(cls, events: Iterable[Event]) -> CaptureState:
        """The state after these events of a journal."""
        remaining = iter(events)
        first = next(remaining, None)
        if not isinstance(first, CaptureStarted):
            raise UsageError("the journal does not start with a start event: it cannot be resumed. Start a new one.")
        state = cls(first)
        for event in remaining:
            state.apply(event)
        return state

    # ── events ──────────────────────────────────────────────────────────────────────────────────────────────

    def apply(self, event: Event) -> None:
        match event:
            case PageDownloaded():
                self._apply_page(event)
            case PassPlanned():
                self.pass_number = event.pass_number
                self.plans.append(event)
                self._pending, self._retries = deque(event.order), deque()
                self._failed_once.clear()
            case RequisiteDownloaded():
                self.requisites[event.url] = not event.why
                self.positions += event.positions
                for url in event.requisites:
                    if url not in self.requisites:
                        self.requisites[url] = None
                        self._depths[url] = self._depths.get(event.url, 0) + 1
                self.frames.update(event.frames)

    def _apply_page(self, event: PageDownloaded) -> None:
        self.positions += event.positions
        self.left_out += event.left_out
        for url in event.requisites:
            self.requisites.setdefault(url, None)
        self.frames.update(event.frames)
        self._remove_from_queue(event.url)
        download = event.download
        if download is not None and (self.pass_number > 0 or download.status not in _GONE):
            self._succeeded(event.url, download)
        else:
            self._failed(event)
        if self.pass_number == 0:
            self._add_found(event.found, event.url)
        else:
            self._add_appeared(event.found)

    def _succeeded(self, url: str, download: Download) -> None:
        page = self.pages[url]
        page.downloads.append(download)
        self._starts.append(download.started)
        page.why = ""
        self.failures_in_a_row = 0
        if self.pass_number == 0:
            self._scheduler.visited(url, download.started, download.ended)

    def _failed(self, event: PageDownloaded) -> None:
        status = event.download.status if event.download is not None else None
        self.pages[event.url].why = event.why or f"status {status}"
        if status is not None:
            self.failures_in_a_row = 0
        elif not event.permanent:
            self.failures_in_a_row += 1
        if self.pass_number == 0:
            self._scheduler.gave_up(event.url)
        if status is None and not event.permanent and event.url not in self._failed_once:
            self._failed_once.add(event.url)
            self._retries.append(event.url)

    def _remove_from_queue(self, url: str) -> None:
        for queue in (self._pending, self._retries):
            if queue and queue[0] == url:
                queue.popleft()
                return

    def _add_found(self, found: Iterable[FoundPage], found_on: str | None) -> None:
        pages = list(found)
        new = self._scheduler.discovered(
            [page.url for page in pages],
            [page.rate_per_s for page in pages],
            [page.weight for page in pages],
            shapes=[page.shape for page in pages],
            found_on=found_on,
        )
        accepted = set(new)
        for page in pages:
            if page.url in accepted:
                self.pages[page.url] = _without_downloads(page)
            else:
                self.left_out += page.url not in self.pages

    def _add_appeared(self, found: Iterable[FoundPage]) -> None:
        for page in found:
            if page.url not in self.pages and len(self.pages) < self.started.order.max_pages:
                self.pages[page.url] = _without_downloads(page)
                self.pages[page.url].why = "it was first linked to after the visits had ended"
                self.appeared.append(page.url)

    # ── next requests ───────────────────────────────────────────────────────────────────────────────────────

    def next_page(self) -> str | None:
        """The page to request now; None if the pass is complete. Failed pages are requested again at its end."""
        if self._pending:
            return self._pending[0]
        if self.pass_number == 0 and (page := self._scheduler.next_visit()) is not None:
            return page
        return self._retries[0] if self._retries else None

    def next_requisite(self) -> str | None:
        requested = sum(succeeded is not None for succeeded in self.requisites.values())
        if requested >= self.started.order.max_requisites:
            return None
        return next(
            (url for url, succeeded in self.requisites.items() if succeeded is None and not self._is_page(url)), None
        )

    def _is_page(self, url: str) -> bool:
        """Whether this requisite (a frame) is captured as a page."""
        return url in self.pages and bool(self.pages[url].downloads)

    def captures_files_of(self, requisite: str, *, is_page: bool) -> bool:
        """Whether the files to which this requisite refers are captured: they are followed to a fixed depth."""
        return self._depths.get(requisite, 0) < (_MAX_FRAME_DEPTH if is_page else _MAX_FILE_DEPTH)

    def _best_visits(self) -> list[str]:
        """The visits of the best schedule of all pages, from the outermost slot inwards."""
        pages = list(self.pages.values())
        if not pages:
            return []
        plan = uneven_mirror(survival_of(pages), [page.weight for page in pages], self.slots_s(pages))
        return [pages[row].url for row in plan.order[::-1]]

    # ── progress and outcome ────────────────────────────────────────────────────────────────────────────────

    def visited(self) -> list[PageDownloads]:
        return [page for page in self.pages.values() if page.downloads]

    def pace_s(self) -> float:
        """The time between two downloads, from the latest ones; at first, as the host requires."""
        gaps = [after - before for before, after in pairwise(self._starts)]
        return max(median(gaps), 1e-3) if gaps else self.started.slot_s

    def slots_s(self, pages: Sequence[PageDownloads]) -> list[float]:
        """For each page, the time from its download to the next one: the pace, or longer for a slow page."""
        pace = self.pace_s()
        return [max(pace, (_duration_s(page) or 0.0) * (1.0 + self.started.rest_factor)) for page in pages]

    def remaining_requests(self) -> int:
        """The expected number of requests left in this pass."""
        if self.pass_number > 0 or self._pending:
            return len(self._pending) + len(self._retries)
        waiting = sum(not page.downloads and not page.why for page in self.pages.values())
        return waiting + self._scheduler.unknown() + len(self._retries)

    def expected(self) -> float:
        """The expected (weighted) number of sharp pages."""
        if self.pass_number == 0:
            return self._scheduler.expected()
        return sum(self._chance(page, self.plans[-1]) * page.weight for page in self.visited())

    def _chance(self, page: PageDownloads, plan: PassPlanned) -> float:
        """The probability that a page is sharp as of the instant of a plan; 0 or 1 if it is known."""
        after = [download for download in page.downloads if download.started >= plan.instant]
        before = [download for download in page.downloads if download.ended <= plan.instant]
        if before and after:
            return float((before[-1].content, before[-1].status) == (after[0].content, after[0].status))
        return plan.chances.get(page.url, 0.0)

    def outcome(self) -> CaptureOutcome:
        """The outcome of the downloads, with the chances from the plan whose instant is nearest."""
        for page in self.pages.values():
            if not page.downloads and not page.why:
                page.why = "there was no time to visit it"
        outcome = capture_outcome(list(self.pages.values()))
        if outcome.instant is not None and self.plans:
            middle = (outcome.instant.start + outcome.instant.end) / 2
            nearest = min(self.plans, key=lambda plan: math.fabs(plan.instant - middle))
            for page in self.pages.values():
                page.expected = nearest.chances.get(page.url, 0.0)
            outcome = capture_outcome(list(self.pages.values()))
        return outcome


def survival_of(pages: Sequence[PageDownloads]) -> Survival:
    """The survival of these pages under the beliefs about their rates, per second."""
    shapes = [math.inf if page.rate_shape is None else page.rate_shape for page in pages]
    return survival_of_beliefs([page.rate_per_s for page in pages], shapes)


def _duration_s(page: PageDownloads) -> float | None:
    if not page.downloads:
        return page.duration_s
    return median(download.ended - download.started for download in page.downloads)


def _without_downloads(page: FoundPage) -> PageDownloads:
    return PageDownloads(
        url=page.url,
        rate_per_s=page.rate_per_s,
        rate_from=page.rate_from,
        rate_shape=page.shape,
        duration_s=page.duration_s,
        weight=page.weight,
    )
