"""The value of a visit."""

from __future__ import annotations

import numpy as np
import pytest

from webstrata.errors import BadSettings
from webstrata.predict.activity import Activity, Levels
from webstrata.schedule.forecast import PageSignals, SourceHints, changed_given
from webstrata.schedule.policy import LARGEST_STATE
from webstrata.schedule.value import Value

TOY = Levels(chance=(0.01, 0.3), start=(0.8, 0.2), moves=({1: 0.01}, {0: 0.05}))
ROW = np.array([0], dtype=np.intp)


def _signals(quiet: float, quiet_next_day: float = 0.9951) -> PageSignals:
    return PageSignals(quiet=np.array([quiet]), quiet_next_day=np.array([quiet_next_day]))


@pytest.mark.parametrize(
    ("quiet", "worth"),
    [(0.9951**3, 0.169954), (0.981721**3, 0.184389), (0.932204**3, 0.240805), (0.997794**3, 0.167094)],
)
def test_worked_examples(quiet: float, worth: float) -> None:
    """With two levels, three days and site events, the value equals the one worked out by hand."""
    policy = Value(Activity(TOY))

    value = policy.value(policy.start(1), ROW, 3.0, _signals(quiet))

    assert value[0] == pytest.approx(worth, abs=2e-5)


def test_a_steady_page() -> None:
    """For a page with one constant rate, the value is the textbook index for captured changes."""
    policy = Value(Activity(Levels(chance=(0.05,), start=(1.0,), moves=({},))))
    x = -np.log1p(-0.05) * 20

    value = policy.value(policy.start(1), ROW, 20.0)

    assert value[0] == pytest.approx(1 - (1 + x) * np.exp(-x), abs=2e-3)


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
