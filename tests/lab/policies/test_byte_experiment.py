"""Budgets in bytes, replayed over histories."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

from tests.lab.policies.made_histories import made
from webstrata.lab.policies.byte_experiment import run_bytes
from webstrata.lab.policies.page_sizes import CONDITIONAL, MEDIAN_BYTES, simulated_sizes
from webstrata.lab.policies.replay_bytes import replay_bytes, visit_bytes
from webstrata.lab.policies.truth import Truth
from webstrata.schedule.byte_cost import HEAD_BYTES, ByteCosts
from webstrata.schedule.registry import policy_state

DAYS = 300


def test_equal_bytes_capture_more_by_value_per_byte() -> None:
    """Both rankings keep the budget and spend nearly all of it; value per byte captures at least 1.3 times as much."""
    results = run_bytes(
        made(120, 600, seed=2), days=DAYS, match="state-2", share=0.5, costs_of=partial(simulated_sizes, seed=1)
    )
    by_visit, by_byte = results.rows
    assert (by_visit.ranked_by, by_byte.ranked_by) == ("value", "value per byte")
    for row in results.rows:
        assert 0.9 * row.bytes_allowed < row.bytes <= row.bytes_allowed
    assert results.ratios[by_byte.corpus] == by_byte.captured / by_visit.captured
    assert by_byte.captured >= 1.3 * by_visit.captured


def test_costs_of_visits() -> None:
    """An unchanged page that answers 304 costs the head only."""
    costs = ByteCosts(size=np.array([5e3, 5e3]), conditional=np.array([True, False]))
    rows = np.array([0, 0, 1, 1])
    paid = visit_bytes(costs, rows, np.array([True, False, True, False]))
    assert paid.tolist() == [5000 + HEAD_BYTES, HEAD_BYTES, 5000 + HEAD_BYTES, 5000 + HEAD_BYTES]


@pytest.mark.parametrize("per_byte", [False, True])
def test_nothing_is_spent_without_a_budget(per_byte: bool) -> None:
    """A budget of no bytes makes no visit."""
    truth = Truth(made(20), DAYS)
    pages = policy_state("value", np.zeros(len(truth), dtype=np.intp))
    found = replay_bytes(pages, truth, simulated_sizes(truth.histories, 1), 0.0, per_byte=per_byte)
    assert (found.bytes, found.visits, found.captured) == (0.0, 0, 0)


def test_simulated_sizes() -> None:
    """Sizes have the stated median, the stated share of sites answers 304, and the seed decides. A single site has
    pages of both kinds."""
    histories = made(400, 600)
    costs = simulated_sizes(histories, 1)
    one_site = simulated_sizes(histories.take(np.arange(0, 400, 3)), 1)
    assert np.median(costs.size) == pytest.approx(MEDIAN_BYTES, rel=0.25)
    assert costs.conditional.mean() == pytest.approx(2 / 3, abs=0.01)  # two of three sites
    assert one_site.conditional.mean() == pytest.approx(CONDITIONAL, abs=0.01)
    assert (simulated_sizes(histories, 1).size == costs.size).all()
    assert (simulated_sizes(histories, 2).size != costs.size).any()
