"""The clock port."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Protocol

from webstrata.records import ClockReading


class Clock(Protocol):
    """The time that politeness, schedules and leases use. Socket and database time-outs always use real time."""

    def now(self) -> float:
        """Seconds since 1970-01-01 UTC. It changes by leaps only when `poll_step` is called."""
        ...

    def steady(self) -> float:
        """Seconds on a scale of its own, which never leaps: for durations."""
        ...

    def poll_step(self) -> float:
        """The seconds by which the system clock was set since the last call (negative: back); 0 if it was not.

        From now on `now` follows the system clock. Call it where all instants in memory can be moved by as much.
        """
        ...

    def reading(self) -> ClockReading | None:
        """The system time together with the time since the machine was started; None if this clock cannot be set."""
        ...

    async def sleep_until(self, at: float) -> None:
        """Return after the time from now until then has passed, whether or not the clock is set meanwhile."""
        ...

    def working(self) -> AbstractContextManager[None]:
        """Declare that real work (a socket, the disk, a thread) is in progress: a jumping clock does not advance."""
        ...
