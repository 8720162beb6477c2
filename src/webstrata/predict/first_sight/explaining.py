"""Why a model puts a page into its group: the path through its tree, and which features count most."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from msgspec import Struct

from webstrata.predict.first_sight.model import FirstSightModel
from webstrata.predict.first_sight.training_pages import Features
from webstrata.predict.first_sight.trees import LEAF

_SHOWN_EFFECTS = 6
_LEAST_EFFECT = 0.005
_INDENT = "  "


class TreeStep(Struct, frozen=True, kw_only=True):
    """One node on the path of a page."""

    feature: str
    value: float | None
    """Of the page; None: not known."""
    threshold: float
    is_above: bool
    """Where the page goes; a page whose value is not known goes where most others went."""


class FeatureEffect(Struct, frozen=True, kw_only=True):
    """What one feature of a page contributes."""

    feature: str
    value: float
    effect: float
    """How much the chance of the page's group falls if this feature is not known."""


class Explanation(Struct, frozen=True, kw_only=True):
    """The class of one page."""

    group: str
    groups: tuple[str, ...]
    balanced: tuple[float, ...]
    """The chances of the groups if all were equally frequent."""
    chances: tuple[float, ...]
    """With the frequency of the groups, and trusted as far as such chances proved right on unseen sites."""
    mean_rate_per_day: float
    """The rate at which the page's belief starts: the mean over the activity levels."""
    path: tuple[TreeStep, ...]
    """Through the tree, if the model is a single tree."""
    effects: tuple[FeatureEffect, ...]
    """Largest first."""
    missing: tuple[str, ...]
    """Features of the model that are not known of this page."""


def explained(model: FirstSightModel, features: Features, level_rates: Features) -> Explanation:
    """Explain the class of the page with these features (one row). `level_rates`: changes per day on each level."""
    row = features.reshape(1, -1)
    group = int(model.groups_of(row)[0])
    known = [number for number, value in enumerate(row[0]) if not np.isnan(value)]
    without = np.repeat(row, len(known), axis=0)
    without[np.arange(len(known)), known] = np.nan
    balanced = model.balanced(row)[0]
    falls = balanced[group] - model.balanced(without)[:, group]
    order = [number for number in np.argsort(-np.abs(falls), kind="stable") if abs(falls[number]) >= _LEAST_EFFECT]
    return Explanation(
        group=model.groups.names[group],
        groups=model.groups.names,
        balanced=tuple(balanced.tolist()),
        chances=tuple(model.chances(row)[0].tolist()),
        mean_rate_per_day=float(model.levels(row)[0] @ level_rates),
        path=() if model.is_boosted else _path(model, row[0]),
        effects=tuple(
            FeatureEffect(
                feature=model.features[known[number]],
                value=float(row[0, known[number]]),
                effect=float(falls[number]),
            )
            for number in order[:_SHOWN_EFFECTS]
        ),
        missing=tuple(name for name, value in zip(model.features, row[0], strict=True) if np.isnan(value)),
    )


def tree_lines(model: FirstSightModel) -> list[str]:
    """The tree as indented text, one line for each branch; empty if the model is not a single tree."""
    if model.is_boosted or len(model.trees.roots) != 1:
        return []
    lines: list[str] = []
    waiting = [(int(model.trees.roots[0]), 0, "")]
    while waiting:
        node, depth, text = waiting.pop()
        if model.trees.feature[node] == LEAF:
            lines.append(f"{_INDENT * max(depth - 1, 0)}{text}{': ' if text else ''}{leaf_text(model, node)}")
            continue
        if text:
            lines.append(f"{_INDENT * (depth - 1)}{text}")
        name, threshold = model.features[model.trees.feature[node]], number_text(float(model.trees.threshold[node]))
        waiting.append((int(model.trees.right[node]), depth + 1, f"{name} > {threshold}"))
        waiting.append((int(model.trees.left[node]), depth + 1, f"{name} <= {threshold}"))
    return lines


def leaf_text(model: FirstSightModel, node: int) -> str:
    """The likeliest group of a node, with its chance."""
    value = model.trees.value[node]
    best = int(np.argmax(value))
    return f"{model.groups.names[best]} ({value[best]:.0%})"


def number_text(value: float) -> str:
    """Three significant digits, or all digits of the whole part."""
    return f"{value:.0f}" if abs(value) >= 100 else f"{value:.3g}"


def _path(model: FirstSightModel, row: Features) -> tuple[TreeStep, ...]:
    trees = model.trees
    passed = trees.path(row)
    return tuple(
        TreeStep(
            feature=model.features[trees.feature[node]],
            value=None if np.isnan(row[trees.feature[node]]) else float(row[trees.feature[node]]),
            threshold=float(trees.threshold[node]),
            is_above=bool(after != trees.left[node]),
        )
        for node, after in pairwise(passed)
    )
