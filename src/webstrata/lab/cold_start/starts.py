"""What each watched page is believed to be like at its first visit, by classifiers that did not learn from it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from webstrata.clock import DAY_S
from webstrata.columns import Flags
from webstrata.errors import UsageError
from webstrata.lab.cold_start.experiment import Learn
from webstrata.lab.cold_start.rows import PAGES, SITES
from webstrata.lab.cold_start.schedule_run import FIRST_SIGHT, POPULATION, TRUE_GROUP, Starts
from webstrata.lab.cold_start.watched_sites import WatchedSites
from webstrata.predict.activity import pooled_activity
from webstrata.predict.first_sight.evaluation import FOLDS
from webstrata.predict.first_sight.folds import Parts, folds, page_parts, site_parts
from webstrata.predict.first_sight.training_pages import TrainingPages, feature_rows


def starts_by_fold(
    watched: WatchedSites,
    training: TrainingPages,
    learn: Learn,
    split: str,
    on_fold: Callable[[], object] = lambda: None,
) -> Starts:
    """The beliefs about all pages. With the split `sites`, no page of the same site was learned from; with `pages`, not
    the page itself. The true group is the one of the page's changes while it is watched."""
    histories = watched.histories
    parts = _parts(histories.site, split)
    if parts.max(initial=0) < 1:
        raise UsageError("the experiment needs pages of at least two sites.")
    days = (histories.until - histories.first) / DAY_S
    rates = np.diff(histories.offsets) / days
    population = pooled_activity().start(len(histories))
    first_sight, true_group = population.copy(), population.copy()
    for tested in folds(parts, FOLDS):
        model = learn(training.only(_others(training, watched, tested, split)))
        rows = np.flatnonzero(tested)
        features = feature_rows([watched.features[row] for row in rows.tolist()], model.features)
        first_sight[rows] = model.levels(features)
        true_group[rows] = model.level_chances[model.groups.of(rates[rows])]
        on_fold()
    return {POPULATION: population, FIRST_SIGHT: first_sight, TRUE_GROUP: true_group}


def _parts(sites: list[str], split: str) -> Parts:
    return site_parts(sites) if split == SITES else page_parts(len(sites))


def _others(training: TrainingPages, watched: WatchedSites, tested: Flags, split: str) -> Flags:
    """The pages that may be learned from."""
    rows = np.flatnonzero(tested).tolist()
    if split == PAGES:
        pages = {watched.histories.page[row] for row in rows}
        return np.array(
            [f"{site}/{page}" not in pages for site, page in zip(training.site, training.page, strict=True)]
        )
    sites = {watched.histories.site[row] for row in rows}
    return np.array([site not in sites for site in training.site])
