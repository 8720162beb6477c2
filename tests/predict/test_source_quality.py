"""The learned quality of sources."""

from __future__ import annotations

import numpy as np
import pytest

from webstrata.predict.source_quality import SourceQuality, read_counts

SOURCES = SourceQuality()
ONE = np.zeros(1, dtype=np.intp)


def _read(state: np.ndarray, entries: int, page_days: float) -> None:
    SOURCES.read(state, 0, read_counts(pages=1, days=page_days, entries=entries, late_days=np.empty(0)))


def _record(recall: float, noise: float, changing: float = 0.3, visits: int = 600, forecast: float = 0.3) -> np.ndarray:
    """A source that announces this share of the changes, and unchanged pages with this probability."""
    random = np.random.default_rng(4)
    state = SOURCES.start(1)
    for _ in range(visits):
        changed = random.random(1) < changing
        announced = np.where(changed, random.random(1) < recall, False) | (random.random(1) < noise)
        _read(state, int(announced[0]), 5.0)
        expected = np.array([1 - forecast])
        SOURCES.add(state, SOURCES.visit_counts(1, ONE, np.array([5.0]), announced, changed, expected, expected))
    return state


def test_nothing_shown_yet() -> None:
    """A new source has a low quality and no record, and there is no doubt about it yet."""
    state = SOURCES.start(1)

    assert SOURCES.precision(state)[0] == pytest.approx(0.25)
    assert SOURCES.recall(state)[0] == pytest.approx(0.25)
    assert SOURCES.proven_recall(state)[0] == pytest.approx(0.25)
    assert SOURCES.proven_worth(state)[0] == 0.0
    assert SOURCES.doubt(state)[0] == 1.0
    assert SOURCES.delay_days(state)[0] == 0.0


def test_a_complete_and_truthful_source() -> None:
    """Precision and recall of a complete and correct source approach 1."""
    state = _record(recall=1.0, noise=0.0)

    assert SOURCES.precision(state)[0] > 0.9
    assert SOURCES.recall(state)[0] > 0.95
    assert SOURCES.proven_worth(state)[0] > 0.2
    assert SOURCES.doubt(state)[0] == pytest.approx(1.0)


@pytest.mark.parametrize(("recall", "noise"), [(0.0, 0.0), (0.0, 0.3), (0.0, 0.9)])
def test_useless_sources(recall: float, noise: float) -> None:
    """A source that announces nothing, or random pages, gets no reads, and its announcements have little effect."""
    state = _record(recall, noise)

    assert SOURCES.proven_recall(state)[0] < 0.15
    assert SOURCES.precision(state)[0] < 0.15 or noise == 0.0
    assert SOURCES.proven_worth(state)[0] < 0.05
    assert SOURCES.doubt(state)[0] > 10.0


@pytest.mark.parametrize("forecast", [0.1, 0.3, 0.6])
@pytest.mark.parametrize("seed", range(5))
def test_random_sources_are_not_paid_for_by_luck(seed: int, forecast: float) -> None:
    """A random source rarely gets reads, at any time and however wrong the forecasts are."""
    random = np.random.default_rng(seed)
    state = SOURCES.start(1)
    paid = 0
    for _ in range(1000):
        announced, changed = random.random(1) < 0.3, random.random(1) < 0.3
        paid += int(SOURCES.proven_worth(state)[0] > 0.1)
        _read(state, int(announced[0]), 5.0)
        expected = np.array([1 - forecast])
        SOURCES.add(state, SOURCES.visit_counts(1, ONE, np.array([5.0]), announced, changed, expected, expected))
    assert paid < 100


def test_a_few_right_announcements() -> None:
    """Five right announcements of pages that were not expected to change raise the precision above one half."""
    state = SOURCES.start(1)
    five = np.zeros(5, dtype=np.intp)
    _read(state, 5, 500.0)
    yes, unchanged = np.ones(5, bool), np.full(5, 0.9)
    SOURCES.add(state, SOURCES.visit_counts(1, five, np.full(5, 5.0), yes, yes, unchanged, unchanged))

    assert SOURCES.precision(state)[0] > 0.5
    assert SOURCES.recall(state)[0] > 0.7
    assert SOURCES.proven_worth(state)[0] > 2.0


def test_a_low_forecast_credits_no_source() -> None:
    """Where all pages change more than expected, a random source gets no credit for it."""
    state = _record(recall=0.0, noise=0.5, changing=0.6, forecast=0.3)

    assert SOURCES.precision(state)[0] < 0.2


def test_delay() -> None:
    """The delay is the mean lateness of entries that were missing at the previous read; dates after it are not late."""
    state = SOURCES.start(2)
    for _ in range(50):
        SOURCES.read(state, 1, read_counts(pages=9, days=7.0, entries=3, late_days=np.array([2.0, 7.0, -4.0])))

    assert SOURCES.delay_days(state) == pytest.approx([0.0, 3.0])
    SOURCES.read(state, 1, read_counts(pages=9, days=7.0, entries=0, late_days=np.empty(0)))
    assert SOURCES.delay_days(state)[1] == pytest.approx(3.0)


def test_discoveries() -> None:
    """The rate of new pages starts at a low prior and follows the reads that found some."""
    state = SOURCES.start(2)
    for _ in range(60):
        added = read_counts(pages=9, days=1.0, entries=0, late_days=np.empty(0), discovered=2)
        SOURCES.read(state, 1, added)

    assert SOURCES.discoveries_per_day(state)[0] == pytest.approx(0.5 / 30)
    assert 1.2 < SOURCES.discoveries_per_day(state)[1] < 2.0


def test_trust_is_what_a_source_brings_beyond_the_expectation() -> None:
    """A random source whose pages change at most visits anyway is right in most cases, and not trusted."""
    lucky = _record(recall=0.0, noise=0.5, changing=0.75, forecast=0.75)
    good = _record(recall=1.0, noise=0.0)

    assert lucky["announced_changed"][0] / lucky["announced"][0] > 0.7
    assert SOURCES.trusted(np.concatenate([lucky, good, SOURCES.start(1)])).tolist() == [False, True, False]
