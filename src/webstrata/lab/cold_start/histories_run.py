"""The classifiers of the paper on change histories without contents: pages start in a random group of Table 4.

The window is the first part of the last three years of each page, and the true group is the one nearest to the mean
interval in this window.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from msgspec.structs import replace

from webstrata.clock import DAY_S
from webstrata.lab.cold_start.final_group import classified
from webstrata.lab.cold_start.rows import ALL, ColdStartRow, ErrorCount
from webstrata.lab.policies.histories import Histories
from webstrata.lab.policies.truth import Truth
from webstrata.predict.first_sight.groups import ChangeGroups
from webstrata.schedule.textbook.rate_groups import TABLE_4, Bayesian, Historic

_THREE_YEARS_DAYS = 1095.0
_CLASSIFIERS: tuple[type[Historic | Bayesian], ...] = (Bayesian, Historic)


def history_rows(histories: Histories, days: float, seeds: int) -> Iterator[ColdStartRow]:
    """A row for each corpus and classifier."""
    corpora = np.array(histories.corpus)
    groups = ChangeGroups(tuple(group.days for group in TABLE_4))
    for corpus in dict.fromkeys(histories.corpus):
        truth = _first_days(histories.take(np.flatnonzero(corpora == corpus)), days)
        true = groups.of(truth.total() / days)
        for kind in _CLASSIFIERS:
            pages = np.arange(len(truth), dtype=np.intp)
            errors = ErrorCount(pages, len(TABLE_4))
            for seed in range(1, seeds + 1):
                initial = np.random.default_rng(seed).integers(0, len(TABLE_4), len(truth))
                errors.add(pages, true, classified(kind, TABLE_4, initial, truth))
            yield errors.row(corpus, ALL, "random", kind.name)


def _first_days(histories: Histories, days: float) -> Truth:
    """The first days of the last three years; of a longer window, all of it."""
    existing = Truth(histories, max(days, _THREE_YEARS_DAYS)).histories
    until = existing.until - max(_THREE_YEARS_DAYS - days, 0.0) * DAY_S
    page = np.repeat(np.arange(len(existing)), np.diff(existing.offsets))
    kept = existing.changes <= until[page]
    counts = np.bincount(page[kept], minlength=len(existing))
    offsets = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    return Truth(replace(existing, until=until, offsets=offsets, changes=existing.changes[kept]), days)
