"""Online visits on small sites of which a tenth of the pages is hot, compared with SOLAR-online's visits.

A cell is a number of pages, a shape of the tree of links and a law of the hot rates. Pages are numbered at random, so
that a number says nothing about the place in the tree.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import msgspec
import numpy as np

from webstrata.lab.sharp.algorithms import optimal_online
from webstrata.sharp.link_tree import LinkTree, link_tree
from webstrata.sharp.optimal import best_revisits, optimal
from webstrata.sharp.rates import Numbers
from webstrata.sharp.schedule import whole_lengths_of
from webstrata.sharp.solar import solar_online

_Parent = Callable[[int, np.random.Generator], int]
_COLD = (1 / 20_000, 1 / 2_000)


def _paper_shape(pages: int) -> _Parent:
    """Two levels like the paper's tree: more pages on the first page than on each of the next."""
    on_first, on_next = max(2, round(0.63 * pages**0.5)), max(2, round(pages**0.5 / 3.2))
    return lambda page, _: 0 if page <= on_first else 1 + (page - on_first - 1) // on_next


SHAPES: dict[str, Callable[[int], _Parent]] = {
    "paper shape": _paper_shape,
    "random recursive": lambda pages: lambda page, random: int(random.integers(0, page)),
    "binary": lambda pages: lambda page, _: (page - 1) // 2,
    "4 chains": lambda pages: lambda page, _: max(0, page - 4),
    "star": lambda pages: lambda page, _: 0,
}
"""Name -> the page that links to a page, for pages in the order of breadth-first search."""
HOT: dict[str, tuple[float, float]] = {"20 to 100 slots": (1 / 100, 1 / 20), "2 to 20 slots": (1 / 20, 1 / 2)}
"""Mean time between changes of hot pages -> least and greatest rate per slot; uniform on a logarithmic scale."""


class SmallSiteCell(msgspec.Struct, frozen=True):
    pages: int
    tree: str
    hot: str


CELLS = [SmallSiteCell(pages, tree, hot) for hot in HOT for pages in (20, 50, 100) for tree in SHAPES]


def lost_pages(cell: SmallSiteCell, seeds: Iterable[int]) -> dict[str, float]:
    """The mean expected number of pages that do not become sharp, by order of visits, all with the best revisits."""
    lost: dict[str, list[float]] = {}
    for seed in seeds:
        tree, rates = random_site(cell, seed)
        worths = {
            "solar visits": best_revisits(rates, solar_online(whole_lengths_of(rates), tree).visits).worth,
            "optimal-online": optimal_online(rates, tree)[1].worth,
            "pages not counted": optimal_online(rates, tree, count_known=False)[1].worth,
            "all pages known": optimal(rates)[1].worth,
        }
        for name, worth in worths.items():
            lost.setdefault(name, []).append(cell.pages - worth)
    return {name: float(np.mean(values)) for name, values in lost.items()}


def random_site(cell: SmallSiteCell, seed: int) -> tuple[LinkTree, Numbers]:
    """The links and rates of one site of this cell."""
    random = np.random.default_rng(seed)
    parent = SHAPES[cell.tree](cell.pages)
    number = random.permutation(cell.pages)
    links: dict[int, list[int]] = {}
    for page in range(1, cell.pages):
        links.setdefault(int(number[parent(page, random)]), []).append(int(number[page]))
    rates = _log_uniform(random, _COLD, cell.pages)
    hot = random.permutation(cell.pages)[: cell.pages // 10]
    rates[hot] = _log_uniform(random, HOT[cell.hot], hot.size)
    return link_tree({page: sorted(found) for page, found in links.items()}, cell.pages), rates


def _log_uniform(random: np.random.Generator, limits: tuple[float, float], count: int) -> Numbers:
    low, high = limits
    return np.asarray(low * (high / low) ** random.random(count))
