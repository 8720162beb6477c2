"""A user's own value policy gets forecasts, site events, announcements and its first price like the built-in one."""

from __future__ import annotations

import numpy as np
import pytest
from msgspec.structs import replace

from webstrata.clock import DAY_S
from webstrata.columns import Column, Days, Flags, Rows, State, columns
from webstrata.predict.siblings import Siblings
from webstrata.records import Announcement, PageSummary, SignalSource
from webstrata.schedule.announcements import SourceTable
from webstrata.schedule.crossing import crossing_days
from webstrata.schedule.forecast import NOTHING, ForecastTable, PageSignals, changed_given, forecast_at
from webstrata.schedule.policy import Bounds, ValuePolicyBase
from webstrata.schedule.policy_state import PolicyState
from webstrata.schedule.source_choice import source_worth
from webstrata.schedule.value import Value
from webstrata.schedule.value_schedule import ValueSchedule
from webstrata.testing.policy import check_policy

RATE = 0.02
SITE = np.zeros(6, dtype=np.intp)
SOURCE = SignalSource(
    id=9, url="http://a.test/sitemap.xml", kind="sitemap-lastmod", announced=30.0, announced_changed=30.0
)


class Likely(ValuePolicyBase):
    """The value of a visit is the probability of a change, for pages that all have the same rate."""

    name = "likely"
    dtype = columns({"seen_at": np.float64})
    has_forecast = True
    first_price = 0.3

    def __init__(self, bounds: Bounds | None = None) -> None:
        super().__init__(bounds)
        self.siblings = Siblings()
        self.learned = NOTHING

    def start(self, n: int, now: float = 0.0) -> State:
        state = np.zeros(n, dtype=self.dtype)
        state["seen_at"] = now
        return state

    def learn(
        self, state: State, rows: Rows, elapsed_days: Days, changed: Flags, signals: PageSignals = NOTHING
    ) -> None:
        self.learned = signals
        state["seen_at"][rows] += elapsed_days

    def forecast(self, state: State, rows: Rows, age_days: Days) -> ForecastTable:
        unchanged = np.exp(-RATE * age_days).astype(np.float32)
        rate = np.full(len(age_days), RATE, dtype=np.float32)
        return forecast_at(age_days, unchanged, unchanged * rate, rate, (1.0 - unchanged) / rate)

    def worth(self, forecast: ForecastTable, age_days: Column, signals: PageSignals = NOTHING) -> Column:
        return changed_given(signals.own_or_site(forecast.unchanged_at(age_days)), signals.hints)

    def explain(self, state: State, row: int, now: float = 0.0, signals: PageSignals = NOTHING) -> dict[str, object]:
        return {"value": float(self.value(state, np.array([row]), now, signals)[0])}


def test_it_passes_the_contract() -> None:
    """The class is a complete value policy."""
    check_policy(Likely())


def test_it_gets_site_events() -> None:
    """After visits that found five of six sibling pages changed, the sixth is worth more; `learn` gets signals too."""
    policy = Likely()
    pages = PolicyState(policy, SITE)
    before = float(pages.values(10.0)[5])
    pages.learn(np.arange(5), 10.0, np.ones(5, dtype=bool))

    assert policy.learned.quiet is not None
    assert float(pages.values(10.0)[5]) > before + 0.1


def test_it_gets_announcements() -> None:
    """A page that a trusted source announces is worth more, a page that the source lists without news is not."""
    pages = PolicyState(Likely(), SITE, now=0.0, weights=np.ones(6))
    before = pages.values(10.0).copy()
    source = replace(SOURCE, read_at=9 * DAY_S)
    news = [(row, Announcement(page_id=0, source_id=9, at=None, seen_at=0.0, news=int(row == 0))) for row in (0, 1)]
    pages.lists = SourceTable(np.full(6, -1, dtype=np.intp), now=0.0)
    pages.lists.load([source], news)
    after = pages.values(10.0)

    assert after[0] > 0.9 > before[0]
    assert after[1] < before[1]
    assert after[2:] == pytest.approx(before[2:], abs=1e-6)
    assert source_worth(pages.lists, *pages.values_and_chances(40.0), 1.0, 0.01).proven[0] > 0


def test_it_gets_predicted_visits_and_its_first_price() -> None:
    """The visit is predicted for the time at which the value passes the policy's own first price."""
    schedule = ValueSchedule(Likely())
    state = schedule.policy.start(1, 0.0)[0].tobytes()
    schedule.page_table.add([PageSummary(id=7, url="http://a.test/", host="a.test")], [state], 0.0)
    schedule.apply_overrides(schedule.overrides, {}, 0.0)
    rows = np.array([0])
    days = crossing_days(schedule.page_table.policy_state, rows, 0.0, 0.3, np.ones(1, dtype=np.float32))

    assert (schedule.first_price, schedule.price) == (0.3, 0.3)
    assert 5.0 < days[0] < -np.log(0.7) / RATE
    assert schedule.crossing(rows, 0.0)[0] == pytest.approx(DAY_S * days[0])
    rates, weights = schedule.expected_rates(DAY_S)
    assert rates[0] >= RATE * 0.99
    assert weights.tolist() == [1.0]


def test_kept_forecasts_are_those_of_the_present_age() -> None:
    """Values from kept forecasts equal those computed anew, at steps of minutes, hours and days, also back in time and
    after visits; pages of one batch have any age."""
    random = np.random.default_rng(1)
    pages = PolicyState(Value(), np.zeros(200, dtype=np.intp))
    pages.copied(pages.rows, random.uniform(-3.0, 0.0, 200))
    now = 0.0
    for step in (0.0, 1e-4, 0.003, 0.01, 0.04, -0.02, 0.3, 1.0, 7.5, 60.0, -50.0):
        now += step
        assert pages.values(now) == pytest.approx(pages.policy.value(pages.state, pages.rows, now), abs=1e-5)
        visited = np.sort(random.choice(200, 20, replace=False))
        pages.learn(visited, now + 0.001, random.random(20) < 0.5)
        now += 0.001


def test_the_value_of_a_page_passes_midnight_without_a_jump() -> None:
    """Between ten minutes before and after the end of a day, the value grows as in any other twenty minutes."""
    pages = PolicyState(Value(), np.arange(4))
    pages.copied(pages.rows, np.array([-5.0, -0.5, -0.02, -0.25]))
    before, at, after = (pages.values(minutes / 1440) for minutes in (-10, 0, 10))

    assert (after - at) == pytest.approx(at - before, rel=0.2, abs=1e-4)
    assert (before <= at).all()
    assert (at <= after).all()
