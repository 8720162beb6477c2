"""Figure 2 and Table 1 of "Looking at both the present and the past" on recorded sites.

Table 1 is made as in the paper: of each group as many pages as the smallest has, two thirds to learn from and one third
to test. Beside it stand the errors of five folds over all pages, of single pages and of whole sites.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

import numpy as np
from msgspec import Struct

from webstrata.predict.first_sight.evaluation import ErrorRate, error_rate
from webstrata.predict.first_sight.folds import page_parts, undersampled
from webstrata.predict.first_sight.groups import FEWEST, MOST, GroupSizes, group_sizes
from webstrata.predict.first_sight.methods import METHODS, fit
from webstrata.predict.first_sight.training import TrainingReport, train
from webstrata.predict.first_sight.training_pages import TrainingPages


class Table1Row(Struct, frozen=True, kw_only=True):
    """One method, as in Table 1."""

    method: str
    error: float
    low: float
    high: float
    """The ends of the 95 % interval for these test pages."""
    learning_s: float
    classification_s: float
    """For all test pages."""


class GroupsResult(Struct, frozen=True, kw_only=True):
    """The results of `lab groups`."""

    pages: int
    web_pages: int
    data_files: int
    """Files that are not web pages."""
    sites: int
    k: int
    figure2: tuple[GroupSizes, ...]
    names: tuple[str, ...]
    """Of the k groups of Table 1."""
    learned: int
    tested: int
    """Pages of Table 1."""
    table1: tuple[Table1Row, ...]
    random_error: float
    majority_error: float
    """Share of all pages that are not in the largest group: the error without balance of a guess of that group."""
    folds: TrainingReport


def compare_groups(
    pages: TrainingPages,
    *,
    k: int = 4,
    seed: int = 1,
    methods: Sequence[str] = METHODS,
    on_step: Callable[[str], object] = lambda _: None,
) -> GroupsResult:
    """Both parts of the experiment on these pages."""
    rates = pages.rates
    sizes = group_sizes(rates, k)
    largest = max(sizes.pages)
    web_pages = int(pages.features[:, pages.names.index("is_page")].sum())
    learned, tested, rows = _table1(pages, sizes, methods, seed, on_step)
    return GroupsResult(
        pages=len(pages),
        web_pages=web_pages,
        data_files=len(pages) - web_pages,
        sites=len(set(pages.site)),
        k=k,
        figure2=tuple(group_sizes(rates, number) for number in range(FEWEST, MOST + 1)),
        names=sizes.groups.names,
        learned=learned,
        tested=tested,
        table1=rows,
        random_error=1.0 - 1.0 / k,
        majority_error=1.0 - largest / len(pages),
        folds=train(pages, k=k, seed=seed, compared=methods, on_step=lambda step: on_step(f"folds: {step}")).report,
    )


def _table1(
    pages: TrainingPages, sizes: GroupSizes, methods: Sequence[str], seed: int, on_step: Callable[[str], object]
) -> tuple[int, int, tuple[Table1Row, ...]]:
    k, group = len(sizes.groups), sizes.groups.of(pages.rates)
    kept = np.random.default_rng(seed).permutation(undersampled(group, seed))
    learned, tested = np.split(kept, [round(len(kept) * 2 / 3)])
    rows = []
    for method in methods:
        on_step(method)
        started = time.perf_counter()
        fitted = fit(method, pages.features[learned], group[learned], k, page_parts(len(learned)), seed)
        learning_s = time.perf_counter() - started
        started = time.perf_counter()
        found = np.argmax(fitted.chances(pages.features[tested]), axis=1)
        classification_s = time.perf_counter() - started
        rows.append(
            _row(method, error_rate(group[tested], found, k, page_parts(len(tested))), learning_s, classification_s)
        )
    return len(learned), len(tested), tuple(rows)


def _row(method: str, rate: ErrorRate, learning_s: float, classification_s: float) -> Table1Row:
    return Table1Row(
        method=method,
        error=rate.error,
        low=rate.low,
        high=rate.high,
        learning_s=learning_s,
        classification_s=classification_s,
    )
