"""The store's role for the visit log: committing batches of visits and reading them back."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from typing import Literal, Protocol

from webstrata.records import (
    Batch,
    FailingPage,
    Original,
    PageVisit,
    Position,
    RoundTiming,
    UnparsableContent,
    Visit,
    VisitFilter,
)


class VisitLog(Protocol):
    """All visits, with the positions of their records in the archive."""

    async def commit(self, batch: Batch) -> None:
        """Write the whole batch in one transaction and end the leases of its pages."""
        ...

    async def of_page(
        self,
        page_id: int,
        *,
        changes_only: bool = False,
        errors_only: bool = False,
        since: float | None = None,
        until: float | None = None,
        limit: int | None = None,
        order: Literal["oldest", "newest"] = "newest",
    ) -> list[Visit]: ...

    def listed(
        self, wanted: VisitFilter, order: Literal["newest", "oldest"] = "newest", limit: int | None = None
    ) -> AsyncIterator[PageVisit]:
        """The visits of all pages by time, with their pages. Also fast if few of a million visits are wanted."""
        ...

    async def count_listed(self, wanted: VisitFilter) -> tuple[int, int]:
        """The number of visits that `listed` gives, and the number of their pages."""
        ...

    async def failing(self, ids: Sequence[int]) -> dict[int, FailingPage]:
        """The pages among these whose last visit failed, by id."""
        ...

    async def observations(self, ids: Sequence[int]) -> list[tuple[int, float, bool]]:
        """(page id, time, changed) of the visits that saw the content of these pages, by page and time."""
        ...

    async def originals(self, payloads: Sequence[str]) -> dict[str, Original]:
        """The records that first held these payloads in the archive of this home, by payload digest."""
        ...

    def positions(self) -> AsyncIterator[tuple[Position, str | None]]:
        """Every WARC position in the log, with its payload digest, for `check`."""
        ...

    def all_visits(self) -> AsyncIterator[Visit]:
        """The whole log, in the order in which it was written."""
        ...

    def all_originals(self) -> AsyncIterator[Original]:
        """The originals of all payloads in the archive of this home."""
        ...

    async def download_times(self, limit: int) -> list[tuple[str, float, int]]:
        """(host, seconds, requests) of the latest visits; 0 requests if the visit ended before the first request."""
        ...

    async def download_sums(self) -> dict[str, tuple[int, float]]:
        """(visits, seconds) of every host."""
        ...

    async def demand(self) -> list[tuple[str, str, int, float]]:
        """(host, one of its pages, number of pages, visits per day at their current intervals)."""
        ...

    async def add_round(self, timing: RoundTiming) -> None:
        """Add the timing of a round; only the latest ones are kept."""
        ...

    async def rounds(self, limit: int) -> list[RoundTiming]:
        """The timings of the latest rounds, latest first."""
        ...

    async def add_unparsable(self, content: UnparsableContent) -> None:
        """Add a content that a parser must not be given again; of the same key the latest is kept, in all 10,000."""
        ...

    async def unparsable(self, limit: int) -> list[UnparsableContent]:
        """The latest contents that a parser must not be given again, latest first."""
        ...
