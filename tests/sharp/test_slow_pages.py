"""Orders of pages whose downloads take different times, compared with all orders."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest

from webstrata.sharp import slow_pages
from webstrata.sharp.slow_pages import SlowPageQueue, best_order, slow_page_queue
from webstrata.sharp.survival import survival_of_beliefs

ORDERS = {count: np.array(list(permutations(range(count)))) for count in range(2, 7)}


def _queue(seed: int, count: int, sides: float) -> SlowPageQueue:
    """Random pages: rates known or uncertain; some pages slow, or durations uniform or lognormal; even or Pareto
    weights. With one side, visits were made at random times."""
    random = np.random.default_rng(seed)
    shapes = np.where(random.random(count) < 0.5, np.inf, random.uniform(0.2, 3.0, count))
    durations = (
        np.where(random.random(count) < 0.4, random.uniform(5.0, 40.0, count), 2.0),
        random.uniform(1.0, 40.0, count),
        np.exp(random.normal(1.0, 1.5, count)),
    )[seed % 3]
    survival = survival_of_beliefs(np.exp(random.normal(-3.0, 1.5, count)), shapes)
    weights = random.uniform(0.5, 2.0, count) if seed % 2 else random.pareto(1.5, count) + 0.1
    elapsed = np.zeros(count) if sides == 2.0 else random.uniform(0.0, 60.0, count)
    return slow_page_queue(survival, weights, elapsed, durations, first=0.0 if sides == 2.0 else 2.0, sides=sides)


def _best_of_all(queue: SlowPageQueue) -> float:
    orders = ORDERS[queue.durations.size]
    delays = np.cumsum(queue.durations[orders], axis=1) - queue.durations[orders]
    return float(queue.curves.after(orders, queue.sides * (queue.first + delays)).sum(axis=1).max())


@pytest.mark.parametrize("sides", [1.0, 2.0])
@pytest.mark.parametrize("count", [2, 3, 4, 5, 6])
def test_no_order_is_better(count: int, sides: float) -> None:
    """Of 4,000 random cases with two to six pages, mirror schedules and revisits, no order beats the plan."""
    for seed in range(400):
        queue = _queue(seed, count, sides)
        plan, best = best_order(queue), _best_of_all(queue)
        assert best - 1e-9 <= plan.worth <= best + 1e-9 <= plan.bound + 2e-9, seed
        assert sorted(plan.order.tolist()) == list(range(count))


def test_the_search_for_many_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    """The search for more pages than the exact one can plan finds the exact plan of 12 pages in each of 30 cases."""
    for seed in range(30):
        queue = _queue(seed, 12, 2.0)
        exact = best_order(queue).worth
        with monkeypatch.context() as patch:
            patch.setattr(slow_pages, "EXACT_SLOW_UP_TO", 1)
            assert best_order(queue).worth == pytest.approx(exact, abs=1e-9), seed


@pytest.mark.parametrize("seed", range(6))
def test_windows_of_many_pages(seed: int) -> None:
    """In the plan of 60 pages, no order of six consecutive pages inside a window is better."""
    queue = _queue(seed, 60, 2.0)
    order = best_order(queue).order
    starts = np.concatenate([[0.0], np.cumsum(queue.durations[order])])
    for begin in range(0, 50, 4):
        pages = order[begin : begin + 6][ORDERS[6]]
        delays = starts[begin] + np.cumsum(queue.durations[pages], axis=1) - queue.durations[pages]
        worths = queue.curves.after(pages, 2.0 * delays).sum(axis=1)
        assert worths[0] >= worths.max() - 1e-8
