"""Measures how much of a round's time the loop itself limited, for the forecasts of `plan`.

The event loop limits a round while it is busy or waits for a processor. Linux counts both for each thread; elsewhere
only the processor time is known. Finished visits that wait for a free batch show that parsing, archive or database
limit it.
"""

from __future__ import annotations

import time
from pathlib import Path

from webstrata.records import RoundTiming

LEAST_VISITS = 100
"""Smaller rounds say little about the pace of the loop."""
_SCHEDULER = Path("/proc/thread-self/schedstat")
"""Nanoseconds on a processor and waiting for one, and the number of turns, of the thread that reads it."""


class RoundTimer:
    """Started with a round, in the thread of the event loop. The times are real ones, whatever clock the loop has."""

    def __init__(self) -> None:
        self._started_at = time.monotonic()
        self._busy_s = _busy_s()
        self._full_s = 0.0
        self._full_since: tuple[float, float] | None = None

    def batch_is_full(self) -> None:
        """From now on finished visits wait."""
        if self._full_since is None:
            self._full_since = time.monotonic(), _busy_s()

    def batch_has_room(self) -> None:
        """Finished visits no longer wait. Until now the loop was limited, whether it was busy or not."""
        if self._full_since is not None:
            at, busy_s = self._full_since
            self._full_s += (time.monotonic() - at) - (_busy_s() - busy_s)
            self._full_since = None

    def timing(self, visits: int, at: float) -> RoundTiming:
        """At the end of the round, `at` by the clock of the loop."""
        self.batch_has_room()
        seconds = time.monotonic() - self._started_at
        limited_s = min(_busy_s() - self._busy_s + self._full_s, seconds)
        return RoundTiming(at=at, visits=visits, seconds=seconds, limited_s=max(limited_s, 0.0))


def _busy_s() -> float:
    """Seconds in which this thread has run or waited for a processor."""
    try:
        running, waiting, _ = _SCHEDULER.read_text().split()
    except (OSError, ValueError):
        return time.thread_time()
    return (int(running) + int(waiting)) / 1e9
