"""Evaluation 2 of HACS: are the pages that are updated first ranked first?

The expected ranking has the pages in the order of their first true update after the date, then those without one. HACS
ranks by decreasing probability of an update, Last-Obs by decreasing time since the last known update, Random at random.
Equal pages are in random order, drawn for each ranking anew. P@K is the share of the first K pages that are also among
the first K of the expected ranking; the weighted P@K is its mean over all K with the weights 1 / log2(K + 1).
"""

from __future__ import annotations

import numpy as np
from msgspec import Struct

from webstrata.columns import Days
from webstrata.lab.policies.truth import Counts

RANKERS = ("hacs", "last-obs", "random")


class RankingRow(Struct, frozen=True, kw_only=True):
    """The mean weighted P@K of a model over all dates; `w` in weeks."""

    corpus: str
    model: str
    w: int
    p_at_k: float


def ranks(score: Days, random: np.random.Generator | None = None) -> Counts:
    """The rank of each page from 1, the highest score first. Without `random`, equal pages have the order of their
    numbers."""
    number = np.arange(len(score))
    rank = np.empty(len(score), dtype=np.int64)
    rank[np.lexsort((number if random is None else random.random(len(score)), -score))] = number + 1
    return rank


def weighted_p_at_k(rank: Counts, expected: Counts) -> float:
    """From the rank of each page (1 is the first) in two rankings."""
    k = np.arange(1, len(rank) + 1)
    weight = 1 / np.log2(k + 1)
    both = np.cumsum(np.bincount(np.maximum(rank, expected), minlength=len(rank) + 1)[1:])
    return float((weight * both / k).sum() / weight.sum())


def rankings(chance: Days, since_days: Days, next_day: Days, random: np.random.Generator) -> dict[str, float]:
    """The weighted P@K of each model at one date. There must be a page."""
    expected = ranks(-next_day, random)
    scores = {"hacs": chance, "last-obs": since_days, "random": np.zeros(len(chance))}
    return {model: weighted_p_at_k(ranks(score, random), expected) for model, score in scores.items()}
