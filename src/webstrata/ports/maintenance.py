"""The store's role for totals and integrity checks: `status` and `check`."""

from __future__ import annotations

from typing import Protocol

from webstrata.records import Contradiction, EngineCheck, HostDayTotals, StoreTotals


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
        """The size of the database on disk."""
        ...

    async def check_engine(self) -> EngineCheck:
        """The result of the database engine's own integrity check."""
        ...

    async def contradictions(self) -> list[Contradiction]:
        """Rows that contradict each other, in one consistent snapshot."""
        ...

    async def recount(self) -> None:
        """Rebuild counters and the queue from the rows."""
        ...
