"""`OwnFaults`: faults of this machine, and how long the loop waits after them.

No name server, no file descriptor, no space for the archive, no database: none of them says anything about a host or a
page. They are logged once, shown by `status`, and the waits between attempts double.
"""

from __future__ import annotations

import logging
from collections.abc import Callable

log = logging.getLogger("webstrata.crawl")

FIRST_WAIT_S = 5.0
MAX_WAIT_S = 300.0
_LOG_AGAIN_S = 3600.0
_OVER_S = 60.0
"""A fault is over if visits were committed and it did not occur for this time."""


class OwnFaults:
    """Counts the faults since the last committed visit. `show` stores the present fault for other processes."""

    def __init__(self, show: Callable[[str, float], None] = lambda what, at: None) -> None:
        """`show` receives the fault, and an empty text when it is over, with the time."""
        self._show = show
        self._what = ""
        self._count = 0
        self._counted_at = -float("inf")
        self._reported_at = -float("inf")
        self._logged_at = -float("inf")

    def report(self, what: str, at: float) -> float:
        """A fault at a time of the clock; returns the seconds to wait before the next attempt."""
        self._reported_at = at
        wait_s = self._wait_s()
        if at >= self._counted_at + wait_s:  # visits that fail together are one fault
            self._count += 1
            self._counted_at = at
            wait_s = self._wait_s()
        if what != self._what or at >= self._logged_at + _LOG_AGAIN_S:
            log.error("a fault of this machine, not of a host: %s. Webstrata tries again.", what.rstrip("."))
            self._what, self._logged_at = what, at
        self._show(what, at)
        return wait_s

    def committed(self, at: float) -> None:
        """A visit was committed."""
        if self._what and at >= self._reported_at + _OVER_S:
            log.warning("the fault of this machine is over: %s", self._what.rstrip("."))
            self._show("", at)
            self._what, self._count, self._counted_at = "", 0, -float("inf")

    def _wait_s(self) -> float:
        return min(FIRST_WAIT_S * 2.0 ** max(self._count - 1, 0), MAX_WAIT_S)
