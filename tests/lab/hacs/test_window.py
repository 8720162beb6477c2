"""The forecast of HACS at one date."""

from __future__ import annotations

import pytest

from tests.lab.hacs.hand_made import timeline
from webstrata.lab.hacs.window import window_forecast

CASES = {
    # intervals 7 (no update) and 7 (update): λ = ln 2 / 7, τ = 14
    "vector 7": ([(0, False), (7, False), (21, True)], 0.75, 7.0),
    # intervals 7 and 3.5: exp(3.5 λ) = 1.5, τ = 10.5
    "moved": ([(7, False), (14, False), (21, True)], 1 - (2 / 3) ** 3, 3.5),
    # every copy shows an update, moved intervals 3.5, 7, 7: eq. 4 gives λ = ln 7 · 3 / 17.5, τ = 17.5
    "all updated": ([(0, False), (7, True), (14, True), (21, True)], 1 - 7 ** (-3 / 17.5 * 10.5), 3.5),
    "no update": ([(3, False), (9, False)], 0.0, 18.0),
    "one copy": ([(11, False)], 0.0, 10.0),
    # the first copy in the window shows no update there
    "before the window": ([(-30, False), (5, True), (12, False)], 0.0, 16.0),
    # copies at the very start and end of the window count, later ones do not: eq. 4 gives λ = ln 3 / 10.5
    "edges": ([(0, False), (21, True), (22, True)], 1 - 3 ** (-17.5 / 10.5), 10.5),
}


@pytest.mark.parametrize("name", CASES)
def test_forecasts_by_hand(name: str) -> None:
    """The probability of an update within a week of day 21, from the copies of three weeks, and the days since τ."""
    copies, chance, since_days = CASES[name]
    found = window_forecast(timeline((copies, [])), 21.0, 21.0, 7.0)

    assert found.page.tolist() == [0]
    assert found.chance[0] == pytest.approx(chance, abs=1e-9)
    assert found.since_days[0] == pytest.approx(since_days)


def test_the_copy_before_the_window_can_count() -> None:
    """Then the first copy in the window may show an update; a page without an earlier copy is as before."""
    pages = timeline(([(-4, False), (-2, False), (10, True)], []), ([(3, False), (9, False)], []), ([(-1, False)], []))
    found = window_forecast(pages, 21.0, 21.0, 7.0, with_previous=True)

    assert found.page.tolist() == [0, 1]
    assert found.since_days.tolist() == [17.0, 18.0]
    assert found.chance.tolist() == pytest.approx([1 - 3 ** (-24 / 6), 0.0])  # eq. 4: λ = ln 3 / 6


def test_pages_without_copies_in_the_window_are_left_out() -> None:
    """Each page has the forecast that it has alone."""
    pages = [(copies, ()) for copies, _, _ in CASES.values()]
    together = window_forecast(timeline(*pages, ([], ()), ([(22, False)], ())), 21.0, 21.0, 7.0)

    assert together.page.tolist() == list(range(len(CASES)))
    assert together.chance.tolist() == pytest.approx([chance for _, chance, _ in CASES.values()], abs=1e-9)
    assert not len(window_forecast(timeline(*pages), -100.0, 21.0, 7.0).page)
