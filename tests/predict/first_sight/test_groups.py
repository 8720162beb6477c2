"""Groups of pages by change rate."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from webstrata.errors import UsageError
from webstrata.predict.first_sight.groups import ChangeGroups, group_sizes, grouped


def test_clear_groups_are_found() -> None:
    """Rates around four centres give these centres, fastest first, with names in words."""
    rates = np.concatenate([centre * np.array([0.9, 1.0, 1 / 0.9]) for centre in (1.0, 1 / 9, 1 / 90, 1 / 800)])

    groups = grouped(rates, 4)

    assert groups.interval_days == pytest.approx((1, 9, 90, 800), rel=0.01)
    assert groups.names == ("1 day", "9 days", "3 months", "2 years")
    assert groups.of(rates).tolist() == [0] * 3 + [1] * 3 + [2] * 3 + [3] * 3


def test_pages_without_a_change_are_in_the_slowest_group() -> None:
    """Rate 0 belongs to the slowest group and does not move its centre; an infinite rate belongs to the fastest."""
    rates = np.array([1.0, 1.1, 0.01, 0.011])

    assert grouped(np.append(rates, [0.0, 0.0]), 2) == grouped(rates, 2)
    assert grouped(rates, 2).of(np.array([0.0, np.inf])).tolist() == [1, 0]
    assert group_sizes(np.append(rates, [0.0, np.nan]), 2).pages == (2, 3)


def test_the_partition_is_the_best_one() -> None:
    """No other division of the sorted logarithms into intervals has a smaller sum of squares."""
    rates = np.exp(np.sort(np.random.default_rng(2).normal(size=14)))
    logs = np.log(rates)

    def spread(cuts: tuple[int, ...]) -> float:
        return sum(float(np.sum((part - part.mean()) ** 2)) for part in np.split(logs, cuts))

    for k in (2, 3, 4):
        groups = group_sizes(rates, k)
        best = min(spread(cuts) for cuts in itertools.combinations(range(1, len(logs)), k - 1))
        total = float(np.sum((logs - logs.mean()) ** 2))
        assert 1 - groups.explained == pytest.approx(best / total, rel=1e-3)


@pytest.mark.parametrize(
    ("rates", "k", "why"),
    [
        ([1.0, 2.0], 1, "from 2 to 6"),
        ([1.0, 2.0], 7, "from 2 to 6"),
        ([0.0, 0.0, np.nan], 2, "no page has changed"),
        ([1.0, 1.0, 2.0, 0.0], 3, "only 2 different rates"),
        ([], 2, "no page has changed"),
    ],
)
def test_what_cannot_be_grouped(rates: list[float], k: int, why: str) -> None:
    """Too few different rates are an error of use."""
    with pytest.raises(UsageError, match=why):
        grouped(np.array(rates), k)


def test_names() -> None:
    """The number in a name is at least 2 where a smaller unit exists."""
    days = (0.01, 0.2, 1.0, 1.9, 3.0, 20.0)

    assert ChangeGroups(days).names == ("1 h", "5 h", "1 day", "1 day", "3 days", "3 weeks")
