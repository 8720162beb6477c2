"""Worked examples of the reference: slots of every page, expectations to six decimals."""

from __future__ import annotations

import pytest

from webstrata.sharp.link_tree import read_tree
from webstrata.sharp.optimal import best_revisits, optimal
from webstrata.sharp.schedule import expected_sharp, rates_of
from webstrata.sharp.solar import hottest_middle, shrink, solar_offline, solar_online

VECTORS = [
    # lengths, visits, revisits, hopeless, E of SOLAR-offline, of Hottest-middle, of the best
    ("1,1,1,1,6,6,6,6", "0,1,6,7,5,4,3,2", "0,5,6,7,1,2,3,4", (1, 2, 3), 3.938273, 3.946216, 4.172391),
    ("1,2,3,4,5,6", "0,1,5,2,4,3", "0,1,5,2,4,3", (2, 4), 3.969692, 4.024197, 4.024197),
    ("1,2,5,5,6,6,9", "0,1,3,2,4,6,5", "0,1,2,3,5,6,4", (4, 5), 4.875662, 4.898491, 4.898491),
    ("1,2,50,50,50", "0,1,4,3,2", "0,1,2,3,4", (), 4.574306, 4.574501, 4.574501),
    ("1,5,5,5", "0,3,2,1", "0,1,2,3", (), 3.255276, 3.270604, 3.270604),
    ("1,1,9,9", "0,1,3,2", "0,3,1,2", (1,), 2.946908, 3.131778, 3.131778),
]


def _numbers(text: str) -> list[int]:
    return [int(one) for one in text.split(",")]


@pytest.mark.parametrize(("lengths", "visits", "revisits", "hopeless", "solar", "hottest", "best"), VECTORS)
def test_offline_vectors(
    lengths: str, visits: str, revisits: str, hopeless: tuple[int, ...], solar: float, hottest: float, best: float
) -> None:
    """SOLAR-offline gives the slots of the reference, and all three expectations agree to six decimals."""
    rates = rates_of(_numbers(lengths))
    schedule = solar_offline(_numbers(lengths))
    assert schedule.visits.tolist() == _numbers(visits)
    assert schedule.revisits.tolist() == _numbers(revisits)
    assert schedule.hopeless == hopeless
    assert expected_sharp(schedule, rates) == pytest.approx(solar, abs=5e-7)
    assert expected_sharp(hottest_middle(rates), rates) == pytest.approx(hottest, abs=5e-7)
    found, plan = optimal(rates)
    assert expected_sharp(found, rates) == pytest.approx(best, abs=5e-7)
    assert plan.proved


def test_shrinking_vector() -> None:
    """Shrinking moves hopeful pages inwards; in this example it lowers the expectation."""
    shrunk = shrink(solar_offline([1, 1, 9, 9]))
    assert (shrunk.visits.tolist(), shrunk.revisits.tolist()) == ([0, 3, 2, 1], [0, 3, 1, 2])
    assert expected_sharp(shrunk, rates_of([1, 1, 9, 9])) == pytest.approx(2.893457, abs=5e-7)


def test_online_vector() -> None:
    """SOLAR-online gives the slots and expectations of the reference, also with the best revisits."""
    lengths = [2, 3, 4, 6, 8, 9, 20]
    rates = rates_of(lengths)
    schedule = solar_online(lengths, read_tree("0->1,2;1->3,4;2->5,6", 7))
    assert schedule.visits.tolist() == [6, 5, 2, 3, 4, 0, 1]
    assert schedule.revisits.tolist() == [1, 0, 2, 3, 4, 5, 6]
    assert schedule.hopeless == (0, 1)
    assert expected_sharp(schedule, rates) == pytest.approx(4.641722, abs=5e-7)
    assert best_revisits(rates, schedule.visits).worth == pytest.approx(4.680697, abs=5e-7)


def test_weighted_vector() -> None:
    """The best plan of the first vector with weight 5 for its last page."""
    rates = rates_of([1, 1, 1, 1, 6, 6, 6, 6])
    assert optimal(rates, [1, 1, 1, 1, 1, 1, 1, 5])[1].worth == pytest.approx(7.648777, abs=5e-7)
