from __future__ import annotations

import pytest

from webstrata.errors import BadSettings
from webstrata.schedule.textbook.rate_groups import TABLE_4, RateGroup, check, nearest


@pytest.mark.parametrize(
    ("days", "group"), [(0.01, 0), (1, 0), (1.7, 0), (1.8, 1), (9, 1), (10, 2), (54, 2), (55, 3), (1e6, 3)]
)
def test_nearest_in_ratio(days: float, group: int) -> None:
    """A page starts in the group whose interval is nearest in ratio."""
    assert nearest(TABLE_4, days) == group


@pytest.mark.parametrize("groups", [(), (TABLE_4[1], TABLE_4[0]), (TABLE_4[0], TABLE_4[0])])
def test_groups_get_slower(groups: tuple[RateGroup, ...]) -> None:
    """No groups, or groups out of order, are refused."""
    with pytest.raises(BadSettings):
        check(groups, 10)


@pytest.mark.parametrize(
    "wrong",
    [
        {"days": 0, "visits": 1},
        {"days": float("nan"), "visits": 1},
        {"days": 1, "visits": 0},
        {"days": 1, "visits": 1, "slower_below": 0.9},
    ],
)
def test_impossible_groups_are_refused(wrong: dict[str, float]) -> None:
    """Impossible groups are refused."""
    with pytest.raises(BadSettings):
        RateGroup(**wrong)  # type: ignore[arg-type]
