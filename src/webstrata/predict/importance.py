"""The importance of pages in the link graph: PageRank, numbers of linking pages, and depths by links.

Pages are rows of arrays. A link takes 8 bytes while links are collected and 4 afterwards, a page about 100: a million
pages with 50 million links need about half a gigabyte.
"""

from __future__ import annotations

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from webstrata.columns import Rows

DAMPING = 0.85
TOLERANCE = 1e-9
"""PageRank has converged when the shares of all pages change by no more than this in a round, together."""
MAX_ROUNDS = 100
MAX_DEPTH = 1_000
"""A page that is further from the start page of its host has no depth."""
_LINKS_AT_ONCE = 4_000_000

Ranks = NDArray[np.float64]
Numbers = NDArray[np.int32]


class LinkGraph(Struct, frozen=True):
    """The links between the pages: those of row `i` lead to `targets[starts[i] : starts[i + 1]]`."""

    starts: NDArray[np.int64]
    targets: Numbers

    @property
    def pages(self) -> int:
        return len(self.starts) - 1

    @property
    def out_links(self) -> NDArray[np.int64]:
        """The number of links from each page to other pages."""
        return np.diff(self.starts)


class LinkCollector:
    """Collects the links of pages, whose targets are given as hashes. Call `add` in the order of the rows."""

    def __init__(self, values: NDArray[np.uint64]) -> None:
        """`values`: the hash of the URL of each page. Of pages with the same hash, links lead to the first."""
        self._values, self._rows = np.unique(values, return_index=True)
        self._counts = np.zeros(len(values), dtype=np.int64)
        self._targets: list[Numbers] = []
        self.unknown = 0
        """Number of links to pages that are not among these."""

    def add(self, row: int, links: NDArray[np.uint64]) -> None:
        """The links of a page, each once."""
        if not len(self._values):
            return
        places = np.minimum(np.searchsorted(self._values, links), len(self._values) - 1)
        is_known = self._values[places] == links
        self.unknown += int(len(links) - is_known.sum())
        found = self._rows[places[is_known]]
        found = found[found != row].astype(np.int32)
        self._targets.append(found)
        self._counts[row] = len(found)

    def graph(self) -> LinkGraph:
        """The graph of all links that were added."""
        targets = np.concatenate(self._targets) if self._targets else np.empty(0, dtype=np.int32)
        self._targets.clear()
        return LinkGraph(starts=np.concatenate([[0], np.cumsum(self._counts)]), targets=targets)


def page_ranks(graph: LinkGraph, damping: float = DAMPING) -> Ranks:
    """PageRank of each page, multiplied by the number of pages: the mean is 1.

    A page without links to other pages passes its share on to all pages alike.
    """
    number = graph.pages
    ranks: Ranks = np.ones(number)
    out_links = graph.out_links
    is_dangling = out_links == 0
    for _ in range(MAX_ROUNDS if number else 0):
        passed = np.divide(ranks, out_links, out=np.zeros(number), where=~is_dangling)
        after = damping * (_received(graph, passed) + ranks[is_dangling].sum() / number) + (1 - damping)
        moved = np.abs(after - ranks).sum() / number
        ranks = after
        if moved <= TOLERANCE:
            break
    return ranks


def _received(graph: LinkGraph, passed: Ranks) -> Ranks:
    """What each page receives if every page passes this on over each of its links."""
    received: Ranks = np.zeros(graph.pages)
    first = 0
    while first < graph.pages:
        # As many pages as have so many links together, at least one.
        end = int(np.searchsorted(graph.starts, graph.starts[first] + _LINKS_AT_ONCE, side="right")) - 1
        end = min(max(end, first + 1), graph.pages)
        links = graph.targets[graph.starts[first] : graph.starts[end]]
        weights = np.repeat(passed[first:end], graph.out_links[first:end])
        received += np.bincount(links, weights=weights, minlength=graph.pages)
        first = end
    return received


def in_links(graph: LinkGraph) -> Rows:
    """The number of other pages that link to each page."""
    return np.bincount(graph.targets, minlength=graph.pages)


def link_depths(graph: LinkGraph, hosts: Numbers, is_start: NDArray[np.bool_]) -> Numbers:
    """Links from the start page of its host to each page, over pages of that host; -1 if none leads to it."""
    depths = np.full(graph.pages, -1, dtype=np.int32)
    reached: Rows = np.flatnonzero(is_start)
    depths[reached] = 0
    for depth in range(1, MAX_DEPTH + 1):
        lengths = graph.out_links[reached]
        sources = np.repeat(reached, lengths)
        within = np.arange(len(sources)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        targets = graph.targets[graph.starts[sources] + within]
        is_new = (depths[targets] < 0) & (hosts[targets] == hosts[sources])
        reached = np.unique(targets[is_new]).astype(np.intp)
        if not len(reached):
            break
        depths[reached] = depth
    return depths
