"""How the classifiers of the experiments are trained, and what their chances say about the activity levels.

This is what `train` does with a method, without the report on it, because each experiment trains many times.
"""

from __future__ import annotations

import numpy as np

from webstrata.predict.first_sight.evaluation import chances_on_unseen, fitted_trust
from webstrata.predict.first_sight.fitted_trees import trees_of
from webstrata.predict.first_sight.folds import site_parts
from webstrata.predict.first_sight.groups import grouped
from webstrata.predict.first_sight.level_chances import level_chances, levels_at_first_visit
from webstrata.predict.first_sight.methods import fit
from webstrata.predict.first_sight.model import FirstSightModel, ModelOrigin
from webstrata.predict.first_sight.training_pages import TrainingPages

TREE = "tree"
"""Pruned afterwards, as J48 in the paper."""
BOOSTING = "boosting"
"""The method of the default model."""
GROUPS = 4
_LEAST_CHANCE = 0.01


def learned(pages: TrainingPages, method: str) -> FirstSightModel:
    """A classifier with four groups. Its chances are trusted as far as they hold on sites that it did not see."""
    rates, sites = pages.rates, site_parts(pages.site)
    groups = grouped(rates, GROUPS)
    group = groups.of(rates)
    unseen = np.maximum(chances_on_unseen(method, pages.features, group, GROUPS, sites), _LEAST_CHANCE)
    fitted = fit(method, pages.features, group, GROUPS, sites)
    trees, baseline = trees_of(fitted)
    share, levels = level_chances(group, levels_at_first_visit(pages.history), GROUPS)
    return FirstSightModel(
        features=tuple(pages.names[column] for column in fitted.columns),
        groups=groups,
        trees=trees,
        is_boosted=method == BOOSTING,
        baseline=baseline,
        trust=fitted_trust(unseen, group, pages.site).exponent,
        share=share,
        level_chances=levels,
        origin=ModelOrigin(
            pages=len(pages),
            sites=len(set(pages.site)),
            source="",
            method=method,
            error_on_unseen_pages=np.nan,
            error_on_unseen_sites=np.nan,
        ),
    )
