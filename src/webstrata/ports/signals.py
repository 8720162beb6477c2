"""The store's role for signals: what feeds and sitemaps announced about watched pages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from webstrata.records import Announcement, SignalSource


class SignalStore(Protocol):
    """Signal sources with their record, and their latest announcements."""

    async def sources(self, urls: Sequence[str] | None = None) -> list[SignalSource]:
        """The sources with these URLs (default: all)."""
        ...

    async def sources_by_id(self, ids: Sequence[int]) -> dict[int, SignalSource]:
        """The sources with these ids, by id."""
        ...

    async def announcements(self, page_ids: Sequence[int]) -> list[Announcement]:
        """The latest announcement of each source about each of these pages.

        `news` is set if the announcement arrived after the page was last seen.
        """
        ...

    async def announcements_after(self, after: int, limit: int) -> list[Announcement]:
        """The latest announcements of all sources about the next pages by id."""
        ...

    async def listed_by(self, source: str) -> dict[str, float | None]:
        """The watched pages that a source lists: the latest time of change that it gave, by URL."""
        ...
