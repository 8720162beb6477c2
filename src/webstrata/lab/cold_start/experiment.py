"""Tables 3 and 5 of "Looking at both the present and the past" on pages of recorded sites.

Each page is watched for the same number of days after its first version. Its true group is the one of its changes in
these days. The groups, the classifiers and the parameters of the historic classifier are learned from some of the
pages; the others are tested, from their first version on:

    pages   two thirds of the pages are learned from, drawn with each seed, and the other third is tested
    sites   five folds of whole sites: each is tested with what the other sites taught

`value` spends the visits that the decision tree with the historic classifier makes on the same pages.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from webstrata.columns import Flags
from webstrata.errors import UsageError
from webstrata.lab.cold_start.final_group import FinalGroups, believed, classified
from webstrata.lab.cold_start.monitored_pages import MonitoredPages
from webstrata.lab.cold_start.rows import PAGES, SITES, ColdStartRow, ErrorCount
from webstrata.lab.cold_start.window_search import best_groups
from webstrata.predict.activity import pooled_activity
from webstrata.predict.first_sight.evaluation import FOLDS
from webstrata.predict.first_sight.folds import folds, site_parts
from webstrata.predict.first_sight.groups import GroupNumbers
from webstrata.predict.first_sight.model import FirstSightModel
from webstrata.predict.first_sight.training_pages import TrainingPages
from webstrata.schedule.textbook.rate_groups import Bayesian, Historic, RateGroup

_TESTED_SHARE = 1 / 3

Learn = Callable[[TrainingPages], FirstSightModel]
"""Trains a classifier on some pages. The tree stands for J48; its chances begin the belief of `value`."""


class ColdStartTables(Struct, frozen=True, kw_only=True):
    """The rows, and the parameters that were found (the paper's Table 4), by split: those of its first test."""

    rows: list[ColdStartRow]
    groups: dict[str, tuple[RateGroup, ...]]


def cold_start_tables(
    pages: MonitoredPages, learn: Learn, seeds: int, on_fold: Callable[[], object] = lambda: None
) -> ColdStartTables:
    """All rows of both splits. Raises UsageError if there are too few pages or changes to learn from."""
    site = site_parts(pages.training.site)
    if site.max(initial=0) < 1:
        raise UsageError("the experiment needs pages of at least two sites.")
    tests = {PAGES: list(_thirds(len(site), seeds)), SITES: list(folds(site, FOLDS))}
    rows: list[ColdStartRow] = []
    groups: dict[str, tuple[RateGroup, ...]] = {}
    for split, masks in tests.items():
        unit = site if split == SITES else np.arange(len(site), dtype=np.intp)
        errors: dict[tuple[str, str], ErrorCount] = {}
        for number, tested in enumerate(masks):
            fold_seeds = [number + 1] if split == PAGES else range(1, seeds + 1)
            fold = _Fold(pages, tested, learn)
            groups.setdefault(split, fold.groups)
            for seed in fold_seeds:
                for key, found in fold.results(seed).items():
                    count = errors.setdefault(key, ErrorCount(unit, len(fold.groups)))
                    count.add(fold.rows, fold.true, found)
            on_fold()
        rows += [count.row(pages.corpus, split, *key) for key, count in errors.items()]
    return ColdStartTables(rows=rows, groups=groups)


def _thirds(pages: int, seeds: int) -> Iterator[Flags]:
    """For each seed the pages that are tested."""
    for seed in range(1, seeds + 1):
        tested = np.zeros(pages, dtype=np.bool_)
        tested[np.random.default_rng(seed).permutation(pages)[: round(pages * _TESTED_SHARE)]] = True
        yield tested


class _Fold:
    """What some pages taught, and the others."""

    def __init__(self, pages: MonitoredPages, tested: Flags, learn: Learn) -> None:
        learned = pages.only(~tested)
        self.tree = learn(learned.training)
        self.intervals = np.array(self.tree.groups.interval_days)
        self.rows = np.flatnonzero(tested)
        self.tested = pages.only(tested)
        self.true: GroupNumbers = self.tree.groups.of(self.tested.training.rates)
        true = self.tree.groups.of(learned.training.rates)
        initial = _drawn(1, len(self.intervals), len(true))
        self.groups = best_groups(self.intervals, initial, true, learned.truth)
        self.usual = int(np.bincount(true, minlength=len(self.intervals)).argmax())

    def results(self, seed: int) -> dict[tuple[str, str], FinalGroups]:
        """By initial class and history, where the tested pages end."""
        number, truth = len(self.rows), self.tested.truth
        features = self.tested.features_for(self.tree.features)
        starts = {
            "random": _drawn(seed, len(self.intervals), number),
            "usual": np.full(number, self.usual, dtype=np.intp),
            "j48": self.tree.groups_of(features),
        }
        found = {
            (name, "none"): FinalGroups(group=initial, visits=np.zeros(number, dtype=np.int64))
            for name, initial in starts.items()
        }
        for name in ("random", "j48"):
            for kind in (Bayesian, Historic):
                found[name, kind.name] = classified(kind, self.groups, starts[name], truth)
        downloads = float(found["j48", Historic.name].visits.sum())
        beliefs = {
            "population": pooled_activity().start(number),
            "first-sight": self.tree.levels(features).astype(np.float32),
        }
        for name, belief in beliefs.items():
            found[name, "value"] = believed(belief, self.tree.groups, downloads, truth)
        return found


def _drawn(seed: int, groups: int, pages: int) -> NDArray[np.intp]:
    return np.random.default_rng(seed).integers(0, groups, pages).astype(np.intp)
