"""Both evaluations over dates and windows."""

from __future__ import annotations

import numpy as np
import pytest

from tests.lab.hacs.hand_made import timeline
from tests.lab.policies.made_histories import made
from webstrata.lab.hacs.evaluation import evaluate
from webstrata.lab.hacs.selection import MODELS, THRESHOLDS
from webstrata.lab.hacs.timeline import sampled_timelines


def test_two_dates_by_hand() -> None:
    """Pages are relevant if they are updated in (t, t + e]; only dates and pages with copies in the window count."""
    pages = timeline(
        ([(-7, False), (0, True), (5, False), (7, True)], [-1.0, 6.0, 7.0]),  # updated in (0, 7], not in (7, 14]
        ([(-6, False), (-1, False), (6, False)], [0.0, 14.0]),  # not in (0, 7]: 0 is excluded; in (7, 14]
        ([(100, False)], [3.0]),
        days=14.0,
    )
    found = evaluate([pages], weeks=[1], ahead_days=7.0, seed=1)
    figures = {
        (row.theta, row.average): (row.precision, row.recall, row.f1) for row in found.rows if row.model == "hacs"
    }

    # Page 0: at day 0 λ = ln 3 / 3.5 (eq. 4), τ = -3.5, p = 1 - 1 / 27; at day 7 λ = ln 1.2, τ = 6, p = 1 - 1.2 ** -8,
    # which is .767. Page 1 has p = 0 at both dates.
    assert figures[0.0, "micro"] == pytest.approx((2 / 4, 1.0, 2 / 3))
    assert figures[0.75, "micro"] == figures[0.75, "macro"] == pytest.approx((1 / 2, 1 / 2, 1 / 2))
    assert figures[0.9, "micro"] == pytest.approx((1.0, 1 / 2, 2 / 3))
    assert figures[0.9, "macro"] == pytest.approx((1.0, 1 / 2, 1 / 2))
    assert {row.model: row.p_at_k for row in found.ranking}["hacs"] == pytest.approx(
        (1.0 + (1 / np.log2(3)) / (1 + 1 / np.log2(3))) / 2
    )


def test_made_histories() -> None:
    """HACS is better than its baselines on pages with different rates; the same seed gives the same figures."""
    timelines = sampled_timelines(made(40, 500), 1)
    found = evaluate(timelines, weeks=[4, 12], ahead_days=7.0, seed=1)
    again = evaluate(timelines, weeks=[4, 12], ahead_days=7.0, seed=1)

    assert found == again
    assert len(found.rows) == 2 * 2 * len(MODELS) * len(THRESHOLDS)
    best = {
        model: max(row.f1 for row in found.rows if row.model == model and row.average == "micro") for model in MODELS
    }
    assert best["hacs"] > 1.2 * best["brute-force"]
    p_at_k = {row.model: row.p_at_k for row in found.ranking if row.w == 12}
    assert p_at_k["hacs"] > p_at_k["random"] + 0.1
    assert p_at_k["last-obs"] < p_at_k["random"]


def test_corpora_without_copies_have_no_rows() -> None:
    """There is nothing to evaluate."""
    found = evaluate([timeline(([], [1.0])), timeline()], weeks=[1, 2], ahead_days=7.0, seed=1)

    assert found.rows == []
    assert found.ranking == []
