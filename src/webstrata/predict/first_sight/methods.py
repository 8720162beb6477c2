"""The learning methods that are compared, fitted with scikit-learn (`webstrata[learn]`).

    tree            decision tree, pruned afterwards by cost and complexity, as J48 prunes by its own rule
    tree-selected   the same with the features of a forward search (the wrapper method)
    tree-unpruned   the tree without pruning
    boosting        boosted trees
    naive-bayes     normal distributions of the logarithms of the features
    nearest-1, -2   the nearest one or two pages by these logarithms

Groups are balanced by weights; for the nearest pages, which have no weights, by leaving pages out. Choices within a
method (how far to prune, which features) are made by folds of the pages that are learned from.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from importlib.util import find_spec
from typing import Any

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from webstrata.errors import UsageError
from webstrata.predict.first_sight.folds import Parts, balancing, folds, undersampled
from webstrata.predict.first_sight.groups import GroupNumbers
from webstrata.predict.first_sight.model import Chances
from webstrata.predict.first_sight.training_pages import Features
from webstrata.predict.first_sight.trees import single_precision

HELD = ("tree", "tree-selected", "tree-unpruned", "boosting")
"""The methods whose result a model can hold."""
METHODS = (*HELD, "naive-bayes", "nearest-1", "nearest-2")

_DEEPEST, _LEAST_IN_LEAF = 30, 2
_SEARCH_DEPTH, _SEARCH_GAIN = 6, 0.001
_PENALTIES, _INNER_FOLDS = 12, 3
_BOOSTING = {
    "max_iter": 40,
    "learning_rate": 0.1,
    "max_leaf_nodes": 8,
    "min_samples_leaf": 20,
    "l2_regularization": 1.0,
}


class Fitted(Struct, frozen=True, kw_only=True):
    """A fitted method."""

    method: str
    k: int
    columns: tuple[int, ...]
    """The features that it reads."""
    estimator: Any
    """Of scikit-learn."""

    def chances(self, features: Features) -> Chances:
        """The chances of the groups; 0 for a group that did not occur among the pages that were learned from."""
        found = np.zeros((len(features), self.k))
        with _one_thread():
            chances = self.estimator.predict_proba(_readable(features[:, list(self.columns)]))
        found[:, self.estimator.classes_] = chances
        return found


def require_scikit_learn() -> None:
    """Raise UsageError if scikit-learn is not installed."""
    if find_spec("sklearn") is None:
        raise UsageError("training needs scikit-learn. Install it with `pip install 'webstrata[learn]'`.")


def fit(method: str, features: Features, group: GroupNumbers, k: int, parts: Parts, seed: int = 1) -> Fitted:
    """Learn the groups of pages. `parts`: see `folds`."""
    if method not in METHODS:
        raise UsageError(f"{method!r} is not a method. Choose one of {', '.join(METHODS)}.")
    require_scikit_learn()
    rows = _readable(features)
    rows[:, np.isnan(rows).all(axis=0)] = 0.0  # boosting cannot be fitted to a column without any value
    columns = tuple(range(rows.shape[1]))
    weights = balancing(group, k)
    if method == "tree-selected":
        columns = _selected(rows, group, weights, parts, seed)
        rows = rows[:, list(columns)]
    if method.startswith("nearest-"):
        estimator: Any = _from_logarithms(method, seed)
        kept = undersampled(group, seed)
        estimator.fit(rows[kept], group[kept])
    elif method == "naive-bayes":
        estimator = _from_logarithms(method, seed)
        estimator.fit(rows, group, **{f"{estimator.steps[-1][0]}__sample_weight": weights})
    else:
        penalty = _penalty(rows, group, weights, parts, seed) if method in ("tree", "tree-selected") else 0.0
        estimator = _boosting(seed) if method == "boosting" else _tree(seed, penalty)
        with _one_thread():
            estimator.fit(rows, group, sample_weight=weights)
    return Fitted(method=method, k=k, columns=columns, estimator=estimator)


def _one_thread() -> AbstractContextManager[object]:
    """Boosting would start a thread for each core: sums in another order would give other trees on other machines, and
    waiting threads take much longer than the work if the cores are busy."""
    from threadpoolctl import threadpool_limits

    limited: AbstractContextManager[object] = threadpool_limits(1)
    return limited


def _readable(features: Features) -> NDArray[np.float64]:
    return single_precision(features).astype(np.float64)


def _tree(seed: int, penalty: float = 0.0, deepest: int = _DEEPEST) -> Any:
    from sklearn.tree import DecisionTreeClassifier

    return DecisionTreeClassifier(
        max_depth=deepest, min_samples_leaf=_LEAST_IN_LEAF, ccp_alpha=penalty, random_state=seed
    )


def _boosting(seed: int) -> Any:
    from sklearn.ensemble import HistGradientBoostingClassifier

    return HistGradientBoostingClassifier(**_BOOSTING, early_stopping=False, random_state=seed)


def _from_logarithms(method: str, seed: int) -> Any:
    """Features differ by orders of magnitude, and no distance or normal distribution fits them as they are."""
    from sklearn.impute import SimpleImputer
    from sklearn.naive_bayes import GaussianNB
    from sklearn.neighbors import KNeighborsClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import FunctionTransformer, StandardScaler

    last = (
        GaussianNB(var_smoothing=1e-3)
        if method == "naive-bayes"
        else KNeighborsClassifier(n_neighbors=int(method.removeprefix("nearest-")))
    )
    return make_pipeline(
        SimpleImputer(strategy="median", keep_empty_features=True),
        FunctionTransformer(_logarithm),
        StandardScaler(),
        last,
    )


def _logarithm(values: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.log1p(np.maximum(values, 0.0))


def _penalty(
    rows: NDArray[np.float64], group: GroupNumbers, weights: NDArray[np.float64], parts: Parts, seed: int
) -> float:
    """The complexity penalty with the least error in the inner folds; of equal ones the largest."""
    path = _tree(seed).cost_complexity_pruning_path(rows, group, sample_weight=weights)
    penalties = np.unique(np.quantile(np.maximum(path.ccp_alphas, 0.0), np.linspace(0, 0.98, _PENALTIES)))
    errors = [_inner_error(rows, group, weights, parts, seed, penalty=penalty) for penalty in penalties]
    return float(penalties[len(errors) - 1 - int(np.argmin(errors[::-1]))])


def _selected(
    rows: NDArray[np.float64], group: GroupNumbers, weights: NDArray[np.float64], parts: Parts, seed: int
) -> tuple[int, ...]:
    """Forward search: add the feature with which the inner folds have the least error, while it falls."""
    chosen: list[int] = []
    least = np.inf
    while len(chosen) < rows.shape[1]:
        errors = {
            column: _inner_error(rows[:, [*chosen, column]], group, weights, parts, seed, deepest=_SEARCH_DEPTH)
            for column in range(rows.shape[1])
            if column not in chosen
        }
        best = min(errors, key=lambda column: (errors[column], column))
        if errors[best] > least - _SEARCH_GAIN:
            break
        least = errors[best]
        chosen.append(best)
    return tuple(sorted(chosen))


def _inner_error(
    rows: NDArray[np.float64],
    group: GroupNumbers,
    weights: NDArray[np.float64],
    parts: Parts,
    seed: int,
    *,
    penalty: float = 0.0,
    deepest: int = _DEEPEST,
) -> float:
    wrong = 0.0
    for tested in folds(parts, _INNER_FOLDS, seed):
        tree = _tree(seed, penalty, deepest).fit(rows[~tested], group[~tested], sample_weight=weights[~tested])
        wrong += float(np.sum(weights[tested] * (tree.predict(rows[tested]) != group[tested])))
    return wrong / float(weights.sum())
