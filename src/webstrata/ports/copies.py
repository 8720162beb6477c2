"""The store's role for copies of pages in other archives: importing them, and reading them back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from webstrata.records import ArchivedCopy, CopyRow, ImportProgress, SightedPage


class ArchiveCopies(Protocol):
    """Copies in other archives, and the progress of imports."""

    async def add(self, copies: Sequence[ArchivedCopy], progress: ImportProgress | None, now: float) -> list[bool]:
        """Store copies together with the progress of their import, in one transaction; for each copy whether it is new.

        Pages that are not stored are added in the state `captured`: they are known and not visited. Of several copies
        of a page at one time the first is kept; a later one adds what the first lacks (digest, text, links). What
        is new has not been learned yet (`hosts_to_learn`).
        """
        ...

    async def stored(self, keys: Sequence[tuple[str, float]]) -> list[bool]:
        """For each canonical URL and time whether a copy is stored. An import asks before it adds copies, so that what
        it counts does not depend on how often a transaction was tried."""
        ...

    async def progress(self, key: str) -> ImportProgress | None:
        """The stored progress of an import."""
        ...

    async def imports(self) -> list[ImportProgress]:
        """All imports, latest first."""
        ...

    async def rows(self, ids: Sequence[int]) -> list[CopyRow]:
        """The copies of these pages, by page and time."""
        ...

    async def latest(self, ids: Sequence[int]) -> dict[int, CopyRow]:
        """The latest copy of each of these pages, by page id."""
        ...

    async def page_ids(self, after: int, limit: int, host: str | None = None) -> list[int]:
        """The next pages by id that have copies, in any state."""
        ...

    async def save_learned(
        self, policy: str, states: Sequence[tuple[int, bytes]], sites: Sequence[tuple[str, bytes]], now: float
    ) -> None:
        """Store states that a policy learned from copies: (page id, packed state), (host, packed events).

        A page that was visited after `now` keeps its state; its copies have still to be learned.
        """
        ...

    async def hosts_to_learn(self, policy: str) -> list[tuple[str, int]]:
        """(host, pages with copies) of the hosts with a page of which this policy has not learned all copies."""
        ...

    async def sighted_pages(self, hosts: Sequence[str]) -> list[SightedPage]:
        """The pages of these hosts of which there are copies or own visits, without requisites and sitemaps, by id."""
        ...

    async def learned_at(self) -> float | None:
        """When states were last learned from copies: a running loop reads the pages again if this has changed."""
        ...
