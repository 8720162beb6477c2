"""The store's role for totals and integrity checks: `status` and `check`."""

from __future__ import annotations

from typing import Protocol

from webstrata.records import ClockReading, Contradiction, EngineCheck, HostDayTotals, StoreTotals, TimesMoved


class StoreMaintenance(Protocol):
    """Totals for display, and checks of the database."""

    async def totals(self, now: float) -> StoreTotals: ...

    async def host_days(self, *, since_day: int = 0, host: str | None = None) -> list[HostDayTotals]: ...

    async def days(self, *, since_day: int = 0) -> list[HostDayTotals]:
        """The totals of all hosts, by day (their `host` is empty)."""
        ...

    async def tag_counts(self) -> dict[str, int]:
        """The number of pages with each tag."""
        ...

    async def size_bytes(self) -> int:
        """The size on disk of the database, or of the tables of the home on a server that several homes use."""
        ...

    async def homes(self) -> list[str]:
        """The names of the archivers whose homes use these tables: one, unless several share them."""
        ...

    async def check_engine(self) -> EngineCheck:
        """The result of the database engine's own integrity check."""
        ...

    async def schema_faults(self) -> list[str]:
        """Tables, indexes and triggers that differ from those of this version."""
        ...

    async def changed_rows(self) -> EngineCheck:
        """Rows whose values do not have their checksum."""
        ...

    async def log_contradictions(self) -> list[Contradiction]:
        """Pages that contradict the log of their visits; every row of the log is read."""
        ...

    async def contradictions(self) -> list[Contradiction]:
        """Rows that contradict each other, in one consistent snapshot."""
        ...

    async def recount(self) -> None:
        """Rebuild counters and the queue from the rows."""
        ...

    async def follow_clock(self, reading: ClockReading, longest_gap_s: float, longest_pause_s: float) -> TimesMoved:
        """Compare a reading of the clock with the last one on this machine. If the system clock was set in between,
        move the times of schedules, leases, politeness and budgets with it: what remains of them stays the same.

        Times that are still in the future and cannot be (the clock was ahead before the machine was started again) are
        corrected: visits, and waits for hosts beyond the longest gap and the longest pause that politeness knows. The
        visit log keeps its times. If several processes notice the same step, the times are moved once.
        """
        ...
