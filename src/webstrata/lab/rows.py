"""A replay's outcome as rows: one for every policy, corpus and bucket."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from webstrata.columns import Rows
from webstrata.lab.histories import BUCKETS, Histories
from webstrata.lab.visits import Outcome

ALL = "all"


class Row(Struct, frozen=True, kw_only=True):
    """One policy on the pages of one corpus and bucket. Shares of nothing are 0; a delay without a capture too."""

    policy: str
    corpus: str
    bucket: str
    match: str | None
    """Whose downloads it was given; none: a policy with its own pace."""
    downloads: int
    captured: int
    changes: int
    recall: float
    precision: float
    freshness: float
    delay_days: float
    outdated_days: float
    """Mean over pages of the days without the present copy."""
    unnecessary: int
    """Downloads that captured nothing."""
    undetected: int
    """Changes that no download captured."""
    quarters: list[dict[str, float]]
    """Recall, precision and freshness quarter by quarter."""


def summarise(policy: str, match: str | None, outcome: Outcome, histories: Histories) -> Iterator[Row]:
    """Rows of every corpus: the whole, then its buckets."""
    corpora, buckets = np.array(histories.corpus), np.array(histories.bucket)
    for corpus in dict.fromkeys(histories.corpus):
        inside = corpora == corpus
        yield _row(policy, match, corpus, ALL, outcome, np.flatnonzero(inside))
        present = set(buckets[inside])
        for bucket in [*(one for one in BUCKETS if one in present), *sorted(present - set(BUCKETS))]:
            yield _row(policy, match, corpus, bucket, outcome, np.flatnonzero(inside & (buckets == bucket)))


def _row(policy: str, match: str | None, corpus: str, bucket: str, outcome: Outcome, pages: Rows) -> Row:
    downloads, captured, changes = (
        part[pages].sum(axis=0) for part in (outcome.downloads, outcome.captured, outcome.changes)
    )
    outdated, delay = outcome.outdated[pages].sum(axis=0), outcome.delay[pages].sum(axis=0)
    every, caught, real = int(downloads.sum()), int(captured.sum()), int(changes.sum())
    stale = float(outdated.sum()) / max(len(pages), 1)
    return Row(
        policy=policy,
        corpus=corpus,
        bucket=bucket,
        match=match,
        downloads=every,
        captured=caught,
        changes=real,
        recall=caught / real if real else 0.0,
        precision=caught / every if every else 0.0,
        freshness=1.0 - stale / outcome.days,
        delay_days=float(delay.sum()) / caught if caught else 0.0,
        outdated_days=stale,
        unnecessary=every - caught,
        undetected=real - caught,
        quarters=[
            {
                "recall": _share(captured[quarter], changes[quarter]),
                "precision": _share(captured[quarter], downloads[quarter]),
                "freshness": 1.0 - float(outdated[quarter]) / max(len(pages), 1) / outcome.days * len(downloads),
            }
            for quarter in range(len(downloads))
        ],
    )


def _share(part: NDArray[np.int64], whole: NDArray[np.int64]) -> float:
    return float(part) / float(whole) if whole else 0.0
