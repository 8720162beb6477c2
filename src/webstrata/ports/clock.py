"""The clock port."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Protocol


class Clock(Protocol):
    """The time that politeness, schedules and leases use. Socket and database time-outs always use real time."""

    def now(self) -> float:
        """Seconds since 1970-01-01 UTC."""
        ...

    async def sleep_until(self, at: float) -> None: ...

    def working(self) -> AbstractContextManager[None]:
        """Declare that real work (a socket, the disk, a thread) is in progress: a jumping clock does not advance."""
        ...
