"""The pages that a home knows, watched or not, and what is known about their updates."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from typing import TypeAlias

from msgspec import Struct

from webstrata.flows.crawl.selection.schedule_input import page_chunks
from webstrata.ports import Store
from webstrata.predict.updates import UpdateEvidence, UpdateLayer
from webstrata.records import Page, PageRole, PageState, PageSummary
from webstrata.site_levels import depth_of, site_of
from webstrata.urls import host_of

KnownPage: TypeAlias = PageSummary | Page
_CHUNK = 5_000


class KnownPageFilter(Struct, frozen=True, kw_only=True):
    """Which of the known pages are wanted."""

    tag: str | None = None
    host: str | None = None
    watched_only: bool = False
    """Only active pages; else also those that are only known from copies and from captures of sites."""

    def has(self, page: KnownPage) -> bool:
        return (self.tag is None or self.tag in page.tags) and (self.host is None or page.host == self.host)


async def known_pages(store: Store, choice: KnownPageFilter) -> AsyncIterator[list[KnownPage]]:
    """Chunks of pages without requisites: first the watched ones by id, then those that are only known. Pages that are
    no longer watched are left out."""
    async for summaries in page_chunks(store):
        if wanted := [page for page in summaries if choice.has(page)]:
            yield list(wanted)
    if choice.watched_only:
        return
    chunk: list[KnownPage] = []
    async for page in store.pages.stream(state=PageState.CAPTURED, tag=choice.tag, host=choice.host):
        if page.role is not PageRole.REQUISITE:
            chunk.append(page)
        if len(chunk) == _CHUNK:
            yield chunk
            chunk = []
    if chunk:
        yield chunk


async def pages_of_site(store: Store, url: str, max_depth: int) -> list[KnownPage]:
    """The known pages of the site to which a URL belongs, down to this depth, by id."""
    site, host = site_of(url), host_of(url).removeprefix("www.")
    found: list[KnownPage] = []
    for name in (host, f"www.{host}"):
        async for chunk in known_pages(store, KnownPageFilter(host=name)):
            found += [page for page in chunk if site_of(page.url) == site and depth_of(page.url) <= max_depth]
    return sorted(found, key=lambda page: page.id)


async def update_evidence(
    store: Store, ids: Sequence[int], layer: UpdateLayer, *, with_copies: bool = True
) -> UpdateEvidence:
    """What the store knows about the updates of these pages."""
    return UpdateEvidence(
        ids=ids,
        visits=await store.visit_log.observations(ids),
        copies=await store.copies.rows(ids) if with_copies else (),
        links=await store.facts.links(ids) if layer != "content" else {},
    )
