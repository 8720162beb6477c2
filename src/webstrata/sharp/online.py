"""Sharp captures of a site that is found as it is visited: what to visit next, and in which order to revisit.

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

from collections import Counter
from collections.abc import Mapping, Sequence

import msgspec
import numpy as np

from webstrata.errors import UsageError
from webstrata.sharp.optimal import best_revisits
from webstrata.sharp.rates import checked_rates, checked_weights
from webstrata.sharp.regret import TIE, Split, choose, regrets, with_unknown
from webstrata.sharp.site_size import SiteSize


class PageRecord(msgspec.Struct):
    """One page of a capture."""

    id: str
    rate: float
    """Changes per second."""
    weight: float = 1.0
    depth: int = 0
    visit: tuple[float, float] | None = None
    revisit: tuple[float, float] | None = None
    same: bool | None = None
    """Unchanged between visit and revisit; none: not revisited yet."""
    gone: bool = False
    """Given up: it could not be visited."""


class CaptureRecord(msgspec.Struct):
    """All that a scheduler knows, plain: goes to JSON and comes back."""

    slot_s: float
    pages: list[PageRecord]
    count: int | None = None
    most: int | None = None
    share_middle: bool = True
    sizes: SiteSize = msgspec.field(default_factory=SiteSize)
    plan: list[str] | None = None


class OnlineScheduler:
    """Visits by least regret, revisits by the best order for the times that the visits really had.

    `count`: the number of pages, where it is known (a sitemap); else it is guessed from what visits find, and `most` is
    its limit. `share_middle`: the last visit serves as its own revisit, so its page is sharp for sure.
    """

    def __init__(
        self, slot_s: float = 1.0, *, count: int | None = None, most: int | None = None, share_middle: bool = True
    ) -> None:
        if not (np.isfinite(slot_s) and slot_s > 0):
            raise UsageError(f"slots of {slot_s} seconds: the time between two requests must be above 0.")
        self._state = CaptureRecord(slot_s, [], count, most, share_middle)
        self._rows: dict[str, int] = {}
        self._split = Split()

    @classmethod
    def resumed(cls, record: CaptureRecord) -> OnlineScheduler:
        """A scheduler that goes on where the record was taken."""
        one = cls(record.slot_s, count=record.count, most=record.most, share_middle=record.share_middle)
        one._state = msgspec.convert(msgspec.to_builtins(record), CaptureRecord)
        one._rows = {page.id: row for row, page in enumerate(one._state.pages)}
        return one

    def record(self) -> CaptureRecord:
        """All that is known, as a copy."""
        return msgspec.convert(msgspec.to_builtins(self._state), CaptureRecord)

    # ── what happened ─────────────────────────────────────────────────────────────────────────────

    def discovered(
        self,
        ids: Sequence[str],
        rates: Sequence[float],
        weights: Sequence[float] | None = None,
        *,
        found_on: str | None = None,
    ) -> list[str]:
        """Pages to be captured; those known already are left as they are. Returns the new ones, in their order.

        `found_on` is the page that named them (none: seeds). Call it after every visit, with no ids where none are
        new: that pages lead nowhere tells how large the site is.
        """
        parent = None if found_on is None else self._page(found_on)
        new: list[str] = []
        if len(ids):
            columns = checked_rates(rates), checked_weights(weights, len(ids))
            if columns[0].size != len(ids):
                raise UsageError(f"{columns[0].size} rates for {len(ids)} pages: give every page one.")
            for one, rate, weight in zip(ids, *columns, strict=True):
                if one not in self._rows and not self._full():
                    self._rows[one] = len(self._state.pages)
                    depth = 0 if parent is None else parent.depth + 1
                    self._state.pages.append(PageRecord(one, float(rate), float(weight), depth))
                    new.append(one)
        if parent is not None:
            self._state.sizes.learn(parent.depth, len(new))
        return new

    def visited(self, page: str, start: float, end: float) -> None:
        """The page was downloaded between these instants."""
        if not (np.isfinite(start) and np.isfinite(end) and start <= end):
            raise UsageError(f"a visit from {start} to {end}: it must end after it starts.")
        self._page(page).visit = (start, end)

    def gave_up(self, page: str) -> None:
        """The page cannot be had: it has no place in the plan any more."""
        self._page(page).gone = True

    def revisited(self, page: str, start: float, end: float, *, same: bool) -> None:
        one = self._page(page)
        one.revisit, one.same = (start, end), same

    # ── what to do ────────────────────────────────────────────────────────────────────────────────

    def next_visit(self) -> str | None:
        """The page to visit now; none: all pages found are visited."""
        waiting = self._waiting()
        if not waiting:
            return None
        unknown = self.unknown()
        slot_s = self._state.slot_s
        rates = np.array([page.rate for page in waiting]) * slot_s
        weights = np.array([page.weight for page in waiting])
        seen = np.array([page.rate for page in self._state.pages]) * slot_s
        everyone = with_unknown(rates, seen, unknown)
        mean = float(np.mean([page.weight for page in self._state.pages]))
        weights_of_all = np.concatenate([weights, np.full(everyone.size - rates.size, mean)])
        lost = regrets(everyone, weights_of_all, self._split)[: rates.size]
        depths = np.array([page.depth for page in waiting], dtype=np.intp)
        return waiting[choose(lost, depths, rates, TIE * mean if unknown else 0.0)].id

    def plan_revisits(self, visit_times: Mapping[str, float] | None = None, slot_s: float | None = None) -> list[str]:
        """The order of the revisits, best for when the visits really were. `visit_times` (instants) and `slot_s` stand
        in for what was told, where they are given. The page shared by both sides is not in it, nor what is revisited
        already or was never visited."""
        pace = self._state.slot_s if slot_s is None else slot_s
        instant = self._middle(visit_times)
        shared = self._shared(visit_times)
        todo = [page for page in self._state.pages if page.visit and not page.revisit and page.id != shared]
        if not todo or instant is None:
            self._state.plan = []
            return []
        heads = np.array([max(0.0, instant - _start(page, visit_times)) for page in todo])
        done = sum(1 for page in self._state.pages if page.revisit)
        times = pace * (np.arange(len(todo)) + 1.0 + done)
        rates = np.array([page.rate for page in todo])
        plan = best_revisits(rates, heads, np.array([page.weight for page in todo]), times)
        self._state.plan = [todo[row].id for row in plan.order]
        return list(self._state.plan)

    # ── what to expect ────────────────────────────────────────────────────────────────────────────

    def unknown(self) -> int:
        """Pages that are expected to be found yet."""
        known = len(self._state.pages)
        if self._state.count is not None:
            return max(0, self._state.count - known)
        waiting = Counter(page.depth for page in self._waiting())
        guess = self._state.sizes.unknown(dict(waiting))
        return guess if self._state.most is None else max(0, min(guess, self._state.most - known))

    @property
    def instant(self) -> float | None:
        """The instant that all visits precede and all revisits follow; none before the first visit.

        It is the middle of the last download where both sides share it, else the end of the last visit.
        """
        return self._middle(None)

    def expected(self) -> float:
        """E of the sharp pages now: revisits made count by what they showed, others by the chance that they have under
        the plan (before there is one: revisits in mirror order, unvisited and unknown pages left out)."""
        instant = self.instant
        if instant is None:
            return 0.0
        pages = [page for page in self._state.pages if page.visit]
        certain = sum(page.weight for page in pages if page.same)
        left = len(self._waiting())
        meeting = instant + left * self._state.slot_s
        spans = self._planned_spans(meeting)
        chances = (page.weight * np.exp(-page.rate * spans[page.id]) for page in pages if page.same is None)
        return float(certain + sum(chances))

    def _planned_spans(self, meeting: float) -> dict[str, float]:
        slot_s = self._state.slot_s
        heads = {page.id: meeting - page.visit[0] for page in self._state.pages if page.visit}
        if self._state.plan is None or self._waiting():
            return {one: 2.0 * head for one, head in heads.items()}
        done = sum(1 for page in self._state.pages if page.revisit)
        pending = [one for one in self._state.plan if self._page(one).revisit is None]
        tails = {one: slot_s * (place + 1 + done) for place, one in enumerate(pending)}
        return {one: (head + tails[one]) if one in tails else 0.0 for one, head in heads.items()}

    # ── inside ────────────────────────────────────────────────────────────────────────────────────

    def _waiting(self) -> list[PageRecord]:
        return [page for page in self._state.pages if page.visit is None and not page.gone]

    def _page(self, one: str) -> PageRecord:
        if one not in self._rows:
            raise UsageError(f"page {one} is not known to this capture: tell that it was discovered first.")
        return self._state.pages[self._rows[one]]

    def _full(self) -> bool:
        return self._state.most is not None and len(self._state.pages) >= self._state.most

    def _last(self, visit_times: Mapping[str, float] | None) -> PageRecord | None:
        visited = [page for page in self._state.pages if page.visit]
        return max(visited, key=lambda page: _start(page, visit_times)) if visited else None

    def _shared(self, visit_times: Mapping[str, float] | None) -> str | None:
        last = self._last(visit_times)
        return last.id if last is not None and self._state.share_middle else None

    def _middle(self, visit_times: Mapping[str, float] | None) -> float | None:
        last = self._last(visit_times)
        if last is None or last.visit is None:
            return None
        start, end = last.visit
        if visit_times is not None and last.id in visit_times:
            start, end = visit_times[last.id], visit_times[last.id] + end - start
        return (start + end) / 2 if self._state.share_middle else end


def _start(page: PageRecord, visit_times: Mapping[str, float] | None) -> float:
    assert page.visit is not None
    return page.visit[0] if visit_times is None else visit_times.get(page.id, page.visit[0])
