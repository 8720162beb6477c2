"""PageRank, numbers of linking pages, and depths by links."""

from __future__ import annotations

import numpy as np
import pytest

from webstrata.predict.importance import DAMPING, LinkCollector, LinkGraph, in_links, link_depths, page_ranks

CHAIN = {0: [1], 1: [2], 2: []}
CIRCLE = {0: [1], 1: [2], 2: [0]}
STAR = {0: [], 1: [0], 2: [0], 3: [0]}


def graph_of(links: dict[int, list[int]]) -> LinkGraph:
    """The graph of pages whose hash is 100 more than their row."""
    collector = LinkCollector(np.arange(100, 100 + len(links), dtype=np.uint64))
    for row, targets in links.items():
        collector.add(row, np.array([100 + target for target in targets], dtype=np.uint64))
    return collector.graph()


def random_links(number: int, density: float, seed: int) -> dict[int, list[int]]:
    """Links between pages at random; some pages have none."""
    draws = np.random.default_rng(seed)
    matrix = draws.random((number, number)) < density
    matrix[draws.random(number) < 0.2] = False
    return {row: [int(to) for to in np.flatnonzero(matrix[row]) if to != row] for row in range(number)}


def dense_ranks(links: dict[int, list[int]]) -> np.ndarray:
    """PageRank as the eigenvector of the matrix of the random surfer."""
    number = len(links)
    step = np.zeros((number, number))
    for row, targets in links.items():
        step[targets or slice(None), row] = 1 / (len(targets) or number)
    values, vectors = np.linalg.eig(DAMPING * step + (1 - DAMPING) / number)
    vector = np.real(vectors[:, np.argmax(np.real(values))])
    return vector / vector.mean()


@pytest.mark.parametrize(
    "links",
    [CHAIN, CIRCLE, STAR, {0: []}, *(random_links(40, density, seed) for seed, density in enumerate((0.02, 0.1, 0.5)))],
)
def test_ranks_are_the_eigenvector(links: dict[int, list[int]]) -> None:
    """They agree with a dense eigenvector, and their mean is 1."""
    ranks = page_ranks(graph_of(links))
    assert ranks == pytest.approx(dense_ranks(links), abs=1e-6)
    assert ranks.mean() == pytest.approx(1)


def test_ranks_do_not_depend_on_the_pieces_of_the_sum(monkeypatch: pytest.MonkeyPatch) -> None:
    """Links are added up in pieces of bounded size; a page with more links than a piece is one piece."""
    graph = graph_of(random_links(60, 0.3, 7))
    expected = page_ranks(graph)
    for links in (1, 5, 50):
        monkeypatch.setattr("webstrata.predict.importance._LINKS_AT_ONCE", links)
        assert page_ranks(graph) == pytest.approx(expected, rel=1e-12)


def test_an_empty_graph() -> None:
    """No pages, and links of a page that leads nowhere."""
    empty = LinkCollector(np.empty(0, np.uint64))
    empty.add(0, np.array([5], np.uint64))
    assert len(page_ranks(empty.graph())) == 0
    assert page_ranks(graph_of({0: [], 1: []})).tolist() == [1, 1]


def test_links_that_do_not_count() -> None:
    """Links to unknown pages are counted and dropped; links to the page itself are dropped; of two pages with one
    hash, links lead to the first."""
    collector = LinkCollector(np.array([7, 5, 7], dtype=np.uint64))
    collector.add(0, np.array([5, 7, 9, 2**64 - 1], dtype=np.uint64))
    collector.add(1, np.array([7], dtype=np.uint64))
    collector.add(2, np.array([7], dtype=np.uint64))
    graph = collector.graph()
    assert collector.unknown == 2
    assert (graph.starts.tolist(), graph.targets.tolist()) == ([0, 1, 2, 3], [1, 0, 0])
    assert in_links(graph).tolist() == [2, 1, 0]


def test_depths_are_counted_on_each_host() -> None:
    """Breadth-first from the start page; links of other hosts make no page nearer; -1 without a chain of links."""
    links: dict[int, list[int]] = {0: [1, 2], 1: [3], 2: [3], 3: [4], 4: [0], 5: [4, 6], 6: [5], 7: [8], 8: []}
    hosts = np.array([0, 0, 0, 0, 0, 1, 1, 2, 2], dtype=np.int32)
    is_start = np.array([1, 0, 0, 0, 0, 1, 0, 0, 0], dtype=bool)
    assert link_depths(graph_of(links), hosts, is_start).tolist() == [0, 1, 1, 2, 3, 0, 1, -1, -1]


def test_long_chains_end() -> None:
    """A page far from the start page has no depth, so that a chain of a million pages ends soon."""
    number = 1_200
    graph = graph_of({row: [row + 1] if row + 1 < number else [] for row in range(number)})
    depths = link_depths(graph, np.zeros(number, np.int32), np.arange(number) == 0)
    assert (depths[1_000], depths[1_001], depths[-1]) == (1_000, -1, -1)
