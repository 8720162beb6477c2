"""The forecast of the price: the visits of all pages at this price spend the budget."""

from __future__ import annotations

import numpy as np
import pytest

from tests.schedule.tables import NOW, table_of
from webstrata.clock import DAY_S
from webstrata.schedule.crossing import AHEAD, CompetingPages, PriceForecast, crossing_days, price_path

PAGES = 40


def _rising(rates: np.ndarray, age_days: float = 0.0) -> CompetingPages:
    """Pages that are worth 1 - e^-(rate × age)."""
    ages = np.full(len(rates), age_days)
    return CompetingPages(
        values=-np.expm1(-rates * (AHEAD[:, None] + ages)),
        values_after_visit=-np.expm1(-rates * AHEAD[:, None]),
        age_days=ages,
        min_days=np.full(len(rates), 0.01),
        max_days=np.full(len(rates), 365.0),
    )


@pytest.mark.parametrize("per_day", [40.0, 80.0, 200.0])
def test_in_the_long_run_the_intervals_at_the_price_spend_the_budget(per_day: float) -> None:
    """The rates at which pages reach the price add up to the budget, to a quarter."""
    rates = np.geomspace(0.1, 3.0, PAGES)
    price = price_path(_rising(rates), 0.0, per_day)[-1]
    visits = (1.0 / np.clip(-np.log1p(-price) / rates, 0.01, 365.0)).sum()
    assert visits == pytest.approx(per_day, rel=0.25)


def test_equal_pages_wait_until_the_budget_has_paid_for_them() -> None:
    """Just after their first copies, pages wait until the budget has paid for a visit of each; credit shortens this."""
    pages = _rising(np.full(PAGES, 0.5))
    values = pages.values[:, 0]
    for credit, days in ((0.0, 4.0), (20.0, 2.0)):
        may_be_visited = pages.min_days[0] <= AHEAD
        reached = AHEAD[np.argmax((values >= price_path(pages, credit, 10.0)) & may_be_visited)]
        assert days <= reached <= 1.4 * days


def test_a_larger_budget_brings_earlier_visits_and_an_unknown_one_no_forecast() -> None:
    """The forecast of a table follows the budget; without a budget there is none."""
    table = table_of(8)
    rows, ones = np.arange(8), np.ones(8, dtype=np.float32)
    forecast = PriceForecast()
    assert forecast.prices(table, NOW) is None
    waits = []
    for per_day in (1.0, 8.0, 48.0):
        forecast.budget(per_day, 0.0, NOW * DAY_S)
        prices = forecast.prices(table, NOW)
        assert prices is not None
        waits.append(crossing_days(table.policy_state, rows, NOW, prices, ones))
    assert (waits[0] > waits[1]).all()
    assert (waits[1] > waits[2]).all()


def test_a_forecast_is_renewed_after_visits() -> None:
    """While nothing happens, the price at a given time stays; visits use up the budget and raise it."""
    table = table_of(8)
    forecast = PriceForecast()
    forecast.budget(8.0, 0.0, NOW * DAY_S)
    first = forecast.prices(table, NOW)
    assert first is not None
    later = forecast.prices(table, NOW + 0.02)
    assert later is not None
    assert later == pytest.approx(np.interp(NOW + 0.02 + AHEAD, NOW + AHEAD, first))
    forecast.visited(8)
    after = forecast.prices(table, NOW + 0.02)
    assert after is not None
    assert (after >= later - 1e-12).all()
    assert after.sum() > later.sum()
