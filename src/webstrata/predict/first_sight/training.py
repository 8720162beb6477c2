"""Trains a model: groups, the methods compared on unseen pages and unseen sites, and the chosen one as a model."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from msgspec import Struct

from webstrata.errors import UsageError
from webstrata.predict.first_sight.evaluation import (
    ErrorRate,
    chances_on_unseen,
    confusion,
    error_rate,
    fitted_trust,
    importance,
)
from webstrata.predict.first_sight.fitted_trees import trees_of
from webstrata.predict.first_sight.folds import page_parts, site_parts
from webstrata.predict.first_sight.groups import group_sizes
from webstrata.predict.first_sight.level_chances import level_chances, levels_at_first_visit
from webstrata.predict.first_sight.methods import HELD, METHODS, fit
from webstrata.predict.first_sight.model import LEAST_CHANCE, FirstSightModel, ModelOrigin
from webstrata.predict.first_sight.training_pages import TrainingPages

FEWEST_PAGES, FEWEST_CHANGED, FEWEST_SITES = 40, 10, 2
BEST = "best"


class MethodErrors(Struct, frozen=True, kw_only=True):
    """The errors of one method."""

    method: str
    unseen_pages: ErrorRate
    unseen_sites: ErrorRate
    can_be_held: bool
    """Whether a model can hold what the method learns."""


class FeatureImportance(Struct, frozen=True, kw_only=True):
    """How much the chosen method relies on a feature."""

    feature: str
    rise: float
    """By how much the error on unseen sites rises if the values of the feature are shuffled."""


class TrainingReport(Struct, frozen=True, kw_only=True):
    """What training has found."""

    pages: int
    sites: int
    changed_pages: int
    groups: tuple[str, ...]
    """Fastest first."""
    pages_by_group: tuple[int, ...]
    random_error: float
    """Of a guess that ignores the page."""
    methods: tuple[MethodErrors, ...]
    chosen: str
    confusion: tuple[tuple[int, ...], ...]
    """True groups by found groups, on unseen sites."""
    importance: tuple[FeatureImportance, ...]
    """Largest rise first."""
    trust: float
    gained_bits: float
    """How much less the group of a page of an unseen site surprises if its features are known, in bits."""


class Training(Struct, frozen=True, kw_only=True):
    """A model and how it was found."""

    model: FirstSightModel
    report: TrainingReport


def train(
    pages: TrainingPages,
    *,
    k: int = 4,
    method: str = BEST,
    compared: Sequence[str] = METHODS,
    source: str = "",
    seed: int = 1,
    on_step: Callable[[str], object] = lambda _: None,
) -> Training:
    """Learn from these pages. With `best`, the model is that of the method with the least error on unseen sites among
    those that a model can hold. `on_step` is called with the name of each method and step."""
    _require_enough(pages, method)
    sizes = group_sizes(pages.rates, k)
    group = sizes.groups.of(pages.rates)
    columns = np.flatnonzero(_is_useful(pages))
    if not len(columns):
        raise UsageError("all pages have the same features, so there is nothing to learn. Name more pages.")
    features = pages.features[:, columns]
    by_site, by_page = site_parts(pages.site), page_parts(len(pages))
    unseen = {}
    rows = []
    for one in dict.fromkeys((*compared, method)) if method != BEST else compared:
        on_step(one)
        on_pages = np.argmax(chances_on_unseen(one, features, group, k, by_page, seed), axis=1)
        unseen[one] = chances_on_unseen(one, features, group, k, by_site, seed)
        rows.append(
            MethodErrors(
                method=one,
                unseen_pages=error_rate(group, on_pages, k, by_page, seed),
                unseen_sites=error_rate(group, np.argmax(unseen[one], axis=1), k, by_site, seed),
                can_be_held=one in HELD,
            )
        )
    held = [row for row in rows if row.can_be_held]
    chosen = min(held, key=lambda row: row.unseen_sites.error) if method == BEST else _row_of(method, rows)
    on_step("model")
    trust = fitted_trust(np.maximum(unseen[chosen.method], LEAST_CHANCE), group, pages.site)
    fitted = fit(chosen.method, features, group, k, by_site, seed)
    trees, baseline = trees_of(fitted)
    share, levels = level_chances(group, levels_at_first_visit(pages.history), k)
    names = [pages.names[column] for column in columns]
    model = FirstSightModel(
        features=tuple(names[column] for column in fitted.columns),
        groups=sizes.groups,
        trees=trees,
        is_boosted=chosen.method == "boosting",
        baseline=baseline,
        trust=trust.exponent,
        share=share,
        level_chances=levels,
        origin=ModelOrigin(
            pages=len(pages),
            sites=len(set(pages.site)),
            source=source,
            method=chosen.method,
            error_on_unseen_pages=chosen.unseen_pages.error,
            error_on_unseen_sites=chosen.unseen_sites.error,
        ),
    )
    rises = importance(chosen.method, features, group, k, by_site, seed)
    order = np.argsort(-rises, kind="stable")
    return Training(
        model=model,
        report=TrainingReport(
            pages=len(pages),
            sites=len(set(pages.site)),
            changed_pages=int(np.count_nonzero(pages.rates > 0)),
            groups=sizes.groups.names,
            pages_by_group=sizes.pages,
            random_error=1.0 - 1.0 / k,
            methods=tuple(rows),
            chosen=chosen.method,
            confusion=tuple(
                tuple(row) for row in confusion(group, np.argmax(unseen[chosen.method], axis=1), k).tolist()
            ),
            importance=tuple(FeatureImportance(feature=names[one], rise=float(rises[one])) for one in order),
            trust=trust.exponent,
            gained_bits=trust.gained_bits,
        ),
    )


def _row_of(method: str, rows: Sequence[MethodErrors]) -> MethodErrors:
    return next(row for row in rows if row.method == method)


def _require_enough(pages: TrainingPages, method: str) -> None:
    if method not in (BEST, *HELD):
        raise UsageError(f"a model cannot hold {method!r}. Choose one of {', '.join((BEST, *HELD))}.")
    changed, sites = int(np.count_nonzero(pages.rates > 0)), len(set(pages.site))
    if len(pages) < FEWEST_PAGES or changed < FEWEST_CHANGED or sites < FEWEST_SITES:
        raise UsageError(
            f"{len(pages)} usable pages of {sites} sites, {changed} of them with changes: training needs at least "
            f"{FEWEST_PAGES} pages of {FEWEST_SITES} sites, {FEWEST_CHANGED} with changes. Visit the pages for longer, "
            "import copies of them with `webstrata import`, or learn from recorded sites with --recorded."
        )


def _is_useful(pages: TrainingPages) -> list[bool]:
    """Whether a feature has different values; where it is missing counts as no value."""
    return [len(np.unique(column[~np.isnan(column)])) > 1 for column in pages.features.T]
