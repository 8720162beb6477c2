from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from webstrata.lab.estimators.registry import ESTIMATORS
from webstrata.predict.prior import ANY_PAGE
from webstrata.predict.visit_history import VisitHistory, visit_history

page = st.lists(st.tuples(st.sampled_from([0.0, 0.25, 1.0, 7.0, 30.0, 400.0]), st.booleans()), max_size=12)


def columns(chosen: list[list[tuple[float, bool]]]) -> VisitHistory:
    flat = [visit for one in chosen for visit in one]
    offsets = np.concatenate([[0], np.cumsum([len(one) for one in chosen])])
    return visit_history(offsets, [t for t, _ in flat], [flag for _, flag in flat])


@pytest.mark.parametrize("name", ESTIMATORS)
@given(st.lists(page, min_size=1, max_size=5))
@settings(deadline=None, max_examples=8)
def test_every_estimator_keeps_its_word(name: str, chosen: list[list[tuple[float, bool]]]) -> None:
    """Rates are not negative and lie in their intervals; each page's answer is the same alone and among others."""
    together = ESTIMATORS[name](columns(chosen), ANY_PAGE)
    known = np.isfinite(together.rate)
    assert (together.rate[known] >= 0).all()
    if together.has_interval:
        assert (together.low[known] <= together.rate[known] * (1 + 1e-9) + 1e-12).all()
        assert (together.high[known] >= together.rate[known] * (1 - 1e-9) - 1e-12).all()
    assert np.isnan(together.low[~known]).all()
    for place, one in enumerate(chosen):
        alone = ESTIMATORS[name](columns([one]), ANY_PAGE)
        for field in ("rate", "error", "low", "high"):
            expected = getattr(together, field)[place]
            assert getattr(alone, field)[0] == pytest.approx(expected, rel=1e-7, abs=1e-12, nan_ok=True)


@pytest.mark.parametrize("name", ESTIMATORS)
def test_no_pages_no_answers(name: str) -> None:
    """No pages at all are answered with nothing."""
    assert ESTIMATORS[name](visit_history([0], [], []), ANY_PAGE).rate.tolist() == []
