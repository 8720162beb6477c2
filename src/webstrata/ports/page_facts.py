"""The store's role for facts about pages that are not visits: links, static features, importance."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from webstrata.records import Importance


class PageFacts(Protocol):
    """Links that were seen on pages, features of their contents, and their importance."""

    async def links(self, ids: Sequence[int]) -> dict[int, bytes]:
        """All links that were ever seen on these pages: packed rows of `columns.SEEN_LINK`, sorted by link."""
        ...

    async def links_after(self, after: int, limit: int) -> list[tuple[int, str, bytes]]:
        """(page id, URL, links) of the next pages by id that have links."""
        ...

    async def features(self, ids: Sequence[int]) -> dict[int, dict[str, float]]:
        """The stored static features of these pages; a batch of visits writes those of first and changed versions."""
        ...

    async def save_features(self, features: Mapping[int, Mapping[str, float]], at: float | Mapping[int, float]) -> None:
        """Store features of pages whose contents were imported; `at`: the time of the contents, or of each page's.

        Features of a later content are kept.
        """
        ...

    async def importance(self, ids: Sequence[int]) -> dict[int, Importance]:
        """The stored importance of these pages."""
        ...

    async def save_importance(self, rows: Sequence[Importance]) -> None:
        """Replace the importance of all pages by these rows."""
        ...
