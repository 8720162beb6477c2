from __future__ import annotations

import numpy as np
import pytest

from webstrata.schedule.byte_cost import HEAD_BYTES, USUAL_BYTES, ByteCosts

COSTS = ByteCosts(
    size=np.array([10_000.0, 10_000.0, 200.0], dtype=np.float32), conditional=np.array([True, False, False])
)


def test_expected_bytes() -> None:
    """A page that answers 304 costs its size only if it changed; others always do."""
    changed = np.array([0.1, 0.1, 0.1], dtype=np.float32)
    expected = COSTS.expected(changed)
    assert expected.tolist() == pytest.approx([HEAD_BYTES + 1000, HEAD_BYTES + 10_000, HEAD_BYTES + 200], rel=1e-6)


def test_unknown_sizes_are_usual() -> None:
    """Where the size is not known, it is the median of the known ones; without any, a usual size."""
    some = ByteCosts(size=np.array([np.nan, 100.0, 300.0, 5000.0]), conditional=np.zeros(4, dtype=bool))
    assert some.sizes()[0] == 300.0 + HEAD_BYTES
    none = ByteCosts(size=np.array([np.nan]), conditional=np.zeros(1, dtype=bool))
    assert none.sizes().tolist() == [USUAL_BYTES + HEAD_BYTES]
    assert len(ByteCosts(size=np.empty(0), conditional=np.empty(0, dtype=bool)).per_byte(np.empty(0))) == 0


def test_rank() -> None:
    """Equal values rank by cost: a small page, a large one that answers 304, a large one that does not."""
    ranks = COSTS.per_byte(np.full(3, 0.2, dtype=np.float32))
    assert ranks[2] > ranks[0] > ranks[1]


def test_pages_of_equal_cost_keep_their_values() -> None:
    """With equal sizes and no answer 304, the rank is the value, so that prices keep their meaning."""
    equal = ByteCosts(size=np.full(3, 5e4, dtype=np.float32), conditional=np.zeros(3, dtype=bool))
    values = np.array([0.5, 0.1, 0.0], dtype=np.float32)
    assert equal.per_byte(values) == pytest.approx(values)


def test_a_byte_pays_where_the_rule_says() -> None:
    """At the rank's price per byte, a conditional visit just pays: worth (1 - p S) = p s."""
    worth = np.array([0.3, 0.3, 0.3], dtype=np.float32)
    price = float(COSTS.per_byte(worth)[0]) / float(COSTS.sizes().mean())
    assert 0.3 * (1 - price * 10_000.0) == pytest.approx(price * HEAD_BYTES, rel=1e-5)


def test_weights_scale_ranks() -> None:
    """A page of double weight has double rank; a page of weight 0 has none."""
    worth = np.full(3, 0.3, dtype=np.float32)
    weights = np.array([2.0, 2.0, 0.0], dtype=np.float32)
    ranks = COSTS.per_byte(worth * weights, weights)
    assert ranks[:2] == pytest.approx(2 * COSTS.per_byte(worth)[:2])
    assert ranks[2] == 0


def test_needed_worth_is_the_inverse() -> None:
    """At the worth that a rank needs, the rank is reached; a price that no capture repays is never reached."""
    factors = np.array([1.0, 2.0, 0.5])
    needed = COSTS.needed_worth(0.3, factors).astype(np.float32)
    assert COSTS.per_byte(needed * factors, factors) == pytest.approx(np.full(3, 0.3), rel=1e-5)
    assert np.isinf(COSTS.needed_worth(100.0)[0])


def test_a_part_keeps_the_unit_of_all() -> None:
    """Ranks of some pages are those that they have among all."""
    worth = np.full(3, 0.3, dtype=np.float32)
    some = np.array([2, 0])
    assert COSTS.part(some).per_byte(worth[some]) == pytest.approx(COSTS.per_byte(worth)[some])
