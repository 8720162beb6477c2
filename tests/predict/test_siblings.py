"""Joint events of the pages of a site."""

from __future__ import annotations

import numpy as np
import pytest

from webstrata.predict.siblings import JointEventRates, Siblings

EVENTS = Siblings(JointEventRates(coverage=(0.3, 0.95), per_day=(0.01, 0.002), settled_days=150))
SITE = np.zeros(1, dtype=np.intp)
UNCHANGED = np.array([1 - 0.155261], dtype=np.float32)
"""Probability that a page had no change of its own in three days."""


def _after(*changed: bool) -> tuple[np.ndarray, float]:
    """The belief about day 3 and `quiet` of page 3, after pages of the site were visited one by one on day 3."""
    state = EVENTS.start(1, 0)
    EVENTS.advance(state, 3)
    for flag in changed:
        EVENTS.learn(state, SITE, np.array([0]), 3, np.array([flag]), UNCHANGED)
    return state["events"][0, 3], float(EVENTS.quiet(state, SITE, np.array([0]), 3)[0])


@pytest.mark.parametrize("seed", range(5))
def test_certainty_can_be_taken_back(seed: int) -> None:
    """Probabilities of events stay between 0 and 1 after many pages with and without a change."""
    siblings, random = Siblings(), np.random.default_rng(seed)
    state = siblings.start(1, 0)
    siblings.advance(state, 3)
    for many in (40, 400, 40, 4000):
        changed = np.full(many, many == 40)
        siblings.learn(state, np.zeros(many, np.intp), random.integers(0, 3, many), 3, changed, np.full(many, 0.9))
        events = state["events"][0, 1:4]
        assert (events >= 0).all()
        assert (events.sum(axis=1) <= 1.0 + 1e-6).all()
        assert np.isfinite(state["touched"]).all()


@pytest.mark.parametrize(
    ("changed", "belief", "probability"),
    [
        ((), (0.01, 0.002), 0.167618),
        ((True,), (0.024727, 0.011433), 0.200743),
        ((True, True), (0.052978, 0.054635), 0.315686),
        ((False,), (0.007034, 0.000100), 0.160838),
    ],
)
def test_worked_examples(changed: tuple[bool, ...], belief: tuple[float, float], probability: float) -> None:
    """Changes of siblings make an event and a change of this page likelier, as worked out by hand."""
    events, quiet = _after(*changed)

    assert events == pytest.approx(belief, abs=2e-6)
    assert 1 - UNCHANGED[0] * quiet == pytest.approx(probability, abs=2e-6)


def test_sites_learn_apart_and_order_does_not_matter() -> None:
    """The order of a batch does not matter, and sites are independent."""
    site = np.array([0, 1, 0, 1, 0])
    since = np.array([0, 1, 2, 0, 1])
    changed = np.array([True, False, True, False, True])
    unchanged = np.full(5, 0.8)
    states = []
    for order in (np.arange(5), np.array([4, 2, 0, 1, 3])):
        state = EVENTS.start(3, 0)
        EVENTS.advance(state, 3)
        EVENTS.learn(state, site[order], since[order], 3, changed[order], unchanged[order])
        states.append(state)

    assert np.allclose(states[0]["events"], states[1]["events"], atol=1e-6)
    assert states[0]["events"][0, 3].sum() > 0.012 > states[0]["events"][1, 3].sum()
    assert states[0]["events"][2, 3].sum() == pytest.approx(0.012)


def test_a_site_without_events_forgets_them() -> None:
    """After years without joint changes, a site is expected to have fewer than half of the events of the start."""
    siblings = Siblings()
    state = siblings.start(1, 0)
    before = siblings.quiet_next_day(state)[0]
    for day in range(10, 1500, 10):
        siblings.advance(state, day)
        pages = np.zeros(20, dtype=np.intp)
        siblings.learn(state, pages, np.full(20, day - 10), day, np.zeros(20, dtype=bool), np.full(20, 0.9))

    assert 1 - siblings.quiet_next_day(state)[0] < (1 - before) / 2


def test_long_absence() -> None:
    """A site that was not advanced for years adds only the days of its window, and stays finite."""
    siblings = Siblings()
    state = siblings.start(2, -500)
    siblings.advance(state, 4000)

    quiet = siblings.quiet(state, np.array([0, 1]), np.array([-500, 3999]), 4000)

    assert np.isfinite(quiet).all()
    assert 0 < quiet[0] < quiet[1] < 1
