"""The scheduler of a live capture: order, revisits, expectation, resumption."""

from __future__ import annotations

import msgspec
import numpy as np
import pytest

from webstrata.errors import UsageError
from webstrata.lab.sharp.algorithms import optimal_online
from webstrata.lab.sharp.algorithms import regret_visits
from webstrata.sharp.link_tree import LinkTree, link_tree, paper_tree
from webstrata.sharp.online import CaptureRecord, OnlineScheduler
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
def test_known_pages_are_planned_best(count_known: bool) -> None:
    """With every page a seed (a sitemap), visits and revisits together reach the best schedule of all."""
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
    """Ten chains of pages, where a page that is kept back keeps back all behind it: no worse than SOLAR-online's."""
    random = np.random.default_rng(1000 + seed)
    tree = link_tree({0: list(range(1, 11)), **{page: [page + 10] for page in range(1, 390)}}, 400)
    rates = random.permutation(np.log(1 / 0.7) / np.arange(1.0, 401.0))
    _, plan = optimal_online(rates, tree)
    assert plan.worth >= best_revisits(rates, solar_online(whole_lengths_of(rates), tree).visits).worth


def test_weights_move_pages() -> None:
    """Pages that count more are treated better: the weighted worth beats that of visits that ignore weights."""
    rates, tree = _rates(60), paper_tree(60)
    weights = np.where(np.arange(60) % 7 == 3, 20.0, 1.0)
    blind, _ = optimal_online(rates, tree)
    assert optimal_online(rates, tree, weights)[1].worth > best_revisits(rates, blind.visits, weights).worth


@pytest.mark.parametrize("weighted", [False, True])
def test_resumed_goes_on_alike(weighted: bool) -> None:
    """A scheduler taken from the record, through JSON, chooses the same visits as the one that went on."""
    rates, tree = _rates(50), paper_tree(50)
    weights = np.where(np.arange(50) % 5 == 2, 9.0, 1.0) if weighted else np.ones(50)
    whole = regret_visits(OnlineScheduler(1.0), rates, weights, tree)
    scheduler = OnlineScheduler(1.0)
    scheduler.discovered(["0"], rates[:1], weights[:1])
    slot = 49
    while (page := scheduler.next_visit()) is not None:
        assert whole[int(page)] == slot
        scheduler.visited(page, float(-slot), float(-slot))
        linked = list(tree.children[int(page)])
        scheduler.discovered([str(one) for one in linked], rates[linked], weights[linked], found_on=page)
        kept = msgspec.json.encode(scheduler.record())
        scheduler = OnlineScheduler.resumed(msgspec.json.decode(kept, type=CaptureRecord))
        slot -= 1
    assert slot == -1


def _visited(count: int, **options: bool) -> OnlineScheduler:
    scheduler = OnlineScheduler(2.0, **options)
    scheduler.discovered([str(page) for page in range(count)], [0.01 * (page + 1) for page in range(count)])
    now = 1000.0
    while (page := scheduler.next_visit()) is not None:
        scheduler.visited(page, now, now + 0.5)
        now += 2.0
    return scheduler


def test_instant_and_shared_middle() -> None:
    """The instant is the middle of the last download, which is its own revisit; unshared, the end of the last visit."""
    shared, apart = _visited(5), _visited(5, share_middle=False)
    assert shared.instant == 1008.25
    assert apart.instant == 1008.5
    assert len(shared.plan_revisits()) == 4
    assert len(apart.plan_revisits()) == 5


def test_expected_follows_revisits() -> None:
    """Before revisits it is the sum of chances; a page seen unchanged counts one, a changed one nothing."""
    scheduler = _visited(4)
    order = scheduler.plan_revisits()
    before = scheduler.expected()
    assert 1.0 < before < 4.0
    now = 1010.0
    for page in order:
        scheduler.revisited(page, now, now + 0.5, same=page != order[0])
        now += 2.0
    assert scheduler.expected() == 3.0  # the shared one and two of the others


def test_real_visit_times_decide() -> None:
    """A page whose visit was long before the others is given up first: it is revisited last."""
    scheduler = OnlineScheduler(1.0)
    scheduler.discovered(["a", "b", "c"], [0.1, 0.1, 0.1])
    order = scheduler.plan_revisits({"a": 0.0, "b": 98.0, "c": 99.0})
    assert order == ["b", "a"]


def test_pages_given_up_have_no_place() -> None:
    """A page that cannot be had is neither offered again nor revisited."""
    scheduler = OnlineScheduler(1.0)
    scheduler.discovered(["a", "b"], [0.1, 0.2])
    first = scheduler.next_visit()
    assert first is not None
    scheduler.gave_up(first)
    second = scheduler.next_visit()
    assert second not in (first, None)
    scheduler.visited(str(second), 0.0, 1.0)
    assert scheduler.next_visit() is None
    assert scheduler.plan_revisits() == []


def test_limit_of_pages() -> None:
    """Beyond the limit no page is taken in, and none is expected."""
    scheduler = OnlineScheduler(1.0, most=2)
    assert scheduler.discovered(["a", "b", "c", "a"], [1.0] * 4) == ["a", "b"]
    assert scheduler.unknown() == 0


def test_nothing_visited() -> None:
    """An empty capture has no next visit, no revisits, no instant, and expects nothing."""
    scheduler = OnlineScheduler(1.0)
    assert (scheduler.next_visit(), scheduler.plan_revisits(), scheduler.instant) == (None, [], None)
    assert scheduler.expected() == 0.0


@pytest.mark.parametrize("slot_s", [0.0, -1.0, float("nan"), float("inf")])
def test_bad_slots(slot_s: float) -> None:
    """A slot has a length."""
    with pytest.raises(UsageError, match="above 0"):
        OnlineScheduler(slot_s)


def test_bad_news() -> None:
    """Unknown pages, rates that are none and visits that end before they start are refused."""
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
