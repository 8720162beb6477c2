"""One page under every policy: its true changes, the visits, and which of them captured (datamonitor, Figure 3)."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from msgspec import Struct

from webstrata.lab.policies.replay_log import ReplayLog
from webstrata.lab.policies.truth import Truth

_CHANGES = 15
"""Number of changes of the page that is chosen for the picture."""


class PolicyVisits(Struct, frozen=True, kw_only=True):
    """One policy's visits of the page."""

    policy: str
    match: str | None
    days: list[float]
    captured: list[bool]


class PageTimeline(Struct, frozen=True, kw_only=True):
    """The page, its true changes and the visits of each policy; times are days of the window."""

    corpus: str
    page: str
    days: float
    changes: list[float]
    visits: list[PolicyVisits]


def picture_of(truth: Truth, logs: Mapping[tuple[str, str | None], ReplayLog]) -> PageTimeline | None:
    """The first page whose number of changes is nearest to fifteen; None if no page changed."""
    total = truth.total()
    if not total.any():
        return None
    row = int(np.argmin(np.where(total > 0, np.abs(total - _CHANGES), np.iinfo(np.int64).max)))
    page, at = truth.events(0.0, truth.days)
    visits = []
    for (policy, match), log in logs.items():
        own = np.flatnonzero(log.page == row)
        own = own[np.argsort(log.at[own], kind="stable")]
        visits.append(
            PolicyVisits(policy=policy, match=match, days=log.at[own].tolist(), captured=log.changed[own].tolist())
        )
    return PageTimeline(
        corpus=truth.histories.corpus[row],
        page=truth.histories.page[row],
        days=truth.days,
        changes=at[page == row].tolist(),
        visits=visits,
    )
