"""Evaluation 1 of HACS: are the selected pages those that are updated within the evaluation interval?

At each date, HACS selects the pages with a probability of at least θ, Random as many pages at random, and Brute Force
all pages that have a copy in the window. A page is relevant if it really is updated in (t, t + e].

The micro average sums the counts of all dates. The macro average is the mean over the dates, without those at which the
figure is undefined: precision if nothing was selected, recall if nothing was updated, F1 if both. A figure that is
undefined at every date is 0.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from webstrata.columns import Days, Flags
from webstrata.lab.policies.truth import Counts

THRESHOLDS: Days = np.arange(21) / 20
MODELS = ("hacs", "random", "brute-force")

Average = Literal["micro", "macro"]


class SelectionRow(Struct, frozen=True, kw_only=True):
    """The quality of the pages that one model selects; `w` in weeks."""

    corpus: str
    model: str
    w: int
    theta: float
    average: Average
    precision: float
    recall: float
    f1: float


class Selected(Struct, frozen=True, kw_only=True):
    """Counts at one or more dates: one row for each date, one column for each of `THRESHOLDS`."""

    pages: Counts
    hits: Counts
    """Those of them that were updated."""
    updated: Counts
    """All pages that were updated, the same in each column."""


def selected(chance: Days, updated: Flags, random: np.random.Generator) -> dict[str, Selected]:
    """What each model selects at one date."""
    order = np.argsort(chance)
    number = len(chance) - np.searchsorted(chance[order], THRESHOLDS, side="left")
    all_updated = np.full(len(THRESHOLDS), updated.sum())
    picks = {
        "hacs": (number, updated[order[::-1]]),
        "random": (number, updated[random.permutation(len(updated))]),
        "brute-force": (np.full(len(THRESHOLDS), len(chance)), updated),
    }
    return {
        model: Selected(pages=count, hits=np.concatenate([[0], np.cumsum(ranked)])[count], updated=all_updated)
        for model, (count, ranked) in picks.items()
    }


def stacked(dates: list[Selected]) -> Selected:
    """The counts of several dates."""
    return Selected(
        pages=np.stack([date.pages for date in dates]),
        hits=np.stack([date.hits for date in dates]),
        updated=np.stack([date.updated for date in dates]),
    )


def selection_rows(counts: Selected, *, corpus: str, model: str, w: int) -> list[SelectionRow]:
    """A row for each threshold and average."""
    rows = []
    averages: tuple[Average, ...] = ("micro", "macro")
    for average in averages:
        pages, hits, updated = (
            column.sum(axis=0, keepdims=True) if average == "micro" else column
            for column in (counts.pages, counts.hits, counts.updated)
        )
        figures = [
            _mean(numerator, denominator)
            for numerator, denominator in ((hits, pages), (hits, updated), (2 * hits, pages + updated))
        ]
        rows += [
            SelectionRow(
                corpus=corpus, model=model, w=w, theta=theta, average=average, precision=precision, recall=recall, f1=f1
            )
            for theta, precision, recall, f1 in zip(THRESHOLDS.tolist(), *figures, strict=True)
        ]
    return rows


def best(rows: list[SelectionRow]) -> list[SelectionRow]:
    """For each corpus, window and average: HACS at the threshold of its best F1, and the others at this threshold.

    Of equal values, the lowest threshold is taken.
    """
    chosen: dict[tuple[str, int, str], SelectionRow] = {}
    for row in rows:
        key = (row.corpus, row.w, row.average)
        if row.model == "hacs" and (key not in chosen or row.f1 > chosen[key].f1):
            chosen[key] = row
    return [row for row in rows if row.theta == chosen[row.corpus, row.w, row.average].theta]


def _mean(numerator: Counts, denominator: Counts) -> list[float]:
    """The mean of the defined quotients of each column; 0 if there is none."""
    defined = denominator > 0
    quotient = np.zeros(numerator.shape)
    np.divide(numerator, denominator, out=quotient, where=defined)
    means: NDArray[np.float64] = quotient.sum(axis=0) / np.maximum(defined.sum(axis=0), 1)
    found: list[float] = means.tolist()
    return found
