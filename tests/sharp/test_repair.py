"""Further passes: the better of two plans, worth what the chances say."""

from __future__ import annotations

import numpy as np
import pytest

from webstrata.sharp.repair import further_pass, revisits


def worth(rates: list[float], heads: list[float], order: tuple[int, ...], slot_s: float) -> float:
    return sum(np.exp(-rates[page] * (heads[page] + slot_s * (place + 1))) for place, page in enumerate(order))


def test_hot_pages_are_revisited_first() -> None:
    """With equal times since their visits, the page that changes most is revisited first."""
    plan = revisits([1e-4, 1e-2, 1e-3], [10.0, 10.0, 10.0], [1.0, 1.0, 1.0], 2.0)
    assert (plan.before, plan.after) == ((), (1, 2, 0))
    assert plan.worth == pytest.approx(worth([1e-4, 1e-2, 1e-3], [10.0] * 3, plan.after, 2.0))
    assert plan.worth == pytest.approx(plan.chances.sum())


def test_a_few_blurred_pages_are_looked_at_before_too() -> None:
    """Where few hot pages were blurred, they are visited just before the new instant and first after it."""
    rates, heads = [0.02] * 2 + [1e-6] * 30, [60.0] * 32
    plan = further_pass(rates, heads, [1.0] * 32, 2.0, [0, 1])
    assert sorted(plan.before) == [0, 1]
    assert set(plan.after[:2]) == {0, 1}
    assert sorted(plan.after) == list(range(32))
    assert plan.worth > revisits(rates, heads, [1.0] * 32, 2.0).worth


def test_many_blurred_pages_are_not() -> None:
    """Where the others would lose more by waiting, all pages are revisited at once."""
    rates, heads = [1e-3] * 20, [2.0] * 20
    plan = further_pass(rates, heads, [1.0] * 20, 2.0, list(range(10)))
    assert plan.before == ()
    assert plan.after == revisits(rates, heads, [1.0] * 20, 2.0).after


def test_nothing_blurred() -> None:
    """Without blurred pages a further pass is a plain one."""
    assert further_pass([1e-3, 1e-4], [5.0, 5.0], [1.0, 1.0], 1.0, []).before == ()
