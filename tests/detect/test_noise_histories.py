"""30 visits to pages with every kind of noise and of figure that people watch: how many changes are told."""

from __future__ import annotations

import pytest

from tests.detect.noise_histories import DAY, EVERY, NOISE, OTHER, VISITS, WATCHED, Lines, median_told, told

MAX_TOLD = 6


@pytest.mark.parametrize("every", EVERY)
@pytest.mark.parametrize("name", NOISE)
def test_noise_is_learned(name: str, every: str) -> None:
    """At most six changes are told, whether visits are minutes or days apart, and however far down the noise is."""
    differ, changes = median_told(NOISE[name], EVERY[every])
    assert differ > changes
    assert changes <= MAX_TOLD


@pytest.mark.parametrize("every", EVERY)
@pytest.mark.parametrize("name", WATCHED)
def test_what_people_watch_is_always_told(name: str, every: str) -> None:
    """Every change of a price, a stock, a score, or a figure that is the subject of the page is told."""
    differ, changes = told(WATCHED[name], EVERY[every])
    assert changes == differ == VISITS - 1


@pytest.mark.parametrize("name", OTHER)
def test_daily_news_are_always_told(name: str) -> None:
    """New text at each daily visit is told, also if one state returns again and again."""
    lines: Lines = OTHER[name]
    assert told(lines, DAY) == (VISITS - 1, VISITS - 1)
