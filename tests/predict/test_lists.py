"""How far sources are believed."""

from __future__ import annotations

import numpy as np
import pytest

from webstrata.predict.lists import Sources

SOURCES = Sources()
ONE = np.zeros(1, dtype=np.intp)


def _record(recall: float, noise: float, changing: float = 0.3, visits: int = 600, forecast: float = 0.3) -> np.ndarray:
    """A source that tells this share of the changes, and of pages that did not change with this chance."""
    random = np.random.default_rng(4)
    state = SOURCES.start(1)
    for _ in range(visits):
        changed = random.random(1) < changing
        told = np.where(changed, random.random(1) < recall, False) | (random.random(1) < noise)
        SOURCES.looked(state, 0, int(told[0]), 5.0)
        SOURCES.learn(state, ONE, np.array([5.0]), told, changed, np.array([1 - forecast]), np.array([1 - forecast]))
    return state


def test_nothing_shown_yet() -> None:
    """A new source gets a chance: it is believed more than not, and its silence for half."""
    state = SOURCES.start(1)

    assert SOURCES.precision(state)[0] == pytest.approx(2 / 3)
    assert SOURCES.recall(state)[0] == pytest.approx(0.5)
    assert SOURCES.proven_recall(state)[0] == pytest.approx(0.5)
    assert SOURCES.delay_days(state)[0] == 0.0


def test_a_complete_and_truthful_source() -> None:
    """Its word and its silence count for nearly everything."""
    state = _record(recall=1.0, noise=0.0)

    assert SOURCES.precision(state)[0] > 0.95
    assert SOURCES.recall(state)[0] > 0.95
    assert SOURCES.most_worth(state)[0] > 0.3


@pytest.mark.parametrize(("recall", "noise"), [(0.0, 0.0), (0.0, 0.3), (0.0, 0.9)])
def test_useless_sources(recall: float, noise: float) -> None:
    """Who tells nothing, or of pages at random, is not paid for, and what is told so moves next to nothing."""
    state = _record(recall, noise)

    assert SOURCES.proven_recall(state)[0] < 0.15
    assert SOURCES.precision(state)[0] < 0.15 or noise == 0.0


def test_a_low_forecast_praises_nobody() -> None:
    """Where pages change more than expected, told of or not, a random source is not taken for a good one."""
    state = _record(recall=0.0, noise=0.5, changing=0.6, forecast=0.3)

    assert SOURCES.precision(state)[0] < 0.2


def test_delay() -> None:
    """Entries that could have stood there earlier tell how late a source is."""
    state = SOURCES.start(2)
    for _ in range(50):
        SOURCES.dated(state, 1, np.array([2.0, 4.0]))

    assert SOURCES.delay_days(state) == pytest.approx([0.0, 3.0])
    SOURCES.dated(state, 1, np.empty(0))
    assert SOURCES.delay_days(state)[1] == pytest.approx(3.0)
