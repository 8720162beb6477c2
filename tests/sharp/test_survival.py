"""Survival under uncertain rates agrees with simulations that draw rates from the beliefs."""

from __future__ import annotations

import numpy as np
import pytest

from webstrata.errors import UsageError
from webstrata.sharp.online import OnlineScheduler
from webstrata.sharp.optimal import optimal
from webstrata.sharp.schedule import expected_sharp
from webstrata.sharp.survival import GammaSurvival, PoissonSurvival, survival_of_beliefs

COUNT, RUNS = 60, 20_000


def _beliefs() -> tuple[np.ndarray, np.ndarray]:
    """Mean rates per slot and the shapes of the beliefs about them, some of them exact."""
    random = np.random.default_rng(7)
    rates = np.exp(random.normal(-3.5, 1.2, COUNT))
    return rates, np.where(np.arange(COUNT) % 3 == 0, np.inf, random.uniform(0.2, 2.0, COUNT))


def _simulated(spans: np.ndarray) -> tuple[float, float]:
    """The mean number of pages without a change in their span over many runs, and its standard error. Each run draws
    every page's rate from the belief, then the changes at that rate."""
    rates, shapes = _beliefs()
    random = np.random.default_rng(11)
    exact = np.isinf(shapes)
    drawn = random.gamma(np.where(exact, 1.0, shapes), rates / np.where(exact, 1.0, shapes), (RUNS, COUNT))
    changes = random.poisson(np.where(exact, rates, drawn) * spans)
    sharp = (changes == 0).sum(axis=1)
    return float(sharp.mean()), float(sharp.std() / np.sqrt(RUNS))


def test_expectation_agrees_with_simulation() -> None:
    """The expectation under Gamma beliefs agrees with the simulation; the one under mean rates does not."""
    rates, shapes = _beliefs()
    schedule, plan = optimal(survival_of_beliefs(rates, shapes))
    mean, error = _simulated(schedule.spans())
    assert plan.worth == pytest.approx(mean, abs=4 * error)
    assert abs(expected_sharp(schedule, rates) - mean) > 10 * error


def test_planning_with_beliefs_is_better() -> None:
    """The plan made with the beliefs makes more pages sharp than the plan made with mean rates."""
    rates, shapes = _beliefs()
    belief = survival_of_beliefs(rates, shapes)
    assert optimal(belief)[1].worth > expected_sharp(optimal(rates)[0], belief) + 0.1


def test_online_scheduler_uses_beliefs() -> None:
    """The online scheduler plans with the beliefs and expects what the simulation gives."""
    rates, shapes = _beliefs()
    scheduler = OnlineScheduler(2.0, count=COUNT)
    page_shapes = [None if np.isinf(shape) else float(shape) for shape in shapes]
    scheduler.discovered([str(page) for page in range(COUNT)], rates / 2.0, shapes=page_shapes)
    now = 0.0
    visited: list[int] = []
    while (page := scheduler.next_visit()) is not None:
        scheduler.visited(page, now, now)
        visited.append(int(page))
        now += 2.0
    spans = np.array([2.0 * (COUNT - 1 - visited.index(page)) for page in range(COUNT)])
    mean, error = _simulated(spans)
    assert scheduler.expected() == pytest.approx(mean, abs=4 * error)
    assert scheduler.expected() == pytest.approx(optimal(survival_of_beliefs(rates, shapes))[1].worth, rel=0.01)


def test_exact_rates_are_poisson() -> None:
    """Infinite shapes are exact rates, a very large shape is almost exact, and rate 0 never changes."""
    assert isinstance(survival_of_beliefs([0.1, 0.0], [np.inf, np.inf]), PoissonSurvival)
    mixed = survival_of_beliefs([0.1, 0.0, 0.1], [1e9, 0.5, 0.5])
    assert isinstance(mixed, GammaSurvival)
    chances = mixed.unchanged(np.arange(3), np.full(3, 20.0))
    assert chances == pytest.approx([np.exp(-2.0), 1.0, 5.0**-0.5], rel=1e-6)
    assert mixed.subset(np.array([2])).unchanged(np.arange(1), np.full(1, 20.0)) == pytest.approx(5.0**-0.5)


@pytest.mark.parametrize("shapes", [[0.0], [-1.0], [float("nan")], [1.0, 2.0]])
def test_bad_shapes(shapes: list[float]) -> None:
    """A shape that is not above 0, and a wrong number of shapes, raise an error."""
    with pytest.raises(UsageError):
        survival_of_beliefs([0.1], shapes)
