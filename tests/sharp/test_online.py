"""The scheduler of a live capture: the order of visits and the expected number of sharp pages."""

from __future__ import annotations

import numpy as np
import pytest

from webstrata.errors import UsageError
from webstrata.lab.sharp.algorithms import optimal_online
from webstrata.lab.sharp.small_sites import CELLS, SmallSiteCell, lost_pages
from webstrata.sharp.link_tree import LinkTree, link_tree, paper_tree
from webstrata.sharp.online import OnlineScheduler
from webstrata.sharp.optimal import best_revisits, optimal
from webstrata.sharp.schedule import whole_lengths_of
from webstrata.sharp.solar import solar_online


def _rates(count: int, seed: int = 1) -> np.ndarray:
    return np.exp(np.random.default_rng(seed).normal(-3.0, 1.5, count))


def _random_tree(count: int, seed: int = 2) -> LinkTree:
    random = np.random.default_rng(seed)
    links: dict[int, list[int]] = {}
    for page in range(1, count):
        links.setdefault(int(random.integers(0, page)), []).append(page)
    return link_tree(links, count)


@pytest.mark.parametrize("count_known", [True, False])
def test_known_pages_get_the_best_schedule(count_known: bool) -> None:
    """If every page is a seed (as with a sitemap), visits and revisits reach the optimal schedule."""
    rates = _rates(60)
    _, plan = optimal_online(rates, link_tree({}, 60), count_known=count_known)
    assert plan.worth == pytest.approx(optimal(rates)[1].worth, rel=0.02 if not count_known else 1e-9)


@pytest.mark.parametrize("seed", range(4))
def test_better_than_solar_with_best_revisits(seed: int) -> None:
    """On random trees regret-driven visits beat SOLAR-online's, both with the best revisits."""
    rates, tree = _rates(200, seed), _random_tree(200, seed)
    _, plan = optimal_online(rates, tree)
    solar = solar_online(whole_lengths_of(rates), tree)
    assert plan.worth >= best_revisits(rates, solar.visits).worth


@pytest.mark.parametrize("seed", range(3))
def test_no_worse_on_long_chains(seed: int) -> None:
    """Ten chains of pages, where a page that waits delays all pages behind it: no worse than SOLAR-online's."""
    random = np.random.default_rng(1000 + seed)
    tree = link_tree({0: list(range(1, 11)), **{page: [page + 10] for page in range(1, 390)}}, 400)
    rates = random.permutation(np.log(1 / 0.7) / np.arange(1.0, 401.0))
    _, plan = optimal_online(rates, tree)
    assert plan.worth >= best_revisits(rates, solar_online(whole_lengths_of(rates), tree).visits).worth


@pytest.mark.parametrize("cell", CELLS, ids=lambda cell: f"{cell.pages} {cell.tree} {cell.hot}")
def test_small_sites(cell: SmallSiteCell) -> None:
    """On small sites with a tenth of hot pages, no more pages are lost than with SOLAR-online's visits, in the mean of
    20 trees; the seeds were not used for any choice."""
    lost = lost_pages(cell, range(7000, 7020))
    assert lost["optimal-online"] <= lost["solar visits"] + 1e-9
    assert lost["optimal-online"] >= lost["all pages known"] - 1e-9


def test_weights_move_pages() -> None:
    """The weighted worth is higher than with visits that ignore the weights."""
    rates, tree = _rates(60), paper_tree(60)
    weights = np.where(np.arange(60) % 7 == 3, 20.0, 1.0)
    unweighted, _ = optimal_online(rates, tree)
    assert optimal_online(rates, tree, weights)[1].worth > best_revisits(rates, unweighted.visits, weights).worth


def test_expected_mirrors_the_visits() -> None:
    """The last visit is its own revisit; every other page is expected to be revisited as long after the instant."""
    scheduler = OnlineScheduler(2.0)
    scheduler.discovered(["a", "b"], [0.01, 0.02])
    scheduler.visited("a", 1000.0, 1000.0)
    assert scheduler.expected() == pytest.approx(np.exp(-0.01 * 4.0))
    scheduler.visited("b", 1002.0, 1002.0)
    assert scheduler.expected() == pytest.approx(np.exp(-0.01 * 4.0) + 1.0)


def test_pages_given_up_are_not_offered() -> None:
    """A page that was given up is not offered again."""
    scheduler = OnlineScheduler(1.0)
    scheduler.discovered(["a", "b"], [0.1, 0.2])
    first = scheduler.next_visit()
    assert first is not None
    scheduler.gave_up(first)
    second = scheduler.next_visit()
    assert second not in (first, None)
    scheduler.visited(str(second), 0.0, 1.0)
    assert scheduler.next_visit() is None


def test_limit_of_pages() -> None:
    """Beyond the limit no page is added, and none is expected."""
    scheduler = OnlineScheduler(1.0, max_pages=2)
    assert scheduler.discovered(["a", "b", "c", "a"], [1.0] * 4) == ["a", "b"]
    assert scheduler.unknown() == 0


def test_nothing_visited() -> None:
    """A capture without pages has no next visit and expects no sharp pages."""
    scheduler = OnlineScheduler(1.0)
    assert scheduler.next_visit() is None
    assert scheduler.expected() == 0.0


@pytest.mark.parametrize("slot_s", [0.0, -1.0, float("nan"), float("inf")])
def test_bad_slots(slot_s: float) -> None:
    """A slot length that is not a positive finite number raises an error."""
    with pytest.raises(UsageError, match="above 0"):
        OnlineScheduler(slot_s)


def test_bad_input() -> None:
    """Unknown pages, invalid rates and visits that end before they start raise an error."""
    scheduler = OnlineScheduler(1.0)
    with pytest.raises(UsageError, match="not known"):
        scheduler.visited("a", 0.0, 1.0)
    with pytest.raises(UsageError, match="rate"):
        scheduler.discovered(["a"], [float("nan")])
    with pytest.raises(UsageError, match="rates"):
        scheduler.discovered(["a", "b"], [1.0])
    scheduler.discovered(["a"], [1.0])
    with pytest.raises(UsageError, match="end after"):
        scheduler.visited("a", 1.0, 0.0)
