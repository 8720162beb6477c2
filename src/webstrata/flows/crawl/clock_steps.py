"""`ClockSteps`: what a loop does when the system clock was set: by its user, a time service, or between two runs.

Instants in the store are moved by the store, instants in memory by the `listeners`, all by the same seconds. Schedules,
leases, politeness and budgets then go on as if nothing had happened (docs/decisions/0058-clock-steps.md).
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable

from msgspec.structs import replace

from webstrata.clock import DAY_S, span
from webstrata.ports import Clock, Store
from webstrata.records import Page

log = logging.getLogger("webstrata.crawl")

REFRESH_S = 3600.0
"""How often the reading of the clock in the store is renewed, so that a step between two runs is recognised exactly."""
RECHECK_S = 300.0
"""After a step the store is corrected a second time: other processes may notice the step later than this one."""


class ClockSteps:
    """Follows the system clock. A clock that nobody can set never has a step."""

    def __init__(
        self, *, clock: Clock, store: Store, longest_gap_s: float = 300.0, longest_pause_s: float = DAY_S
    ) -> None:
        """The longest gap between two requests to a host, and the longest pause after its refusals: a stored time
        further ahead is of a clock that was ahead."""
        self._clock = clock
        self._store = store
        self._longest_gap_s = longest_gap_s
        self._longest_pause_s = longest_pause_s
        self._next_at = -float("inf")
        self.listeners: list[Callable[[float], object]] = []
        """Called with the seconds of a step, before anyone reads the time again: they move the instants in memory."""
        self.lock = asyncio.Lock()
        """Held while a step is followed. Whoever commits holds it, too: a batch has times of one setting."""

    async def check(self) -> float:
        """Follow the system clock if it was set; returns the seconds of the step, 0 without one.

        Call it before stored politeness is read, and then between claims. It costs two readings of the clock; the store
        is asked only after a step and once an hour.
        """
        async with self.lock:
            return await self._check()

    async def _check(self) -> float:
        step_s = self._clock.poll_step()
        if step_s:
            for listener in self.listeners:  # no await between `poll_step` and this: others would see mixed times
                listener(step_s)
            log.warning("%s Schedules and waits go on as before.", _said(step_s))
        at = self._clock.steady()
        reading = self._clock.reading() if step_s or at >= self._next_at else None
        if reading is None:
            return 0.0
        self._next_at = at  # if the store fails, the next call asks it again
        moved = await self._store.maintenance.follow_clock(reading, self._longest_gap_s, self._longest_pause_s)
        self._next_at = at + (RECHECK_S if step_s else REFRESH_S)
        if moved.by_s and not step_s:
            log.warning("%s Schedules are moved with it now.", _said(moved.by_s))
        if moved.ahead_pages and not step_s:
            log.warning(
                "the last visits of %d pages are in the future: the clock of this machine was ahead. Their next visits "
                "are planned as if the last ones had been made now; the log keeps the times as they were recorded.",
                moved.ahead_pages,
            )
        return step_s


def moved(page: Page, seconds: float) -> Page:
    """A page that was read before the clock was set by so much, as the store has it now."""
    return replace(
        page,
        added_at=page.added_at + seconds,
        next_at=_moved(page.next_at, seconds),
        last_visit_at=_moved(page.last_visit_at, seconds),
        last_seen_at=_moved(page.last_seen_at, seconds),
    )


def _moved(at: float | None, seconds: float) -> float | None:
    return None if at is None else at + seconds


def _said(step_s: float) -> str:
    return f"the system clock was set {'forward' if step_s > 0 else 'back'} by {span(abs(step_s))}."
