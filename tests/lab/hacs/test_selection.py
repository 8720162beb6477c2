"""Evaluation 1: precision, recall and F1 of selected pages."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from webstrata.lab.hacs.selection import MODELS, THRESHOLDS, best, selected, selection_rows, stacked

_PAGES = st.lists(
    st.tuples(st.one_of(st.just(0.0), st.just(0.7), st.floats(0, 1)), st.booleans()), min_size=1, max_size=12
)


def _at(chance: list[float], updated: list[bool], seed: int = 1) -> dict:  # type: ignore[type-arg]
    return selected(np.array(chance), np.array(updated), np.random.default_rng(seed))


def test_figures_by_hand() -> None:
    """Two dates: the micro average sums the counts, the macro average is the mean of the dates."""
    dates = [_at([0.9, 0.5, 0.1, 0.0], [True, False, True, False]), _at([0.6, 0.2], [False, True])]
    rows = selection_rows(stacked([date["hacs"] for date in dates]), corpus="made", model="hacs", w=1)
    at_half = {row.average: row for row in rows if row.theta == 0.5}

    # 1 of 2 selected, 1 of 2 updated; 0 of 1 selected, 0 of 1 updated
    micro, macro = at_half["micro"], at_half["macro"]
    assert (micro.precision, micro.recall, micro.f1) == pytest.approx((1 / 3, 1 / 3, 1 / 3))
    assert (macro.precision, macro.recall, macro.f1) == pytest.approx((0.25, 0.25, 0.25))


def test_undefined_figures_are_left_out_of_the_mean() -> None:
    """A date without selected pages has no precision, one without updates no recall; undefined at every date is 0."""
    dates = [_at([0.9, 0.1], [True, False]), _at([0.4, 0.1], [False, False])]
    rows = selection_rows(stacked([date["hacs"] for date in dates]), corpus="made", model="hacs", w=1)
    macro = {row.theta: row for row in rows if row.average == "macro"}

    assert (macro[0.5].precision, macro[0.5].recall, macro[0.5].f1) == (1.0, 1.0, 1.0)
    assert (macro[0.0].precision, macro[0.0].recall) == (0.25, 1.0)
    assert (macro[1.0].precision, macro[1.0].recall, macro[1.0].f1) == (0.0, 0.0, 0.0)


def test_pages_at_the_threshold_are_selected() -> None:
    """The probability must be at least θ."""
    pages = _at([0.0, 0.5, 1.0], [True, True, True])["hacs"].pages

    assert pages[THRESHOLDS == 0.0] == 3
    assert pages[THRESHOLDS == 0.5] == 2
    assert pages[THRESHOLDS == 1.0] == 1


@given(st.lists(_PAGES, min_size=1, max_size=4), st.integers(0, 9))
def test_properties(dates: list[list[tuple[float, bool]]], seed: int) -> None:
    """Brute Force has recall 1; at θ = 0 all models are equal; recall never rises with θ; Random selects as many."""
    found = [_at([chance for chance, _ in date], [updated for _, updated in date], seed) for date in dates]
    counts = {model: stacked([date[model] for date in found]) for model in MODELS}
    rows = {
        (model, average): [
            row for row in selection_rows(counts[model], corpus="", model=model, w=1) if row.average == average
        ]
        for model in MODELS
        for average in ("micro", "macro")
    }

    assert (counts["hacs"].pages == counts["random"].pages).all()
    for average in ("micro", "macro"):
        some_updated = any(updated for date in dates for _, updated in date)
        assert {row.recall for row in rows["brute-force", average]} == {float(some_updated)}
        for model in MODELS:
            first, all_pages = rows[model, average][0], rows["brute-force", average][0]
            assert (first.precision, first.recall, first.f1) == (all_pages.precision, all_pages.recall, all_pages.f1)
            recalls = [row.recall for row in rows[model, average]]
            assert all(after <= before + 1e-12 for before, after in pairwise(recalls))
            assert all(0 <= row.f1 <= 1 and 0 <= row.precision <= 1 for row in rows[model, average])


def test_the_best_threshold_is_chosen_by_the_f1_of_hacs() -> None:
    """The baselines are shown at the same threshold; of equal values the lowest is taken."""
    date = _at([0.9, 0.42, 0.1], [True, True, False])
    rows = [row for model in MODELS for row in selection_rows(stacked([date[model]]), corpus="made", model=model, w=2)]
    chosen = best(rows)

    assert {row.theta for row in chosen} == {0.15}
    assert [row.model for row in chosen if row.average == "micro"] == list(MODELS)
