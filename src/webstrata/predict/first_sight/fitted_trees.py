"""The trees that scikit-learn has fitted, as plain arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from webstrata.predict.first_sight.methods import Fitted
from webstrata.predict.first_sight.trees import LEAF, Trees

_DIGITS = 6


def trees_of(fitted: Fitted) -> tuple[Trees, tuple[float, ...]]:
    """The trees of a fitted method, and what is added to the sum of boosted trees."""
    if fitted.method == "boosting":
        return _boosted(fitted)
    return _single(fitted), (0.0,) * fitted.k


def _single(fitted: Fitted) -> Trees:
    """In each node the chances of the groups, with one page of each group added: no leaf is certain."""
    tree = fitted.estimator.tree_
    pages = tree.n_node_samples[:, None]
    value = np.zeros((tree.node_count, fitted.k))
    value[:, fitted.estimator.classes_] = tree.value[:, 0, :]
    value /= value.sum(axis=1, keepdims=True)
    chances = (value * pages + 1.0) / (pages + fitted.k)
    leaf = tree.children_left < 0
    return Trees(
        roots=np.zeros(1, dtype=np.int32),
        feature=np.where(leaf, LEAF, tree.feature).astype(np.int32),
        threshold=np.where(leaf, 0.0, tree.threshold),
        left=np.where(leaf, LEAF, tree.children_left).astype(np.int32),
        right=np.where(leaf, LEAF, tree.children_right).astype(np.int32),
        missing_left=np.where(leaf, False, tree.missing_go_to_left.astype(np.bool_)),
        value=chances,
    )


def _boosted(fitted: Fitted) -> tuple[Trees, tuple[float, ...]]:
    """Each tree adds to the logarithm of one group; with two groups to that of the second."""
    classes = fitted.estimator.classes_
    parts: list[dict[str, NDArray[Any]]] = []
    roots, first = [], 0
    for iteration in fitted.estimator._predictors:
        for number, predictor in enumerate(iteration):
            nodes = predictor.nodes
            group = classes[number] if len(classes) > 2 else classes[1]
            leaf = nodes["is_leaf"].astype(np.bool_)
            value = np.zeros((len(nodes), fitted.k))
            value[leaf, group] = np.round(nodes["value"][leaf], _DIGITS)
            parts.append(
                {
                    "feature": np.where(leaf, LEAF, nodes["feature_idx"]).astype(np.int32),
                    "threshold": np.where(leaf, 0.0, nodes["num_threshold"]),
                    "left": np.where(leaf, LEAF, nodes["left"].astype(np.int64) + first).astype(np.int32),
                    "right": np.where(leaf, LEAF, nodes["right"].astype(np.int64) + first).astype(np.int32),
                    "missing_left": ~leaf & nodes["missing_go_to_left"].astype(np.bool_),
                    "value": value,
                }
            )
            roots.append(first)
            first += len(nodes)
    baseline = np.full(fitted.k, -30.0)  # a group that did not occur
    start = fitted.estimator._baseline_prediction.ravel()
    baseline[classes] = start if len(classes) > 2 else (0.0, start[0])
    arrays = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    return Trees(roots=np.array(roots, dtype=np.int32), **arrays), tuple(float(one) for one in baseline)
