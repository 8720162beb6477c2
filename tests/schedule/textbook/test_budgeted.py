"""Baselines that share a budget."""

from __future__ import annotations

import numpy as np
import pytest

from webstrata.errors import BadSettings
from webstrata.schedule.policy import LARGEST_STATE
from webstrata.schedule.registry import budgeted_names, budgeted_policy

PAGES = np.array([0, 1], dtype=np.intp)
BASELINES = [name for name in budgeted_names() if name != "value"]


def _after_visits(name: str) -> np.ndarray:
    """Values after 30 days of a fast page (0) and a slow one (1), visited weekly."""
    policy = budgeted_policy(name)
    state = policy.start(2)
    for visit in range(40):
        policy.learn(state, PAGES, np.full(2, 7.0), np.array([visit % 10 != 0, visit % 10 == 0]))
    return policy.value(state, PAGES, 280.0 + 30.0)


@pytest.mark.parametrize(
    ("name", "prefers_fast"),
    [
        ("uniform", None),
        ("proportional", True),
        ("optimal-capture", True),
        ("optimal-freshness", False),
        ("lambdacrawl", True),
    ],
)
def test_what_each_goes_for(name: str, prefers_fast: bool | None) -> None:
    """Proportional and capture prefer the page that changes often, freshness the other one."""
    fast, slow = _after_visits(name)

    assert (fast > slow) == (prefers_fast is True)
    assert (fast < slow) == (prefers_fast is False)


def test_indices_by_the_textbook() -> None:
    """With the rate of eq. 5 for equal intervals, -ln(1 - share) / interval, every index equals its formula."""
    rate = -np.log(1 - 0.1) / 7
    x = rate * 30
    for name, index in (
        ("uniform", 30.0),
        ("proportional", x),
        ("optimal-capture", 1 - (1 + x) * np.exp(-x)),
        ("optimal-freshness", (1 - (1 + x) * np.exp(-x)) / rate),
        ("lambdacrawl", rate * 900 / (1 + x)),
    ):
        assert _after_visits(name)[1] == pytest.approx(index, rel=1e-4), name


@pytest.mark.parametrize("name", BASELINES)
def test_nothing_known_is_finite(name: str) -> None:
    """Pages without any visit, or with visits after no time at all, have finite values; the state is small."""
    policy = budgeted_policy(name)
    state = policy.start(2)
    fresh = policy.value(state, PAGES, 3.0)
    policy.learn(state, PAGES, np.zeros(2), np.array([True, False]))

    assert np.isfinite(fresh).all()
    assert np.isfinite(policy.value(state, PAGES, 3.0)).all()
    assert policy.dtype.itemsize <= LARGEST_STATE
    assert policy.explain(state, 0, 3.0)["age_days"] == 3.0


def test_unknown_names() -> None:
    """An unknown name is refused with the list of known names."""
    with pytest.raises(BadSettings, match="proportional"):
        budgeted_policy("best")
