"""Histories from a live store: what its own visits saw, as the lab's columns.

A visit that found a change tells only that there was one since the visit before: it is placed in the middle between the
two, and several changes in between are one. What no visit saw is not there, so recall is measured against what was
captured, and policies that would have visited more often than the store did cannot show it.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from webstrata.clock import DAY_S
from webstrata.errors import UsageError
from webstrata.lab.histories import Histories, make_histories
from webstrata.ports import Store
from webstrata.records import PageSummary

CORPUS = "store"
_CHUNK = 5_000
_LEFT_OUT = 0.2
"""Share of the pages that may be too young for the window."""


async def stored_histories(store: Store) -> Histories:
    """All watched pages that were seen at least twice; UsageError where there is none."""
    rows: list[dict[str, object]] = []
    after = 0
    while chunk := await store.outlines(after, _CHUNK):
        after = chunk[-1].id
        rows += _rows(chunk, await store.logged([one.id for one in chunk]))
    if not rows:
        raise UsageError("no page of the store was seen twice yet: there is no history to replay.")
    return make_histories(rows)


def covered_days(histories: Histories) -> float:
    """The longest window, in whole days, that four pages of five cover; UsageError if that is less than a day."""
    days = float(np.floor(np.quantile((histories.until - histories.first) / DAY_S, _LEFT_OUT)))
    if days < 1:
        raise UsageError("the store's pages were watched for less than a day: let it run, or give --years.")
    return days


def _rows(pages: Sequence[PageSummary], logged: Sequence[tuple[int, float, bool]]) -> list[dict[str, object]]:
    seen: dict[int, list[tuple[float, bool]]] = {}
    for page, at, changed in logged:
        seen.setdefault(page, []).append((at, changed))
    found: list[dict[str, object]] = []
    for one in pages:
        visits = seen.get(one.id, [])
        if len(visits) > 1:
            steps = pairwise(visits)
            changes = [(before + at) / 2 for (before, _), (at, changed) in steps if changed and at > before]
            found.append(
                {
                    "corpus": CORPUS,
                    "page": one.url,
                    "site": one.host,
                    "first": visits[0][0],
                    "until": visits[-1][0],
                    "changes": changes,
                }
            )
    return found
