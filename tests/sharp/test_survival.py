"""What is expected under uncertain rates is what happens when rates are drawn from the belief."""

from __future__ import annotations

import numpy as np
import pytest

from webstrata.errors import UsageError
from webstrata.sharp.online import OnlineScheduler
from webstrata.sharp.optimal import optimal
from webstrata.sharp.schedule import expected_sharp
from webstrata.sharp.survival import GammaSurvival, PoissonSurvival, believed

COUNT, RUNS = 60, 20_000


def _beliefs() -> tuple[np.ndarray, np.ndarray]:
    """Mean rates per slot and the shapes of the beliefs about them, some of them sure."""
    random = np.random.default_rng(7)
    rates = np.exp(random.normal(-3.5, 1.2, COUNT))
    return rates, np.where(np.arange(COUNT) % 3 == 0, np.inf, random.uniform(0.2, 2.0, COUNT))


def _simulated(spans: np.ndarray) -> tuple[float, float]:
    """Mean number of pages without a change in their span over many worlds, and its standard error: each world draws
    every page's rate from the belief, then the changes by that rate."""
    rates, shapes = _beliefs()
    random = np.random.default_rng(11)
    sure = np.isinf(shapes)
    drawn = random.gamma(np.where(sure, 1.0, shapes), rates / np.where(sure, 1.0, shapes), (RUNS, COUNT))
    changes = random.poisson(np.where(sure, rates, drawn) * spans)
    sharp = (changes == 0).sum(axis=1)
    return float(sharp.mean()), float(sharp.std() / np.sqrt(RUNS))


def test_expectation_is_what_simulation_gives() -> None:
    """E of the best plan under Gamma beliefs agrees with drawn rates and drawn changes; that of mean rates does not."""
    rates, shapes = _beliefs()
    schedule, plan = optimal(believed(rates, shapes))
    mean, error = _simulated(schedule.spans())
    assert plan.worth == pytest.approx(mean, abs=4 * error)
    assert abs(expected_sharp(schedule, rates) - mean) > 10 * error


def test_planning_with_the_belief_gains() -> None:
    """The plan made with the whole belief makes more pages sharp than the one made with mean rates."""
    rates, shapes = _beliefs()
    belief = believed(rates, shapes)
    assert optimal(belief)[1].worth > expected_sharp(optimal(rates)[0], belief) + 0.1


def test_a_live_capture_expects_the_same() -> None:
    """The scheduler of a live capture, told of beliefs, plans with them and expects what simulation gives."""
    rates, shapes = _beliefs()
    scheduler = OnlineScheduler(2.0, count=COUNT)
    told = [None if np.isinf(shape) else float(shape) for shape in shapes]
    scheduler.discovered([str(page) for page in range(COUNT)], rates / 2.0, shapes=told)
    now = 0.0
    visited: list[int] = []
    while (page := scheduler.next_visit()) is not None:
        scheduler.visited(page, now, now)
        visited.append(int(page))
        now += 2.0
    order = [int(page) for page in scheduler.plan_revisits()]
    spans = np.zeros(COUNT)
    for place, one in enumerate(order):
        spans[one] = (COUNT - 1 - visited.index(one)) + place + 1
    mean, error = _simulated(spans)
    assert scheduler.expected() == pytest.approx(mean, abs=4 * error)
    assert scheduler.expected() == pytest.approx(optimal(believed(rates, shapes))[1].worth, rel=0.01)
    again = OnlineScheduler.resumed(scheduler.record())
    assert again.expected() == pytest.approx(scheduler.expected())


def test_sure_rates_are_poisson() -> None:
    """Infinite shapes are rates known for sure, a very great shape nearly so, and rate 0 never changes."""
    assert isinstance(believed([0.1, 0.0], [np.inf, np.inf]), PoissonSurvival)
    mixed = believed([0.1, 0.0, 0.1], [1e9, 0.5, 0.5])
    assert isinstance(mixed, GammaSurvival)
    chances = mixed.unchanged(np.arange(3), np.full(3, 20.0))
    assert chances == pytest.approx([np.exp(-2.0), 1.0, 5.0**-0.5], rel=1e-6)
    assert mixed.some(np.array([2])).unchanged(np.arange(1), np.full(1, 20.0)) == pytest.approx(5.0**-0.5)


@pytest.mark.parametrize("shapes", [[0.0], [-1.0], [float("nan")], [1.0, 2.0]])
def test_bad_shapes(shapes: list[float]) -> None:
    """A shape is above 0, one for every rate."""
    with pytest.raises(UsageError):
        believed([0.1], shapes)
