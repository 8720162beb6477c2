"""Further passes: the better of two plans, worth what the chances say."""

from __future__ import annotations

import numpy as np
import pytest

from webstrata.sharp.passes import PassPages
from webstrata.sharp.passes import further_pass
from webstrata.sharp.passes import in_order
from webstrata.sharp.passes import revisits
from webstrata.sharp.survival import PoissonSurvival, believed


def tour(rates: list[float], slot_s: float = 2.0) -> PassPages:
    """Pages that all take the same time and weigh the same."""
    return PassPages(PoissonSurvival(rates), np.ones(len(rates)), np.full(len(rates), slot_s))


def worth(rates: list[float], heads: list[float], order: tuple[int, ...], slot_s: float) -> float:
    return sum(np.exp(-rates[page] * (heads[page] + slot_s * (place + 1))) for place, page in enumerate(order))


def test_hot_pages_are_revisited_first() -> None:
    """With equal times since their visits, the page that changes most is revisited first."""
    plan = revisits(tour([1e-4, 1e-2, 1e-3]), [10.0, 10.0, 10.0])
    assert (plan.before, plan.after) == ((), (1, 2, 0))
    assert plan.worth == pytest.approx(worth([1e-4, 1e-2, 1e-3], [10.0] * 3, plan.after, 2.0))
    assert plan.worth == pytest.approx(plan.chances.sum())


def test_a_few_blurred_pages_are_looked_at_before_too() -> None:
    """Where few hot pages were blurred, they are visited just before the new instant and first after it."""
    rates, heads = [0.02] * 2 + [1e-6] * 30, [60.0] * 32
    plan = further_pass(tour(rates), heads, [0, 1])
    assert sorted(plan.before) == [0, 1]
    assert set(plan.after[:2]) == {0, 1}
    assert sorted(plan.after) == list(range(32))
    assert plan.worth > revisits(tour(rates), heads).worth


def test_many_blurred_pages_are_not() -> None:
    """Where the others would lose more by waiting, all pages are revisited at once."""
    rates, heads = [1e-3] * 20, [2.0] * 20
    plan = further_pass(tour(rates), heads, list(range(10)))
    assert plan.before == ()
    assert plan.after == revisits(tour(rates), heads).after


def test_nothing_blurred() -> None:
    """Without blurred pages a further pass is a plain one."""
    assert further_pass(tour([1e-3, 1e-4], 1.0), [5.0, 5.0], []).before == ()


def test_a_slow_page_comes_last() -> None:
    """A page whose download takes a minute is revisited after those that take two seconds, and chances count that."""
    rates, lasts = [1e-3, 1e-3, 1e-3], np.array([60.0, 2.0, 2.0])
    slow = PassPages(PoissonSurvival(rates), np.ones(3), lasts)
    plan = revisits(slow, [10.0, 10.0, 10.0])
    assert plan.after[-1] == 0
    assert plan.chances[0] == pytest.approx(np.exp(-1e-3 * (10.0 + 2.0 + 4.0)))
    assert plan.worth > in_order(slow, [10.0, 10.0, 10.0], [0, 1, 2]).worth


def test_what_is_hardly_known_is_less_surely_lost() -> None:
    """Of two pages with one mean rate, the chance of the one of which less is known is greater over a long span."""
    unsure = PassPages(believed([1e-2, 1e-2], [np.inf, 0.2]), np.ones(2), np.full(2, 2.0))
    plan = revisits(unsure, [300.0, 300.0])
    assert plan.chances[1] > 3 * plan.chances[0]
