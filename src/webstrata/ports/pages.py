"""The store's role for watched pages and sites, with their rules."""

from __future__ import annotations

from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from typing import Literal, Protocol

from webstrata.records import NewPage, Page, PageFilter, PageOrder, PageRules, Site, SiteFind, VisitTimes


class WatchedPages(Protocol):
    """Pages and sites that users watch."""

    async def add(self, pages: Collection[NewPage], now: float) -> tuple[int, int]:
        """Returns (new, already known).

        Known pages become active again, get the new tags, and keep what is not given: weight, rules, site, schedule.
        Captured pages, and pages that join a site, are due.
        """
        ...

    async def get(self, url: str) -> Page | None: ...

    async def by_url(self, urls: Sequence[str]) -> dict[str, Page]:
        """The pages among these URLs, in any state."""
        ...

    async def by_id(self, ids: Sequence[int]) -> dict[int, Page]:
        """The pages with these ids."""
        ...

    async def known(self, urls: Sequence[str]) -> dict[str, int]:
        """The URLs that are stored as pages, in any state, with their ids."""
        ...

    async def settled(self, urls: Sequence[str]) -> set[str]:
        """The URLs of pages that discovery does not change: of a site, requisites, and pages no longer watched."""
        ...

    def stream(
        self,
        *,
        tag: str | None = None,
        state: str | None = None,
        host: str | None = None,
        order: Literal["added", "next"] = "added",
        limit: int | None = None,
    ) -> AsyncIterator[Page]:
        """All matching pages. `order="next"` gives only pages with a next visit, earliest first."""
        ...

    def listed(
        self, wanted: PageFilter, order: PageOrder = "added", *, reverse: bool = False, limit: int | None = None
    ) -> AsyncIterator[Page]:
        """The pages of a listing in order; those without the value that is sorted by are always last."""
        ...

    async def pause(self, urls: Sequence[str]) -> int:
        """Stop visiting these pages; returns the number of pages that were active."""
        ...

    async def add_site(self, site: Site, now: float) -> Site:
        """Insert, or update by URL; returns the site with its id."""
        ...

    async def sites(self) -> list[Site]: ...

    async def site_sizes(self) -> dict[int, int]:
        """The number of pages of each watched site, by site id."""
        ...

    async def finds(self, keys: Sequence[tuple[int, str, str]]) -> list[SiteFind]:
        """The counts of discovery with these keys (site, kind, name), as far as there are any; a batch of visits adds
        to them."""
        ...

    async def left_out(self) -> list[SiteFind]:
        """The sources with links that were not added at their last visit."""
        ...

    async def retag(self, ids: Sequence[int], add: Sequence[str], remove: Sequence[str]) -> int:
        """Add tags to these pages and remove others; returns the number of pages that changed."""
        ...

    async def remove_site_tags(self, remove: Sequence[str]) -> int:
        """Do not give these tags to pages that are discovered later; returns the number of sites that changed."""
        ...

    async def visit_times(self) -> list[VisitTimes]:
        """The visit times of the active pages for which a user set some."""
        ...

    async def set_visit_times(self, times: Sequence[VisitTimes], next_at: Mapping[int, float]) -> None:
        """Replace the visit times of pages, and set the next visits of some of them, by page id."""
        ...

    async def set_rules(self, page_id: int, page_rules: PageRules | None) -> None: ...

    async def set_tag_rules(self, tag: str, page_rules: PageRules | None) -> None: ...

    async def tag_rules(self) -> dict[str, PageRules]: ...

    async def templates(self, hosts: Sequence[str]) -> dict[str, bytes]:
        """The stored templates (`webstrata.detect.template`) of these hosts; a batch of visits writes them."""
        ...

    async def set_counted(self, page_id: int, keys: Sequence[int]) -> None:
        """Set the places of a page whose changes count even if they are learned as noise. Visits keep this."""
        ...
