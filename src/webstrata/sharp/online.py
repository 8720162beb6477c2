"""What is known of a capture while it runs, plain: it goes to JSON and comes back.

Sharp captures of a site that is found as it is visited: what to visit next, and in which order to revisit.

Pure and deterministic: the caller says what was found and when it was visited, on its own clock, in seconds. The whole
state is one plain record (`record`), from which `resumed` goes on.

    scheduler = OnlineScheduler(slot_s=5.0)
    scheduler.discovered([seed], rates=[1e-5])
    while (page := scheduler.next_visit()) is not None:
        …                                          # download it, at most one request in slot_s
        scheduler.visited(page, start, end)
        scheduler.discovered(links, rates, found_on=page)
    for page in scheduler.plan_revisits():
        …
        scheduler.revisited(page, start, end, same=…)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec
import numpy as np
from numpy.typing import ArrayLike

from webstrata.errors import UsageError
from webstrata.sharp.frontier import Frontier, FrontierPlan, SiteSize
from webstrata.sharp.optimal import best_revisits
from webstrata.sharp.rates import Numbers, checked_rates, checked_weights
from webstrata.sharp.survival import Survival, believed


class PageRecord(msgspec.Struct):
    """One page of a capture; times are seconds on the caller's clock."""

    id: str
    rate: float
    """Changes per second."""
    weight: float = 1.0
    depth: int = 0
    """Links from a seed."""
    visit: tuple[float, float] | None = None
    revisit: tuple[float, float] | None = None
    same: bool | None = None
    """Unchanged between visit and revisit; none: not revisited yet."""
    shape: float | None = None
    """Of the Gamma belief about the rate; none: it is known for sure."""
    gone: bool = False
    """Given up: it could not be visited."""


class CaptureRecord(msgspec.Struct):
    """All that a scheduler knows."""

    slot_s: float
    pages: list[PageRecord] = msgspec.field(default_factory=list)
    count: int | None = None
    """Pages of the site, where that is known."""
    most: int | None = None
    """Pages that are captured at most."""
    share_middle: bool = True
    sizes: SiteSize = msgspec.field(default_factory=SiteSize)
    outlook: FrontierPlan = msgspec.field(default_factory=FrontierPlan)
    plan: list[str] | None = None
    """Revisits in their order."""


class OnlineScheduler:
    """Visits by least regret, revisits by the best order for the times that the visits really had.

    `count`: the number of pages, where it is known (a sitemap); else it is guessed from what visits find. `most`: pages
    beyond so many are not taken in. `share_middle`: the last visit is its own revisit, so its page is sharp for sure.
    """

    def __init__(
        self, slot_s: float = 1.0, *, count: int | None = None, most: int | None = None, share_middle: bool = True
    ) -> None:
        if not (np.isfinite(slot_s) and slot_s > 0):
            raise UsageError(f"slots of {slot_s} seconds: the time between two requests must be above 0.")
        self._state = CaptureRecord(slot_s, [], count, most, share_middle)
        self._rows: dict[str, int] = {}
        self._frontier = Frontier(self._state.outlook)

    @classmethod
    def resumed(cls, record: CaptureRecord) -> OnlineScheduler:
        """A scheduler that goes on where the record was taken."""
        one = cls(record.slot_s)
        one._state = state = _copy(record)
        one._rows = {page.id: row for row, page in enumerate(state.pages)}
        one._frontier = Frontier(_copy(record).outlook)
        rates = np.array([page.rate for page in state.pages]) * state.slot_s
        shapes, weights = _shapes(state.pages), np.array([page.weight for page in state.pages])
        one._frontier.restore(rates, shapes, weights, np.array([page.depth for page in state.pages], dtype=np.intp))
        for row, page in enumerate(state.pages):
            if page.visit or page.gone:
                one._frontier.remove(row)
        one._frontier.outlook = state.outlook
        return one

    def record(self) -> CaptureRecord:
        """All that is known, as a copy."""
        return _copy(self._state)

    # ── what happened ─────────────────────────────────────────────────────────────────────────────

    def discovered(
        self,
        ids: Sequence[str],
        rates: ArrayLike,
        weights: ArrayLike | None = None,
        *,
        shapes: Sequence[float | None] | None = None,
        found_on: str | None = None,
    ) -> list[str]:
        """Pages to be captured; those known already stay as they are. Returns the new ones, in their order.

        `shapes`: of the Gamma beliefs about the rates (none: the rate is sure); without them all rates are sure.
        `found_on` is the page that named them (none: seeds). Call it after every visit with all pages in scope that it
        names, even if it names none: how many are new tells how large the site is.
        """
        parent = None if found_on is None else self._page(found_on)
        new: list[str] = []
        if len(ids):
            given, weighed = checked_rates(rates), checked_weights(weights, len(ids))
            if given.size != len(ids):
                raise UsageError(f"{given.size} rates for {len(ids)} pages: give every page one.")
            firm = [None] * len(ids) if shapes is None else shapes
            depth = 0 if parent is None else parent.depth + 1
            for one, rate, weight, shape in zip(ids, given.tolist(), weighed.tolist(), firm, strict=True):
                if one not in self._rows and not self._full():
                    self._take_in(PageRecord(one, rate, weight, depth, shape=shape))
                    new.append(one)
        if parent is not None:
            self._state.sizes.learn(parent.depth, len(new))
        return new

    def visited(self, page: str, start: float, end: float) -> None:
        """The page was downloaded between these instants."""
        if not (np.isfinite(start) and np.isfinite(end) and start <= end):
            raise UsageError(f"a visit from {start} to {end}: it must end after it starts.")
        self._page(page).visit = (start, end)
        self._frontier.remove(self._rows[page])

    def gave_up(self, page: str) -> None:
        """The page cannot be had: it has no place in the plan any more."""
        self._page(page).gone = True
        self._frontier.remove(self._rows[page])

    def revisited(self, page: str, start: float, end: float, *, same: bool) -> None:
        """The page was downloaded again, and was the same as at its visit or not."""
        one = self._page(page)
        one.revisit, one.same = (start, end), same

    # ── what to do ────────────────────────────────────────────────────────────────────────────────

    def next_visit(self) -> str | None:
        """The page to visit now; none: all pages found are visited."""
        if not self._frontier.waiting().size:
            return None
        return self._state.pages[self._frontier.next(self.unknown())].id

    def plan_revisits(self, visit_times: Mapping[str, float] | None = None, slot_s: float | None = None) -> list[str]:
        """The order of the revisits, best for when the visits really were. `visit_times` (instants) and `slot_s` stand
        in for what was told, where they are given. The page shared by both sides is not in it, nor what was revisited
        already, never visited, or given up."""
        for one, at in (visit_times or {}).items():
            self.visited(one, at, at)
        pace = self._state.slot_s if slot_s is None else slot_s
        instant, last = self.instant, self._last()
        shared = last.id if last is not None and self._state.share_middle else None
        todo = [page for page in self._visited() if page.revisit is None and page.id != shared and not page.gone]
        self._state.plan = []
        if todo and instant is not None:
            heads = np.array([max(0.0, instant - page.visit[0]) for page in todo if page.visit])
            times = pace * (np.arange(len(todo)) + 1.0 + self._revisits())
            weights = np.array([page.weight for page in todo])
            self._state.plan = [todo[row].id for row in best_revisits(_survival(todo), heads, weights, times).order]
        return list(self._state.plan)

    # ── what to expect ────────────────────────────────────────────────────────────────────────────

    def unknown(self) -> int:
        """Pages that are expected to be found yet."""
        known = len(self._state.pages)
        if self._state.count is not None:
            return max(0, self._state.count - known)
        guess = self._state.sizes.unknown(self._frontier.depths(), known)
        return guess if self._state.most is None else max(0, min(guess, self._state.most - known))

    @property
    def instant(self) -> float | None:
        """The instant that all visits precede and all revisits follow; none before the first visit. It is the middle of
        the last download where both sides share it, else the end of the last visit."""
        last = self._last()
        if last is None or last.visit is None:
            return None
        return sum(last.visit) / 2 if self._state.share_middle else last.visit[1]

    def expected(self) -> float:
        """E of the sharp pages now: revisits made count by what they showed, others by their chance under the plan.
        Before there is one, visits are taken to end after one slot for every page found, and revisits to mirror them;
        pages not visited yet are left out."""
        spans = self._spans()
        certain = sum(page.weight for page in self._visited() if page.same)
        open_pages = [page for page in self._visited() if page.same is None and not page.gone]
        if not open_pages:
            return float(certain)
        lasted = np.array([spans[page.id] for page in open_pages])
        chances = _survival(open_pages).unchanged(np.arange(lasted.size), lasted)
        return float(certain + np.dot([page.weight for page in open_pages], chances))

    def _spans(self) -> dict[str, float]:
        """From visit to revisit, as far as can be told."""
        slot_s = self._state.slot_s
        left = self._frontier.waiting().size
        meeting = (self.instant or 0.0) + left * slot_s
        heads = {page.id: max(0.0, meeting - page.visit[0]) for page in self._visited() if page.visit}
        if self._state.plan is None or left:
            return {one: 2.0 * head for one, head in heads.items()}
        pending = [one for one in self._state.plan if self._page(one).revisit is None]
        tails = {one: slot_s * (place + 1 + self._revisits()) for place, one in enumerate(pending)}
        return {one: head + tails[one] if one in tails else 0.0 for one, head in heads.items()}

    # ── inside ────────────────────────────────────────────────────────────────────────────────────

    def _take_in(self, page: PageRecord) -> None:
        self._rows[page.id] = len(self._state.pages)
        self._state.pages.append(page)
        rate, shape = np.array([page.rate * self._state.slot_s]), _shapes([page])
        self._frontier.add(rate, shape, np.array([page.weight]), page.depth)

    def _page(self, one: str) -> PageRecord:
        if one not in self._rows:
            raise UsageError(f"page {one} is not known to this capture: tell that it was discovered first.")
        return self._state.pages[self._rows[one]]

    def _full(self) -> bool:
        return self._state.most is not None and len(self._state.pages) >= self._state.most

    def _visited(self) -> list[PageRecord]:
        return [page for page in self._state.pages if page.visit]

    def _revisits(self) -> int:
        return sum(1 for page in self._state.pages if page.revisit)

    def _last(self) -> PageRecord | None:
        return max(self._visited(), key=lambda page: page.visit or (0.0, 0.0), default=None)


def _shapes(pages: Sequence[PageRecord]) -> Numbers:
    return np.array([np.inf if page.shape is None else page.shape for page in pages])


def _survival(pages: Sequence[PageRecord]) -> Survival:
    return believed([page.rate for page in pages], _shapes(pages))


def _copy(record: CaptureRecord) -> CaptureRecord:
    return msgspec.convert(msgspec.to_builtins(record, str_keys=True), CaptureRecord, strict=False)
