"""The state of a capture, computed from its events in order and from nothing else."""

from __future__ import annotations

import math
from bisect import insort
from collections import deque
from collections.abc import Iterable, Sequence
from itertools import pairwise
from statistics import median

from msgspec.structs import replace

from webstrata.errors import UsageError
from webstrata.flows.capture.events import (
    CaptureEnded,
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
from webstrata.sharp.proof.capture_outcome import CaptureOutcome, PageHistory, capture_outcome
from webstrata.sharp.proof.certificate import ObservedUrl
from webstrata.sharp.proof.page_observation import PageObservation
from webstrata.sharp.survival import Survival, survival_of_beliefs

_MAX_FILE_DEPTH = 5
"""The files of a page are followed through this number of style sheets, scripts, manifests and frames."""
_MAX_FRAME_DEPTH = 2
"""The files of a frame are captured up to this depth."""
_LOOP = "redirect loop at "
_PACE_DOWNLOADS = 21
"""The pace is the median over this number of downloads."""


class CaptureState:
    """The pages with their observations, the next requests, and the expected outcome."""

    def __init__(self, started: CaptureStarted) -> None:
        self.started = started
        self.pass_number = 0
        """0: visits, 1: revisits, 2 and above: further passes."""
        self.pages: dict[str, PageHistory] = {}
        self.observed: dict[str, list[PageObservation]] = {}
        """All observations of each URL, in the order of their start."""
        self.positions: list[Position] = []
        self.requisites: dict[str, bool | None] = {}
        """Images, style sheets, scripts, frames: whether the download succeeded; None if it was not requested yet."""
        self.files: dict[str, dict[str, None]] = {}
        """Page, style sheet or other file -> the files to which it refers, in order."""
        self._depths: dict[str, int] = {}
        """For files that other files refer to: the number of files between the file and a page."""
        self.frames: set[str] = set()
        """Requisites that are shown in a frame."""
        self.appeared: list[str] = []
        """Pages that were first linked to after the visits had ended."""
        self.left_out = 0
        """The number of links in scope that look like crawler traps or exceed the maximum number of pages."""
        self.last_failure = ""
        self.failures_in_a_row = 0
        self.plans: list[PassPlanned] = []
        self._starts: deque[float] = deque(maxlen=_PACE_DOWNLOADS)
        self._pending: deque[str] = deque()
        self._retries: deque[str] = deque()
        self._failed_once: set[str] = set()
        self._requested: set[str] = set()
        self._refused: set[str] = set()
        """Pages that robots.txt disallows."""
        self._failing: set[str] = set()
        """Pages whose last request before this pass brought no content, as far as they were not requested in it."""
        self._only_failing = False
        """This pass is made for these pages alone."""
        order = started.order
        self._scheduler = OnlineScheduler(
            started.slot_s,
            count=len(started.pages) if order.pages_known else None,
            max_pages=order.max_pages,
        )
        self._observe(started.observations)
        self.positions += started.positions
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
                self._failing, self._only_failing = set(event.failing), event.only_failing
            case CaptureStarted() | CaptureEnded():
                pass
            case RequisiteDownloaded():
                self.requisites[event.url] = not event.why
                self.positions += event.positions
                self._observe(event.observations)
                self.files.setdefault(event.url, {}).update(dict.fromkeys(event.requisites))
                for url in event.requisites:
                    if url not in self.requisites:
                        self.requisites[url] = None
                        self._depths[url] = self._depths.get(event.url, 0) + 1
                self.frames.update(event.frames)

    def _observe(self, entries: Iterable[ObservedUrl]) -> None:
        for entry in entries:
            for seen in entry.observations:
                insort(self.observed.setdefault(entry.url, []), seen, key=lambda one: (one.started, one.ended))
                if seen.kind == "redirect":
                    self._mark_loop(entry.url)

    def _mark_loop(self, url: str) -> None:
        """Redirects that lead back to where they began are errors: nobody can see a content."""
        loop: list[str] = []
        while url not in loop:
            loop.append(url)
            seen = self.observed.get(url)
            target = _redirect_target(seen[-1]) if seen else ""
            if not target:
                return
            url = target
        for member in loop[loop.index(url) :]:
            last = self.observed[member][-1]
            if last.kind == "redirect":
                self.observed[member][-1] = replace(last, kind="error", target="", why=f"{_LOOP}{last.target}")

    def _apply_page(self, event: PageDownloaded) -> None:
        self.positions += event.positions
        self.left_out += event.left_out
        self._observe(event.observations)
        self._requested.add(event.url)
        self.files.setdefault(event.url, {}).update(dict.fromkeys(event.requisites))
        for url in event.requisites:
            self.requisites.setdefault(url, None)
        self._note_loaded(event)
        self.frames.update(event.frames)
        self.pages[event.url].rules = event.rules
        self._remove_from_queue(event.url)
        own = [seen for entry in event.observations if entry.url == event.url for seen in entry.observations]
        if own and own[-1].kind in ("content", "redirect"):
            self._succeeded(event.url, own[-1])
        else:
            self._failed(event, own[-1] if own else None)
        if self.pass_number == 0:
            self._add_found(event.found, event.url)
        else:
            self._add_appeared(event.found)

    def _note_loaded(self, event: PageDownloaded) -> None:
        """Files that a browser loaded with the page are captured already."""
        if self.started.order.render:
            for entry in event.observations:
                if entry.url in self.requisites:
                    shown = entry.observations[-1].kind in ("content", "redirect")
                    self.requisites[entry.url] = shown or bool(self.requisites[entry.url])

    def _succeeded(self, url: str, seen: PageObservation) -> None:
        self._starts.append(seen.started)
        if url in self._failing:
            self._failing.discard(url)
            self._only_failing = False
        self.failures_in_a_row = 0
        if self.pass_number == 0:
            self._scheduler.visited(url, seen.started, seen.ended)

    def _failed(self, event: PageDownloaded, seen: PageObservation | None) -> None:
        self.last_failure = event.why
        if event.why.startswith("robots"):
            self._refused.add(event.url)
        is_absent = seen is not None and seen.kind == "absent"
        is_failing = event.url in self._failing
        if is_absent:
            self.failures_in_a_row = 0
        elif not event.permanent and not is_failing:
            self.failures_in_a_row += 1
        if self.pass_number == 0:
            self._scheduler.gave_up(event.url)
        if is_failing:
            self._leave_out(event.url)
        elif not is_absent and not event.permanent and event.url not in self._failed_once:
            self._failed_once.add(event.url)
            self._retries.append(event.url)

    def _leave_out(self, url: str) -> None:
        """In a further pass, a page that still has no content is not requested again."""
        self._pending = deque(page for page in self._pending if page != url)
        self._failing.discard(url)
        if self._only_failing and not self._failing:
            self._pending.clear()

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
                self.pages[page.url] = self._history(page)
            else:
                self.left_out += page.url not in self.pages

    def _add_appeared(self, found: Iterable[FoundPage]) -> None:
        for page in found:
            if page.url not in self.pages and len(self.pages) < self.started.order.max_pages:
                self.pages[page.url] = self._history(page)
                self.appeared.append(page.url)

    def _history(self, page: FoundPage) -> PageHistory:
        return PageHistory(
            url=page.url,
            rate_per_s=page.rate_per_s,
            rate_from=page.rate_from,
            rate_shape=page.shape,
            duration_s=page.duration_s,
            weight=page.weight,
            observations=self.observed.setdefault(page.url, []),
        )

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
        return url in self.pages and bool(self.pages[url].contents)

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

    def visited(self) -> list[PageHistory]:
        """The pages with a content or a redirect."""
        return [page for page in self.pages.values() if page.contents]

    def is_refused(self, url: str) -> bool:
        """Whether robots.txt disallows this page."""
        return url in self._refused

    def last_content(self, url: str) -> PageObservation | None:
        """The page's last observation, if it shows a content."""
        seen = self.observed.get(url)
        return seen[-1] if seen and seen[-1].kind == "content" else None

    def not_visited(self) -> int:
        """The number of pages that were found and never requested."""
        later = set(self.appeared)
        return sum(url not in self._requested and url not in later for url in self.pages)

    def not_revisited(self) -> int:
        """The number of visited pages that are still to be revisited in this pass."""
        if not self.started.order.sharp:
            return 0
        return len(self.visited()) if self.pass_number == 0 else len({*self._pending, *self._retries})

    def not_discovered(self) -> int | None:
        """The estimated number of pages that were not found because pages were not visited; None if all are known."""
        if self.started.order.pages_known:
            return None
        return self._scheduler.unknown() if self.not_visited() else 0

    def pace_s(self) -> float:
        """The time between two downloads, from the latest ones; at first, as the host requires."""
        gaps = [after - before for before, after in pairwise(self._starts)]
        return max(median(gaps), 1e-3) if gaps else self.started.slot_s

    def slots_s(self, pages: Sequence[PageHistory]) -> list[float]:
        """For each page, the time from its download to the next one: the pace, or longer for a slow page."""
        pace = self.pace_s()
        return [max(pace, (_duration_s(page) or 0.0) * (1.0 + self.started.rest_factor)) for page in pages]

    def remaining_requests(self) -> int:
        """The expected number of requests left in this pass."""
        if self.pass_number > 0 or self._pending:
            return len(self._pending) + len(self._retries)
        return self.not_visited() + self._scheduler.unknown() + len(self._retries)

    def expected(self) -> float:
        """The expected (weighted) number of sharp pages."""
        if self.pass_number == 0:
            return self._scheduler.expected()
        return sum(self._chance(page, self.plans[-1]) * page.weight for page in self.visited())

    def _chance(self, page: PageHistory, plan: PassPlanned) -> float:
        """The probability that a page is sharp as of the instant of a plan; 0 or 1 if it is known."""
        layer = self.started.order.layer
        after = [seen for seen in page.observations if seen.started >= plan.instant]
        before = [seen for seen in page.observations if seen.ended <= plan.instant]
        if before and after:
            key = before[-1].key(layer)
            return float(key is not None and key == after[0].key(layer))
        return plan.chances.get(page.url, 0.0)

    def outcome(self) -> CaptureOutcome:
        """The outcome of the observations; the pages get the chances from the plan whose instant is nearest."""
        pages = list(self.pages.values())
        outcome = capture_outcome(pages, self.started.order.layer)
        if outcome.instant is not None and self.plans:
            middle = (outcome.instant.start + outcome.instant.end) / 2
            nearest = min(self.plans, key=lambda plan: math.fabs(plan.instant - middle))
            for page in pages:
                page.expected = nearest.chances.get(page.url, 0.0)
        return outcome


def survival_of(pages: Sequence[PageHistory]) -> Survival:
    """The survival of these pages under the beliefs about their rates, per second."""
    shapes = [math.inf if page.rate_shape is None else page.rate_shape for page in pages]
    return survival_of_beliefs([page.rate_per_s for page in pages], shapes)


def _duration_s(page: PageHistory) -> float | None:
    contents = page.contents
    if not contents:
        return page.duration_s
    return median(seen.ended - seen.started for seen in contents)


def _redirect_target(seen: PageObservation) -> str:
    """Where a redirect leads, also if it is known to be part of a loop; empty for anything else."""
    return seen.target or (seen.why.removeprefix(_LOOP) if seen.why.startswith(_LOOP) else "")
