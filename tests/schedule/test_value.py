"""The value of a visit."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from webstrata.errors import BadSettings
from webstrata.predict.activity import Activity, Levels, rates_of
from webstrata.predict.age_grid import AgeGrid
from webstrata.schedule.forecast import PageSignals, SourceHints, changed_given, forecast_at
from webstrata.schedule.policy import LARGEST_STATE
from webstrata.schedule.value import Value

ROW = np.array([0], dtype=np.intp)


def _signals(quiet: float, quiet_next_day: float = 0.9951) -> PageSignals:
    return PageSignals(quiet=np.array([quiet]), quiet_next_day=np.array([quiet_next_day]))


@pytest.mark.parametrize(
    ("quiet", "worth"),
    [(0.9951**3, 0.169954), (0.981721**3, 0.184389), (0.932204**3, 0.240805), (0.997794**3, 0.167094)],
)
def test_worked_examples(quiet: float, worth: float) -> None:
    """With a page's own daily numbers and site events, the value equals the one worked out by hand."""
    own = (np.array([number]) for number in (1 - 0.155261, 0.030112, 0.065881, 2.8))

    value = Value().worth(forecast_at(np.array([3.0]), *own), np.array([3.0]), _signals(quiet))

    assert value[0] == pytest.approx(worth, abs=2e-4)


def test_a_steady_page() -> None:
    """For a page with one constant rate, the value is the textbook index for captured changes."""
    policy = Value(Activity(Levels(per_day=rates_of((0.05,)), start=(1.0,), moves=({},))))
    x = -np.log1p(-0.05) * 20

    value = policy.value(policy.start(1), ROW, 20.0)

    assert value[0] == pytest.approx(1 - (1 + x) * np.exp(-x), abs=1e-4)


def test_waiting_and_changes_add_worth() -> None:
    """The value is 0 after a visit, grows with time, and is larger for a page that changed."""
    policy = Value(Activity())
    state = policy.start(2)
    policy.learn(state, np.array([0, 1]), np.array([7.0, 7.0]), np.array([True, False]))

    values = [policy.value(state, np.array([0, 1]), now) for now in (7.0, 7.5, 8.0, 10.0, 20.0, 60.0, 180.0)]

    assert values[0] == pytest.approx([0, 0], abs=1e-6)
    assert (np.diff(values, axis=0) >= -1e-6).all()
    assert values[4][0] > values[4][1]
    assert policy.dtype.itemsize <= LARGEST_STATE


VISITS = st.lists(st.tuples(st.floats(1e-3, 200.0), st.booleans()), max_size=12)


def _values(visits: list[tuple[float, bool]], ages: np.ndarray) -> np.ndarray:
    """The value at each of these ages of a page with these visits."""
    policy = Value()
    state = policy.start(1)
    for elapsed, changed in visits:
        policy.learn(state, ROW, np.array([elapsed]), np.array([changed]))
    many = np.repeat(state, len(ages))
    return policy.worth(policy.forecast(many, np.arange(len(ages)), ages), ages)


@settings(max_examples=60, deadline=None)
@given(VISITS)
def test_the_value_grows_continuously_from_zero(visits: list[tuple[float, bool]]) -> None:
    """Right after a visit the value is 0. It never jumps: not within a day, not at its end, not at the ages of the
    tables. It grows with the age; only a value of nearly 1 may fall a little after months."""
    ages = np.geomspace(1e-5, 399.0, 400)
    values = _values(visits, ages)

    assert _values(visits, np.zeros(1))[0] == pytest.approx(0.0, abs=1e-6)
    assert (np.diff(values)[ages[1:] < 30.0] >= -2e-6).all()
    assert (np.diff(values) >= -1e-3).all()
    edges = np.concatenate([AgeGrid(400).ages[1:-1], np.arange(1.0, 30.0)])
    assert _values(visits, edges * (1 - 1e-6)) == pytest.approx(_values(visits, edges * (1 + 1e-6)), abs=2e-4)


def test_a_page_that_changes_hourly_is_worth_a_visit_within_hours() -> None:
    """After five hourly visits that found a change, a page is worth more after six hours than a new one after a day. No
    page is worth more for changing every minute than hourly."""
    every_minute = [(1 / 1440, True)] * 40

    assert _values([(1 / 24, True)] * 5, np.array([6 / 24]))[0] > _values([], np.array([1.0]))[0]
    assert _values(every_minute, np.array([0.5]))[0] == pytest.approx(0.25, abs=0.01)
    assert _values(every_minute, np.array([1.0]))[0] == pytest.approx(1.0, abs=0.01)


def _hint(announced: bool, precision: float, recall: float) -> SourceHints:
    return SourceHints(
        covered_days=np.array([10.0]),
        unchanged=np.array([0.6]),
        announced=np.array([announced]),
        precision=np.array([precision]),
        recall=np.array([recall]),
    )


@pytest.mark.parametrize(
    ("announced", "precision", "recall", "changed"),
    [
        (True, 0.0, 0.0, 0.5),  # nobody to believe: the forecast alone
        (False, 0.9, 0.0, 0.5),
        (True, 0.9, 0.5, 0.95),
        (False, 0.9, 1.0, 0.1 / 0.6),  # silent and complete: only what came after its last look
        (False, 0.9, 0.5, 0.3 / 0.8),
    ],
)
def test_hints_count_as_much_as_they_deserve(announced: bool, precision: float, recall: float, changed: float) -> None:
    """Announcements and silence change the probability according to precision and recall."""
    assert changed_given(np.array([0.5]), (_hint(announced, precision, recall),))[0] == pytest.approx(changed, abs=1e-5)


def test_fresh_copies() -> None:
    """For freshness, a page that changes very often is worth less than a slower one."""
    hot_and_slow = np.array([0, 1], dtype=np.intp)
    values = {}
    for freshness in (0.0, 1.0):
        policy = Value(Activity(), freshness=freshness)
        state = policy.start(2)
        for visit in range(20):
            policy.learn(state, hot_and_slow, np.array([1.0, 15.0]), np.array([True, visit % 4 == 0]))
        state["seen_at"] = 0.0
        values[freshness] = policy.value(state, hot_and_slow, 40.0)

    assert values[0.0][0] > values[0.0][1]
    assert values[1.0][0] < values[1.0][1]
    with pytest.raises(BadSettings, match="freshness"):
        Value(Activity(), freshness=1.5)


def test_it_says_why() -> None:
    """The explanation contains rate, age, probability of a change, hints and value."""
    policy = Value(Activity())
    hint = _hint(True, 0.9, 0.5)

    told = policy.explain(policy.start(1), 0, 12.0, PageSignals(hints=(hint,)))

    assert told["age_days"] == 12.0
    assert {"rate_per_day", "changed_probability", "site_event_probability", "hints", "value", "rule"} <= told.keys()


def test_a_source_without_record_changes_nothing() -> None:
    """Hints of a source with precision and recall 0 do not change the value."""
    policy = Value(Activity())
    state = policy.start(1)
    plain = policy.value(state, ROW, 30.0, _signals(0.8))
    useless = _hint(True, 0.0, 0.0)

    with_hint = policy.value(
        state, ROW, 30.0, PageSignals(quiet=np.array([0.8]), quiet_next_day=np.array([0.9951]), hints=(useless,))
    )

    assert with_hint == pytest.approx(plain, abs=1e-5)
