"""The contract of policies, for timer policies and value policies.

A new policy is complete when `check_policy(policy)` returns without an AssertionError.
"""

from __future__ import annotations

from typing import cast

import numpy as np

from webstrata.columns import Days, Flags, Rows, State, pack, unpack
from webstrata.schedule.forecast import PageSignals
from webstrata.schedule.policy import LARGEST_STATE, TimerPolicy, ValuePolicy

_PAGES = 40
_VISITS = 60


def check_policy(
    policy: TimerPolicy | ValuePolicy, *, min_days: float = 1.0, max_days: float = 180.0, seed: int = 1
) -> None:
    """Replay seeded histories with a policy made for these bounds. An AssertionError says what it breaks."""
    _check_state(policy)
    if hasattr(policy, "value"):
        check_value_policy(cast(ValuePolicy, policy), seed=seed)
        return
    _check_intervals(policy, min_days, max_days, seed)
    _check_independence(policy, seed)
    _check_order(policy, seed)
    _check_others_untouched(policy, seed)
    _check_rest(policy, seed)


def _history(seed: int) -> list[tuple[Days, Flags]]:
    """Visits of all pages: some never change, some always, most sometimes; after no time at all up to years."""
    random = np.random.default_rng(seed)
    chance = np.concatenate([[0.0, 1.0], random.random(_PAGES - 2)])
    return [
        (random.choice([0.0, 1e-6, 0.5, 1, 7, 30, 180, 4000], size=_PAGES), random.random(_PAGES) < chance)
        for _ in range(_VISITS)
    ]


def _after_history(policy: TimerPolicy | ValuePolicy, seed: int, order: Rows) -> State:
    """The state of all pages after their history, with the rows of each batch in the given order."""
    state = policy.start(_PAGES)
    for elapsed, changed in _history(seed):
        policy.learn(state, order, elapsed[order], changed[order])
    return state


def _check_state(policy: TimerPolicy | ValuePolicy) -> None:
    assert policy.name, "a policy has a name"
    assert policy.dtype.itemsize <= LARGEST_STATE, f"{policy.dtype.itemsize} bytes a page are too many"
    assert not policy.dtype.hasobject, "state must survive as bytes"
    for n in (0, 1, 7):
        state = policy.start(n)
        assert state.shape == (n,), f"start({n}) gave shape {state.shape}"
        assert state.dtype == policy.dtype, "start() gives rows of the policy's dtype"
    assert policy.start(1) is not policy.start(1), "the caller owns the state"


def _check_intervals(policy: TimerPolicy, min_days: float, max_days: float, seed: int) -> None:
    state, rows = policy.start(_PAGES), np.arange(_PAGES)
    for elapsed, changed in _history(seed):
        days = policy.interval(state, rows)
        assert days.shape == rows.shape, "one interval for each row"
        assert np.isfinite(days).all(), "intervals are finite"
        assert ((min_days <= days) & (days <= max_days)).all(), f"intervals stay in [{min_days}, {max_days}] days"
        policy.learn(state, rows, elapsed, changed)


def _check_independence(policy: TimerPolicy, seed: int) -> None:
    """Random subsets of pages learn together; each page then has the state that it would have alone."""
    random = np.random.default_rng(seed)
    together = policy.start(_PAGES)
    alone = [policy.start(1) for _ in range(_PAGES)]
    for elapsed, changed in _history(seed):
        rows = np.flatnonzero(random.random(_PAGES) < 0.5)
        policy.learn(together, rows, elapsed[rows], changed[rows])
        for page in rows.tolist():
            policy.learn(alone[page], np.array([0]), elapsed[page : page + 1], changed[page : page + 1])
    days = policy.interval(together, np.arange(_PAGES))
    for page in range(_PAGES):
        assert alone[page][0].tobytes() == together[page].tobytes(), "one page is a batch of one"
        assert policy.interval(alone[page], np.array([0]))[0] == days[page], "intervals do not depend on one another"


def _check_order(policy: TimerPolicy, seed: int) -> None:
    shuffled = np.random.default_rng(seed).permutation(_PAGES)
    ordered, other = _after_history(policy, seed, np.arange(_PAGES)), _after_history(policy, seed, shuffled)
    assert ordered.tobytes() == other.tobytes(), "the order of rows in a batch does not matter"


def _check_others_untouched(policy: TimerPolicy, seed: int) -> None:
    state = _after_history(policy, seed, np.arange(_PAGES))
    before = state.copy()
    rows = np.array([3, 17, 5])
    elapsed, changed = np.array([1.0, 2.0, 3.0]), np.array([True, False, True])
    inputs = rows.copy(), elapsed.copy(), changed.copy()
    policy.learn(state, rows, elapsed, changed)
    for kept, now in zip(inputs, (rows, elapsed, changed), strict=True):
        assert (kept == now).all(), "learn() leaves its inputs as they are"
    others = np.setdiff1d(np.arange(_PAGES), rows)
    assert state[others].tobytes() == before[others].tobytes(), "learn() touches only the rows given"
    learned = state.tobytes()
    policy.interval(state, rows)
    policy.explain(state, 3)
    assert state.tobytes() == learned, "interval() and explain() only read"
    policy.learn(state, np.array([], dtype=np.intp), np.array([]), np.array([], dtype=bool))
    assert state.tobytes() == learned, "an empty batch teaches nothing"


def _check_evidence(evidence: dict[str, object]) -> None:
    assert evidence, "explain() gives evidence"
    assert all(isinstance(key, str) for key in evidence), "evidence has names as keys"


def _check_rest(policy: TimerPolicy, seed: int) -> None:
    state = _after_history(policy, seed, np.arange(_PAGES))
    rows = np.arange(_PAGES)
    back = unpack(pack(state), policy.start(_PAGES))
    assert (policy.interval(back, rows) == policy.interval(state, rows)).all(), "state survives the store"
    _check_evidence(policy.explain(state, 0))


# ── policies that value visits ──────────────────────────────────────────────────────────────────────────────


def check_value_policy(policy: ValuePolicy, *, seed: int = 1) -> None:
    """The same for a value policy; `check_policy` calls it."""
    assert "seen_at" in (policy.dtype.names or ()), "the state has a column `seen_at`: the day of the last visit"
    assert policy.first_price > 0, "the first price is positive"
    _check_values(policy, seed)
    _check_values_alone(policy, seed)
    _check_values_only_read(policy, seed)
    _check_values_rest(policy, seed)
    _check_beliefs(policy)
    if policy.has_forecast:
        _check_forecast(policy, seed)


def _value_state(policy: ValuePolicy, seed: int, order: Rows) -> tuple[State, float]:
    """The state of all pages after their history, and the day on which it ends."""
    state = _after_history(policy, seed, order)
    return state, float(state["seen_at"].max())


def _check_values(policy: ValuePolicy, seed: int) -> None:
    rows = np.arange(_PAGES)
    first = policy.start(_PAGES, 5.0)
    assert (policy.age(first, rows, 5.0) == 0).all(), "the age of a page that was just copied is 0"
    assert (policy.age(first, rows, 7.5) == 2.5).all(), "the age grows by one each day"
    assert (policy.age(first, rows, 1.0) == 0).all(), "ages are not negative"
    state, now = _value_state(policy, seed, rows)
    for later in (0.0, 0.01, 1.0, 30.0, 500.0):
        worth = policy.value(state, rows, now + later)
        assert worth.shape == rows.shape, "one value for each row"
        assert np.isfinite(worth).all(), "values are finite"
        assert (worth >= 0).all(), "values are not negative"


def _check_values_alone(policy: ValuePolicy, seed: int) -> None:
    rows, shuffled = np.arange(_PAGES), np.random.default_rng(seed).permutation(_PAGES)
    state, now = _value_state(policy, seed, rows)
    other, _ = _value_state(policy, seed, shuffled)
    assert np.allclose(policy.value(state, rows, now), policy.value(other, rows, now)), (
        "the order of rows has no effect"
    )
    worth = policy.value(state, rows, now)
    for page in (0, 1, _PAGES - 1):
        alone = policy.value(state, np.array([page]), now)
        assert np.allclose(alone, worth[page]), "values do not depend on one another"


def _check_values_only_read(policy: ValuePolicy, seed: int) -> None:
    state, now = _value_state(policy, seed, np.arange(_PAGES))
    before = state.copy()
    rows = np.array([3, 17, 5])
    policy.value(state, rows, now)
    policy.age(state, rows, now)
    _check_evidence(policy.explain(state, 3, now))
    assert state.tobytes() == before.tobytes(), "value(), age() and explain() only read"
    policy.learn(state, rows, np.array([1.0, 2.0, 3.0]), np.array([True, False, True]))
    others = np.setdiff1d(np.arange(_PAGES), rows)
    assert state[others].tobytes() == before[others].tobytes(), "learn() touches only the rows given"
    grown = state["seen_at"][rows] - before["seen_at"][rows]
    assert np.allclose(grown, [1.0, 2.0, 3.0]), "learn() adds the elapsed days to `seen_at`"


def _check_values_rest(policy: ValuePolicy, seed: int) -> None:
    state, now = _value_state(policy, seed, np.arange(_PAGES))
    back = unpack(pack(state), policy.start(_PAGES))
    rows = np.arange(_PAGES)
    assert (policy.value(back, rows, now) == policy.value(state, rows, now)).all(), "state survives the store"


def _check_beliefs(policy: ValuePolicy) -> None:
    state = policy.start(_PAGES, 5.0)
    rows = np.array([3, 17, 5])
    levels = policy.beliefs(state, rows)
    if levels is None:
        return
    before = state.copy()
    assert np.allclose(levels.sum(axis=1), 1.0), "beliefs are probabilities of levels"
    certain = np.zeros_like(levels)
    certain[:, 0] = 1.0
    policy.expect(state, rows, certain)
    found = policy.beliefs(state, rows)
    assert found is not None, "beliefs() still gives beliefs"
    assert np.allclose(found, certain), "expect() sets the beliefs of the rows given"
    others = np.setdiff1d(np.arange(_PAGES), rows)
    assert state[others].tobytes() == before[others].tobytes(), "expect() touches only the rows given"


def _check_forecast(policy: ValuePolicy, seed: int) -> None:
    rows = np.arange(_PAGES)
    state, now = _value_state(policy, seed, rows)
    for later in (0.0, 0.5, 3.0, 40.0):
        age = policy.age(state, rows, now + later)
        forecast = policy.forecast(state, rows, age)
        numbers = dict(zip(("unchanged", "density", "rate"), forecast.changes_at(age), strict=True))
        for name, column in numbers.items():
            assert column.shape == rows.shape, f"one {name} for each row"
            assert (column >= -1e-5).all(), f"{name} is not negative"
        assert (numbers["unchanged"] <= 1 + 1e-5).all(), "unchanged is a probability"
        assert np.allclose(policy.worth(forecast, age), policy.value(state, rows, now + later), atol=1e-6), (
            "worth() of the forecast is value()"
        )
        quiet = np.full(_PAGES, 0.5, dtype=np.float32)
        with_event = policy.worth(forecast, age, PageSignals(quiet=quiet, quiet_next_day=quiet))
        assert np.isfinite(with_event).all(), "values are finite with signals"
    learned = state.copy()
    policy.learn(learned, rows, np.ones(_PAGES), rows % 2 == 0, PageSignals(quiet=quiet, quiet_next_day=quiet))
    assert np.isfinite(policy.value(learned, rows, now + 41.0)).all(), "learn() accepts signals"
