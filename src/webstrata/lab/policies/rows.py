"""Results of replays as rows for each policy, corpus and bucket, and comparisons of captures, paired by page."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np
from msgspec import Struct

from webstrata.columns import Rows
from webstrata.lab.policies.bootstrap import Resamples, interval, share
from webstrata.lab.policies.histories import BUCKETS, Histories
from webstrata.lab.policies.replay_log import ReplayTotals

ALL = "all"


class Quarter(Struct, frozen=True, kw_only=True):
    """One quarter of a year of the window."""

    recall: float
    precision: float
    freshness: float


class PolicyRow(Struct, frozen=True, kw_only=True):
    """One policy on the pages of one corpus and bucket. Shares and delays without a divisor are 0.

    Pairs are the ends of 95 % intervals.
    """

    policy: str
    corpus: str
    bucket: str
    match: str | None
    """The policy whose downloads it got, or their number; None for a timer policy."""
    downloads: int
    captured: int
    changes: int
    recall: float
    precision: float
    freshness: float
    delay_days: float
    recall_interval: tuple[float, float]
    precision_interval: tuple[float, float]
    freshness_interval: tuple[float, float]
    outdated_days: float
    """Mean over pages of the days without an up-to-date copy."""
    unnecessary: int
    """Downloads without a capture."""
    undetected: int
    """Changes that no download captured."""
    quarters: list[Quarter]


class Comparison(Struct, frozen=True, kw_only=True):
    """Captures of one policy divided by those of another at equal downloads."""

    policy: str
    versus: str
    match: str
    corpus: str
    """`geometric mean`: of all corpora."""
    ratio: float
    ratio_interval: tuple[float, float]


def summarise(policy: str, match: str | None, outcome: ReplayTotals, histories: Histories) -> Iterator[PolicyRow]:
    """Rows of every corpus: all pages, then each bucket."""
    corpora, buckets = np.array(histories.corpus), np.array(histories.bucket)
    for corpus in dict.fromkeys(histories.corpus):
        inside = corpora == corpus
        resamples = Resamples(int(inside.sum()))
        part = outcome.of(np.flatnonzero(inside))
        of_bucket = buckets[inside]
        yield _row(policy, match, corpus, ALL, part, np.arange(len(of_bucket)), resamples)
        present = set(of_bucket)
        for bucket in [*(name for name in BUCKETS if name in present), *sorted(present - set(BUCKETS))]:
            yield _row(policy, match, corpus, bucket, part, np.flatnonzero(of_bucket == bucket), resamples)


def compare(
    policy: str, versus: str, match: str, own: ReplayTotals, other: ReplayTotals, histories: Histories
) -> Iterator[Comparison]:
    """The ratio of captured changes for every corpus, then the geometric mean over corpora."""
    corpora = np.array(histories.corpus)
    logs, drawn = [], []
    comparison = partial(Comparison, policy=policy, versus=versus, match=match)
    for corpus in dict.fromkeys(histories.corpus):
        pages = np.flatnonzero(corpora == corpus)
        resamples = Resamples(len(pages))
        every = np.arange(len(pages))
        ours, theirs = (part.of(pages).captured.sum(axis=1) for part in (own, other))
        ratios = share(resamples.sums(ours, every), resamples.sums(theirs, every))
        ratio = float(ours.sum()) / float(theirs.sum()) if theirs.any() else 0.0
        yield comparison(corpus=corpus, ratio=ratio, ratio_interval=interval(ratios))
        if ratio > 0:
            logs.append(np.log(ratio))
            drawn.append(np.log(np.where(ratios > 0, ratios, np.nan)))
    if len(logs) > 1:
        ends = interval(np.exp(np.mean(drawn, axis=0)))
        yield comparison(corpus="geometric mean", ratio=float(np.exp(np.mean(logs))), ratio_interval=ends)


def _row(
    policy: str, match: str | None, corpus: str, bucket: str, outcome: ReplayTotals, pages: Rows, resamples: Resamples
) -> PolicyRow:
    names = ("downloads", "captured", "changes", "outdated", "delay")
    each = {name: getattr(outcome, name)[pages].sum(axis=0) for name in names}
    total = {name: float(values.sum()) for name, values in each.items()}
    drawn = {name: resamples.sums(getattr(outcome, name).sum(axis=1), pages) for name in names}
    page_days = outcome.days * len(pages)
    quarters = len(each["changes"])
    return PolicyRow(
        policy=policy,
        corpus=corpus,
        bucket=bucket,
        match=match,
        downloads=int(total["downloads"]),
        captured=int(total["captured"]),
        changes=int(total["changes"]),
        recall=_share(total["captured"], total["changes"]),
        precision=_share(total["captured"], total["downloads"]),
        freshness=1.0 - total["outdated"] / page_days,
        delay_days=_share(total["delay"], total["captured"]),
        recall_interval=interval(share(drawn["captured"], drawn["changes"])),
        precision_interval=interval(share(drawn["captured"], drawn["downloads"])),
        freshness_interval=interval(1.0 - share(drawn["outdated"], outcome.days * resamples.weights(pages))),
        outdated_days=total["outdated"] / len(pages),
        unnecessary=int(total["downloads"] - total["captured"]),
        undetected=int(total["changes"] - total["captured"]),
        quarters=[
            Quarter(
                recall=_share(each["captured"][at], each["changes"][at]),
                precision=_share(each["captured"][at], each["downloads"][at]),
                freshness=1.0 - float(each["outdated"][at]) / page_days * quarters,
            )
            for at in range(quarters)
        ],
    )


def _share(part: float, whole: float) -> float:
    return float(part) / float(whole) if whole else 0.0
