from __future__ import annotations

from collections.abc import Callable

import pytest

from webstrata.schedule.policy import Bounds
from webstrata.schedule.textbook.rate_groups import Historic, RateGroup

TABLE_2 = tuple(
    RateGroup(days=days, visits=visits, slower_below=0.3, faster_above=0.7)
    for days, visits in ((1, 10), (7, 8), (30, 6), (100, 2))
)
"""The example of the paper."""


@pytest.mark.parametrize(
    ("flags", "expected"),
    [
        ("11111100", 1.0),  # 6 of 8: .75 is above .7, up
        ("00000001", 30.0),  # 1 of 8: .125 is below .3, down
        ("11110000", 7.0),
        ("1111110", 7.0),  # not yet eight
    ],
)
def test_the_papers_example(play: Callable[..., list[float]], flags: str, expected: float) -> None:
    """In the weekly group of Table 2, six changes in eight visits move a page up, one moves it down."""
    assert play(Historic(groups=TABLE_2), flags)[-1] == expected


def test_counting_begins_again(play: Callable[..., list[float]]) -> None:
    """The counts are empty after each window; a page in the slowest group stays there."""
    policy = Historic(Bounds(start_days=31))
    assert play(policy, "0000") == [31.0, 96.0, 96.0, 96.0]
    assert play(policy, "11111") == [31.0, 3.0, 3.0, 1.0, 1.0]
    assert play(policy, "0110") == [31.0, 31.0, 31.0, 31.0]
