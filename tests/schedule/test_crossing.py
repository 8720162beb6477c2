"""The predicted time at which a page is worth its visit."""

from __future__ import annotations

import numpy as np
import pytest

from tests.schedule.tables import NOW, table_of
from webstrata.schedule.crossing import crossing_days
from webstrata.schedule.registry import budgeted_names


@pytest.mark.parametrize("name", budgeted_names())
def test_the_crossing_is_where_the_value_passes_the_price(name: str) -> None:
    """Before the crossing a page is worth less than the price, after it more; a higher price is passed later."""
    table = table_of(8, name)
    rows = np.arange(8)
    table.learn(rows[:4], np.full(4, NOW + 2), np.array([True, True, False, False]))
    ones = np.ones(8, dtype=np.float32)
    price = float(table.policy.value(table.policy_state.state, rows, NOW + 9.0).mean())
    low, high = (crossing_days(table.policy_state, rows, NOW + 2, factor * price, ones) for factor in (0.5, 1.0))
    assert (low <= high).all()
    assert (low < high).any()
    if table.policy_state.siblings is None:
        for row in rows[np.isfinite(high)].tolist():
            before, after = (
                float(table.policy.value(table.policy_state.state, np.array([row]), NOW + 2 + high[row] * share)[0])
                for share in (0.8, 1.25)
            )
            assert before <= price * 1.001
            assert after >= price * 0.999
