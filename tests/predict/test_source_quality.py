"""The learned quality of sources."""

from __future__ import annotations

import numpy as np
import pytest

from webstrata.predict.source_quality import SourceQuality

SOURCES = SourceQuality()
ONE = np.zeros(1, dtype=np.intp)


def _record(recall: float, noise: float, changing: float = 0.3, visits: int = 600, forecast: float = 0.3) -> np.ndarray:
    """A source that announces this share of the changes, and unchanged pages with this probability."""
    random = np.random.default_rng(4)
    state = SOURCES.start(1)
    for _ in range(visits):
        changed = random.random(1) < changing
        announced = np.where(changed, random.random(1) < recall, False) | (random.random(1) < noise)
        SOURCES.fetched(state, 0, int(announced[0]), 5.0)
        SOURCES.learn(
            state, ONE, np.array([5.0]), announced, changed, np.array([1 - forecast]), np.array([1 - forecast])
        )
    return state


def test_nothing_shown_yet() -> None:
    """A new source has a low quality and an allowance for its first fetches."""
    state = SOURCES.start(1)

    assert SOURCES.precision(state)[0] == pytest.approx(0.25)
    assert SOURCES.recall(state)[0] == pytest.approx(0.25)
    assert SOURCES.proven_recall(state)[0] == pytest.approx(0.25)
    assert SOURCES.max_worth(state)[0] == pytest.approx(1.0)
    assert SOURCES.delay_days(state)[0] == 0.0


def test_a_complete_and_truthful_source() -> None:
    """Precision and recall of a complete and correct source approach 1."""
    state = _record(recall=1.0, noise=0.0)

    assert SOURCES.precision(state)[0] > 0.9
    assert SOURCES.recall(state)[0] > 0.95
    assert SOURCES.max_worth(state)[0] > 0.2


@pytest.mark.parametrize(("recall", "noise"), [(0.0, 0.0), (0.0, 0.3), (0.0, 0.9)])
def test_useless_sources(recall: float, noise: float) -> None:
    """A source that announces nothing, or random pages, gets no fetches, and its announcements have little effect."""
    state = _record(recall, noise)

    assert SOURCES.proven_recall(state)[0] < 0.15
    assert SOURCES.precision(state)[0] < 0.15 or noise == 0.0
    assert SOURCES.max_worth(state)[0] < 0.05


@pytest.mark.parametrize("forecast", [0.1, 0.3, 0.6])
@pytest.mark.parametrize("seed", range(5))
def test_random_sources_are_not_paid_for_by_luck(seed: int, forecast: float) -> None:
    """A random source rarely gets fetches, at any time and however wrong the forecasts are."""
    random = np.random.default_rng(seed)
    state = SOURCES.start(1)
    paid = 0
    for _ in range(1000):
        announced, changed = random.random(1) < 0.3, random.random(1) < 0.3
        paid += int(SOURCES.max_worth(state)[0] > 0.1)
        SOURCES.fetched(state, 0, int(announced[0]), 5.0)
        SOURCES.learn(
            state, ONE, np.array([5.0]), announced, changed, np.array([1 - forecast]), np.array([1 - forecast])
        )
    assert paid < 100


def test_a_few_right_announcements() -> None:
    """Five right announcements of pages that were not expected to change raise the precision above one half."""
    state = SOURCES.start(1)
    five = np.zeros(5, dtype=np.intp)
    SOURCES.fetched(state, 0, 5, 500.0)
    SOURCES.learn(state, five, np.full(5, 5.0), np.ones(5, bool), np.ones(5, bool), np.full(5, 0.9), np.full(5, 0.9))

    assert SOURCES.precision(state)[0] > 0.5
    assert SOURCES.recall(state)[0] > 0.7
    assert SOURCES.max_worth(state)[0] > 2.0


def test_a_low_forecast_credits_no_source() -> None:
    """Where all pages change more than expected, a random source gets no credit for it."""
    state = _record(recall=0.0, noise=0.5, changing=0.6, forecast=0.3)

    assert SOURCES.precision(state)[0] < 0.2


def test_delay() -> None:
    """The delay is the mean lateness of entries that were missing at the previous fetch."""
    state = SOURCES.start(2)
    for _ in range(50):
        SOURCES.dated(state, 1, np.array([2.0, 4.0]))

    assert SOURCES.delay_days(state) == pytest.approx([0.0, 3.0])
    SOURCES.dated(state, 1, np.empty(0))
    assert SOURCES.delay_days(state)[1] == pytest.approx(3.0)
