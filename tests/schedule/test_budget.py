"""Budgets: parsing, spending, limits by group, and the expected yield."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from webstrata.clock import DAY_S
from webstrata.errors import BadSettings
from webstrata.records import BudgetState
from webstrata.schedule.budget import (
    DEFAULT_RATE,
    BudgetAccount,
    DailyRate,
    GroupCap,
    expected_yield,
    fill_budget,
    interval_at_price,
    parse_rate,
    sane_weights,
    yield_of_intervals,
)
from webstrata.schedule.policy import Bounds

RATES = [
    ("500/day", DailyRate(amount=500.0)),
    ("20/hour", DailyRate(amount=480.0)),
    ("7 / week", DailyRate(amount=1.0)),
    ("2GB/day", DailyRate(amount=2e9, unit="bytes")),
    ("1.5kb/hour", DailyRate(amount=36_000.0, unit="bytes")),
    ("0.5/page/day", DailyRate(amount=0.5, per_page=True)),
    ("0/day", DailyRate(amount=0.0)),
]


@pytest.mark.parametrize(("text", "rate"), RATES)
def test_rates_are_read(text: str, rate: DailyRate) -> None:
    """All forms of a budget are parsed."""
    assert parse_rate(text) == rate


@pytest.mark.parametrize(
    "text", ["", "many", "5", "-1/day", "5/year", "nan/day", "1e3/day", "5/day/page", "9" * 400 + "/day"]
)
def test_other_words_are_refused(text: str) -> None:
    """An invalid budget is an error that shows the valid forms."""
    with pytest.raises(BadSettings, match="budget"):
        parse_rate(text)


spans = st.lists(st.floats(0.0, 3 * DAY_S), min_size=1, max_size=60)


@settings(max_examples=60, deadline=None)
@given(per_day=st.floats(0.0, 500.0), saved=st.floats(0.01, 2.0), steps=spans)
def test_a_budget_is_kept(per_day: float, saved: float, steps: list[float]) -> None:
    """Spending all room at any times spends at most the rate times the time plus what can be saved."""
    account = BudgetAccount("all", DailyRate(amount=per_day), saved_days=saved, now=0.0)
    now = spent = 0.0
    for step in steps:
        now += step
        room = account.room(now, 0, 1.0)
        account.spend(room, 0)
        spent += room
        assert spent <= per_day * (saved + now / DAY_S) + 1e-6
        assert room <= per_day * saved + 1.0 + 1e-6


@settings(max_examples=60, deadline=None)
@given(per_day=st.floats(0.05, 50.0), step_days=st.floats(0.01, 1.0), rounds=st.integers(1, 400))
def test_fractions_of_visits_are_carried_over(per_day: float, step_days: float, rounds: int) -> None:
    """Where a round is as long as what may be saved, less than one visit is lost however many rounds there are."""
    account = BudgetAccount("all", DailyRate(amount=per_day, per_page=True), saved_days=step_days, now=0.0)
    spent = 0
    for number in range(1, rounds + 1):
        room = account.room(number * step_days * DAY_S, 1, 1.0)
        account.spend(room, 0)
        spent += room
    assert per_day * step_days * rounds - 1.001 <= spent <= per_day * step_days * rounds + 0.001


@settings(max_examples=40, deadline=None)
@given(small=st.floats(0.0, 50.0), more=st.floats(0.0, 50.0), steps=spans)
def test_more_budget_never_allows_fewer_visits(small: float, more: float, steps: list[float]) -> None:
    """At any time a larger budget has paid for at least as much."""
    accounts = [BudgetAccount("all", DailyRate(amount=rate), saved_days=5.0, now=0.0) for rate in (small, small + more)]
    now, spent = 0.0, [0, 0]
    for step in steps:
        now += step
        for number, account in enumerate(accounts):
            room = account.room(now, 0, 1.0)
            account.spend(room, 0)
            spent[number] += room
        assert spent[0] <= spent[1] + 1


def test_a_debt_is_paid_off_before_more_is_spent() -> None:
    """Required visits are owed."""
    account = BudgetAccount("all", DailyRate(amount=10.0), saved_days=1.0, now=0.0)
    account.spend(35, 0)
    assert [account.room(day * DAY_S, 0, 1.0) for day in (1, 2, 2.5, 2.6)] == [0, 0, 0, 1]
    assert account.next_at(1.0) == pytest.approx(2.6 * DAY_S)


def test_bytes_are_saved_for_one_visit() -> None:
    """A page that costs more than `saved_days` bring is still visited, as rarely as the budget requires."""
    account = BudgetAccount("all", DailyRate(amount=1000.0, unit="bytes"), saved_days=0.5, now=0.0)
    assert account.room(0.0, 0, 10_000.0) == 0
    assert account.next_at(10_000.0) == pytest.approx(9.5 * DAY_S)
    assert account.room(9.6 * DAY_S, 0, 10_000.0) == 1
    account.spend(1, 10_600)
    assert account.room(10.0 * DAY_S, 0, 10_000.0) == 0
    assert account.next_at(10_000.0) > 19 * DAY_S


def test_an_account_resumes_from_its_state() -> None:
    """Credit and price are restored; a clock that went back adds no credit."""
    state = BudgetState(name="all", price=0.25, credit=3.0, at=DAY_S)
    account = BudgetAccount("all", DailyRate(amount=4.0), saved_days=2.0, now=DAY_S, state=state)
    assert account.state() == state
    assert account.room(0.5 * DAY_S, 0, 1.0) == 3
    never = BudgetAccount("all", DailyRate(amount=0.0), saved_days=2.0, now=0.0)
    assert (never.room(9 * DAY_S, 0, 1.0), never.next_at(1.0)) == (0, float("inf"))


@settings(max_examples=60, deadline=None)
@given(
    groups=st.lists(st.integers(-1, 3), min_size=1, max_size=40),
    room=st.dictionaries(st.integers(0, 3), st.floats(0.0, 6.0)),
    count=st.integers(-1, 30),
)
def test_filling_keeps_every_cap_and_the_order(groups: list[int], room: dict[int, float], count: int) -> None:
    """No group and no round exceeds its room, better rows come first, and no room is left unused."""
    cap = GroupCap(group=np.array(groups, dtype=np.intp), room=room)
    ranked = np.arange(len(groups))[::-1].copy()
    taken = fill_budget(ranked, count, [cap])
    assert len(taken) <= max(count, 0)
    assert (np.diff(taken) < 0).all()
    for group, most in room.items():
        assert np.count_nonzero(cap.group[taken] == group) <= most
    if len(taken) < count:
        for row in set(ranked.tolist()) - set(taken.tolist()):
            group = groups[row]
            assert np.count_nonzero(cap.group[taken] == group) + 1 > room[group]


def test_weights_that_are_no_numbers_are_defined() -> None:
    """NaN and infinity count as 1, negative weights as 0."""
    weights = np.array([np.nan, np.inf, -np.inf, -3.0, 0.0, 2.5])
    assert sane_weights(weights).tolist() == [1.0, 1.0, 1.0, 0.0, 0.0, 2.5]


@settings(max_examples=40, deadline=None)
@given(rates=st.lists(st.floats(0.0, 5.0), min_size=1, max_size=20), per_day=st.floats(0.1, 20.0))
def test_more_visits_are_expected_to_bring_more(rates: list[float], per_day: float) -> None:
    """A larger budget captures no less and keeps copies no older; the visits spend the budget if the bounds allow."""
    bounds = Bounds(min_days=1 / 288, max_days=180.0)
    found = [
        expected_yield(np.array(rates), np.ones(len(rates)), factor * per_day, bounds) for factor in (0.8, 1.0, 1.2)
    ]
    captured = [one.captured_per_day for one in found]
    assert captured == sorted(captured)
    assert [one.freshness for one in found] == sorted(one.freshness for one in found)
    assert found[1].visits_per_day <= per_day * (1 + 1e-6) + len(rates) / 180.0
    assert captured[2] <= sum(rates) + 1e-6


def test_a_budget_of_nothing_brings_nothing() -> None:
    """Without budget or without pages there are no captures and no division by zero."""
    nothing = expected_yield(np.array([1.0, 0.0]), np.ones(2), 0.0, Bounds())
    assert (nothing.visits_per_day, nothing.captured_per_day) == (0.0, 0.0)
    assert expected_yield(np.empty(0), np.empty(0), 5.0, Bounds()).captured_per_day == 0.0


def test_intervals_at_a_price() -> None:
    """The interval of a single page spends its budget; at a higher price, or with fewer changes, it is longer."""
    bounds = Bounds(min_days=0.01, max_days=1000.0)
    rates = np.full(50, 1 / 7)
    for per_day in (0.5, 5.0, 50.0):
        expected = expected_yield(rates, np.ones(50), per_day, bounds)
        days = interval_at_price(1 / 7, expected.price, bounds)
        assert 50 / days == pytest.approx(per_day, rel=1e-3)
        assert expected.median_days == pytest.approx(days)
        same = yield_of_intervals(rates, np.full(50, days))
        assert same.captured_per_day == pytest.approx(expected.captured_per_day)
        assert interval_at_price(1 / 14, expected.price, bounds) == pytest.approx(2 * days)


@pytest.mark.parametrize(
    ("pages", "visits"), [(0, 0), (1, 6), (50, 300), (100, 600), (300, 600), (600, 600), (601, 601), (100_000, 100_000)]
)
def test_the_default_is_generous_for_few_pages(pages: int, visits: float) -> None:
    """Six visits a day of each page, at most 600 of all; with more than 600 pages one of each."""
    assert DEFAULT_RATE.per_day(pages) == visits


def test_a_budget_survives_a_clock_that_is_set() -> None:
    """A day forward brings not more than can be saved; afterwards, a day back, the budget brings as much as before."""
    account = BudgetAccount("all", DailyRate(amount=24.0), saved_days=0.25, now=0.0)
    account.spend(account.room(0.0, 1, 0.0), 0)
    assert account.room(3600.0, 1, 0.0) == 1
    assert account.room(DAY_S + 3600.0, 1, 0.0) == 7
    account.spend(7, 0)
    assert account.room(3600.0, 1, 0.0) == 0
    assert account.next_at(0.0) == pytest.approx(7200.0)
    assert account.room(7200.0, 1, 0.0) == 1
    assert account.room(7199.0, 1, 0.0) == 1
    assert account.room(7200.0, 1, 0.0) == 1, "a call a moment earlier is no step"
