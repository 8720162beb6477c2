"""Captures of pages found by links, on trees other than the paper's:
`python -m bench.trees [--small] [--seeds N] [--first SEED] [--json]`.

Rates are permuted, so that they do not depend on the depth. Three orders of visits, all with the best revisits:
SOLAR-online, ours, and ours with an unknown number of pages. The results are means over the seeds: expected sharp pages
for 1,000 pages, or with `--small` expected lost pages on sites of 20 to 100 pages of which a tenth is hot. There the
pages are numbered at random: SOLAR-online prefers the lower number among pages of equal length.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterator

import numpy as np

from webstrata.lab.sharp.algorithms import optimal_online
from webstrata.lab.sharp.small_sites import CELLS, lost_pages
from webstrata.lab.sharp.tables import PAGES, skewed, smooth
from webstrata.sharp.link_tree import LinkTree, link_tree, paper_tree
from webstrata.sharp.optimal import best_revisits
from webstrata.sharp.rates import Numbers
from webstrata.sharp.schedule import whole_lengths_of
from webstrata.sharp.solar import solar_online

Random = np.random.Generator


def _by_parents(parent: Callable[[int], int]) -> LinkTree:
    links: dict[int, list[int]] = {}
    for page in range(1, PAGES):
        links.setdefault(parent(page), []).append(page)
    return link_tree(links, PAGES)


TREES: dict[str, Callable[[Random], LinkTree]] = {
    "paper shape": lambda random: paper_tree(),
    "random recursive": lambda random: _by_parents(lambda page: int(random.integers(0, page))),
    "binary": lambda random: _by_parents(lambda page: (page - 1) // 2),
    "10 chains": lambda random: _by_parents(lambda page: max(0, page - 10)),
    "sitemap": lambda random: link_tree({}, PAGES),
}
LAWS: dict[str, Callable[[Random], Numbers]] = {
    "skewed": lambda random: random.permutation(skewed()),
    "smooth": lambda random: random.permutation(smooth()),
    "lognormal": lambda random: np.exp(random.normal(-6.0, 2.0, PAGES)),
}


def compare(tree: str, law: str, seeds: int) -> dict[str, float]:
    """Mean expected number of sharp pages of each order of visits."""
    worths: dict[str, list[float]] = {"solar visits": [], "ours": [], "ours, pages not counted": []}
    for seed in range(seeds):
        random = np.random.default_rng(1000 + seed)
        links, rates = TREES[tree](random), LAWS[law](random)
        visits = solar_online(whole_lengths_of(rates), links).visits
        worths["solar visits"].append(best_revisits(rates, visits).worth)
        worths["ours"].append(optimal_online(rates, links)[1].worth)
        worths["ours, pages not counted"].append(optimal_online(rates, links, count_known=False)[1].worth)
    return {name: float(np.mean(values)) for name, values in worths.items()}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.trees", description=__doc__)
    parser.add_argument("--small", action="store_true", help="sites of 20 to 100 pages")
    parser.add_argument("--seeds", type=int, default=None, help="default: 6, with --small 20")
    parser.add_argument("--first", type=int, default=1000, help="the first seed (with --small)")
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    options = parser.parse_args()
    rows: list[dict[str, str | float]] = []
    for row in _small(options.first, options.seeds or 20) if options.small else _large(options.seeds or 6):
        rows.append(row)
        if not options.json:
            digits = 4 if options.small else 1
            print(*(f"{cell:.{digits}f}" if isinstance(cell, float) else cell for cell in row.values()), sep="  ")
    if options.json:
        print(json.dumps(rows, indent=1))


def _large(seeds: int) -> Iterator[dict[str, str | float]]:
    for tree in TREES:
        for law in LAWS:
            yield {"tree": tree, "rates": law, **compare(tree, law, seeds)}


def _small(first: int, seeds: int) -> Iterator[dict[str, str | float]]:
    for cell in CELLS:
        lost = lost_pages(cell, range(first, first + seeds))
        worse = "worse" if lost["optimal-online"] > lost["solar visits"] + 1e-9 else ""
        yield {"pages": str(cell.pages), "tree": cell.tree, "hot": cell.hot, **lost, "": worse}


if __name__ == "__main__":
    main()
