"""Trees as arrays: the same answers as scikit-learn's."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.tree import DecisionTreeClassifier

from webstrata.predict.first_sight.fitted_trees import trees_of
from webstrata.predict.first_sight.folds import page_parts
from webstrata.predict.first_sight.methods import HELD, Fitted, fit
from webstrata.predict.first_sight.model import FirstSightModel


def test_hand_made_tree(small_model: FirstSightModel) -> None:
    """A feature at the threshold goes left; a missing one where the node says."""
    rows = np.array([[10.0, 0.0], [10.5, 5.5], [10.5, 6.0], [np.nan, 6.0], [11.0, np.nan], [3.0, np.nan]])

    assert small_model.trees.total(rows)[:, 0].tolist() == [0.2, 0.9, 0.4, 0.4, 0.9, 0.2]
    assert small_model.trees.path(rows[4]) == [0, 2, 3]


@pytest.mark.parametrize("method", HELD)
@pytest.mark.parametrize("k", [2, 4])
def test_same_answers_as_scikit_learn(method: str, k: int) -> None:
    """On rows with missing, huge and borderline values, the arrays say what the fitted estimator says."""
    random = np.random.default_rng(k)
    rows = np.round(random.lognormal(3, 2, (500, 6)))
    group = np.clip((np.log1p(rows[:, 0]) + random.normal(0, 1, 500)).astype(np.intp) % k, 0, k - 1)
    rows[random.random(rows.shape) < 0.1] = np.nan
    fitted = fit(method, rows, group, k, page_parts(500))
    trees, baseline = trees_of(fitted)
    asked = np.concatenate([rows, rows * 1.01, np.full((1, 6), np.nan), np.full((1, 6), 1e300)])
    chosen = asked[:, list(fitted.columns)]

    total = trees.total(chosen) + baseline
    ends = [[trees.path(row, tree)[-1] for tree in range(len(trees.roots))] for row in chosen[::50]]

    assert (total - baseline)[::50] == pytest.approx(trees.value[np.array(ends)].sum(axis=1), abs=1e-12)
    expected = fitted.chances(asked)
    if method == "boosting":
        odds = np.exp(total - total.max(axis=1, keepdims=True))
        assert odds / odds.sum(axis=1, keepdims=True) == pytest.approx(expected, abs=1e-4)
    else:
        certain = np.sort(expected, axis=1)[:, -1] - np.sort(expected, axis=1)[:, -2] > 1e-9
        # Our chances are smoothed towards equal ones, which keeps their order.
        assert total.argmax(axis=1)[certain].tolist() == expected.argmax(axis=1)[certain].tolist()


def test_a_group_that_did_not_occur() -> None:
    """Estimators fitted without a group give it no chance that matters."""
    rows = np.arange(80.0)[:, None]
    group = np.where(rows[:, 0] < 40, 0, 2)
    for estimator, method in (
        (DecisionTreeClassifier(), "tree"),
        (HistGradientBoostingClassifier(max_iter=3, max_leaf_nodes=4), "boosting"),
    ):
        estimator.fit(rows, group)
        trees, baseline = trees_of(Fitted(method=method, k=3, columns=(0,), estimator=estimator))

        found = trees.total(rows) + baseline

        assert found.argmax(axis=1).tolist() == group.tolist()
