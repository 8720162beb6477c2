"""Computes the importance of all pages from the links that the store holds, and stores it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from urllib.parse import urlsplit

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from webstrata.columns import SEEN_LINK
from webstrata.flows.crawl.selection.schedule_input import page_chunks
from webstrata.observe.copy_links import link_values
from webstrata.ports import Store
from webstrata.predict.importance import LinkCollector, LinkGraph, in_links, link_depths, page_ranks
from webstrata.records import Importance
from webstrata.urls import host_of

_CHUNK = 200
"""Pages whose links are read together: each may have 20,000."""


class ImportanceResult(Struct, frozen=True, kw_only=True):
    """The importance of all pages."""

    rows: list[Importance]
    """By page id."""
    links: int
    """Number of links between pages of the home."""
    unknown_links: int
    """Number of links to other pages."""


class _PageColumns:
    """The pages of the graph: those that are watched, and those whose links are stored."""

    def __init__(self) -> None:
        self._ids: list[NDArray[np.int64]] = []
        self._values: list[NDArray[np.uint64]] = []
        self._hosts: list[NDArray[np.int32]] = []
        self._starts: list[NDArray[np.bool_]] = []
        self._host_index: dict[str, int] = {}

    def add(self, pages: list[tuple[int, str]]) -> None:
        """Add pages, given as (id, URL); they may be there already."""
        addresses = [url for _, url in pages]
        hosts = [self._host_index.setdefault(host_of(url), len(self._host_index)) for url in addresses]
        self._ids.append(np.array([page_id for page_id, _ in pages], dtype=np.int64))
        self._values.append(link_values(addresses))
        self._hosts.append(np.array(hosts, dtype=np.int32))
        self._starts.append(np.array([_is_start(url) for url in addresses], dtype=bool))

    def columns(self) -> tuple[NDArray[np.int64], NDArray[np.uint64], NDArray[np.int32], NDArray[np.bool_]]:
        """Ids, hashes of the URLs, hosts as numbers, and whether it is the start page of its host; sorted by id."""
        if not self._ids:
            return np.empty(0, np.int64), np.empty(0, np.uint64), np.empty(0, np.int32), np.empty(0, bool)
        ids, first = np.unique(np.concatenate(self._ids), return_index=True)
        values, hosts = np.concatenate(self._values)[first], np.concatenate(self._hosts)[first]
        return ids, values, hosts, np.concatenate(self._starts)[first]


def _is_start(url: str) -> bool:
    parts = urlsplit(url)
    return parts.path in ("", "/") and not parts.query


async def update_importance(
    store: Store, on_progress: Callable[[int], object] = lambda pages: None
) -> ImportanceResult:
    """Compute the importance of all watched pages and of all others whose links are stored, and store it.

    `on_progress` is called with each number of pages whose links were read.
    """
    pages = _PageColumns()
    async for chunk in page_chunks(store):
        pages.add([(page.id, page.url) for page in chunk])
    after = 0
    while linked := await store.facts.links_after(after, _CHUNK):
        pages.add([(page_id, url) for page_id, url, _ in linked])
        after = linked[-1][0]
    ids, values, hosts, is_start = pages.columns()
    collector = LinkCollector(values)
    after = 0
    while linked := await store.facts.links_after(after, _CHUNK):
        for page_id, _, links in linked:
            row = int(np.searchsorted(ids, page_id))
            if row < len(ids) and ids[row] == page_id:  # else it was added meanwhile
                collector.add(row, np.frombuffer(links, SEEN_LINK)["value"])
        on_progress(len(linked))
        after = linked[-1][0]
    graph = collector.graph()
    rows = await asyncio.to_thread(_importance, ids, graph, hosts, is_start)
    await store.facts.save_importance(rows)
    return ImportanceResult(rows=rows, links=len(graph.targets), unknown_links=collector.unknown)


def _importance(
    ids: NDArray[np.int64], graph: LinkGraph, hosts: NDArray[np.int32], is_start: NDArray[np.bool_]
) -> list[Importance]:
    ranks, linking, depths = page_ranks(graph), in_links(graph), link_depths(graph, hosts, is_start)
    return [
        Importance(page_id=page_id, rank=rank, in_links=number, link_depth=depth if depth >= 0 else None)
        for page_id, rank, number, depth in zip(
            ids.tolist(), ranks.tolist(), linking.tolist(), depths.tolist(), strict=True
        )
    ]
