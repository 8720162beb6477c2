"""The experiment on budgets in bytes: `value` per visit and `value` per byte, at equal bytes on every corpus.

The budget is a share of the bytes that `value` downloads if it makes as many visits as a timer policy.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from msgspec import Struct

from webstrata.lab.policies.histories import Histories
from webstrata.lab.policies.replay_budget import replay_budget
from webstrata.lab.policies.replay_bytes import replay_bytes, visit_bytes
from webstrata.lab.policies.replay_timer import replay_timer
from webstrata.lab.policies.truth import Truth
from webstrata.schedule.byte_cost import ByteCosts
from webstrata.schedule.policy_state import PolicyState
from webstrata.schedule.registry import policy, policy_state
from webstrata.schedule.value import Value


class ByteRow(Struct, frozen=True, kw_only=True):
    """One ranking on one corpus."""

    corpus: str
    match: str
    share: float
    """Of the bytes that `value` downloads at the number of visits of the matched policy."""
    ranked_by: str
    """`value` of a visit, or `value per byte`."""
    bytes_allowed: int
    bytes: int
    downloads: int
    captured: int
    changes: int


class ByteResults(Struct, frozen=True, kw_only=True):
    """All rows, and the captures per byte divided by those per visit in the geometric mean of the corpora."""

    rows: list[ByteRow]
    ratios: dict[str, float]
    """By corpus, then `geometric mean`."""


CostsOf = Callable[[Histories], ByteCosts]


def run_bytes(histories: Histories, *, days: float, match: str, share: float, costs_of: CostsOf) -> ByteResults:
    """Replay both rankings over the last days of the histories."""
    corpora = np.array(histories.corpus)
    rows: list[ByteRow] = []
    for corpus in dict.fromkeys(histories.corpus):
        truth = Truth(histories.take(np.flatnonzero(corpora == corpus)), days)
        rows += _corpus(corpus, truth, match, share, costs_of(truth.histories))
    return ByteResults(rows=rows, ratios=_ratios(rows))


def _corpus(corpus: str, truth: Truth, match: str, share: float, costs: ByteCosts) -> list[ByteRow]:
    downloads = len(replay_timer(policy(match), truth).at)
    log = replay_budget(_pages(truth), truth, downloads)
    allowed = share * float(visit_bytes(costs, log.page, log.changed).sum())
    changes = int(truth.total().sum())
    rows = []
    for per_byte in (False, True):
        found = replay_bytes(_pages(truth), truth, costs, allowed, per_byte=per_byte)
        rows.append(
            ByteRow(
                corpus=corpus,
                match=match,
                share=share,
                ranked_by="value per byte" if per_byte else "value",
                bytes_allowed=round(allowed),
                bytes=round(found.bytes),
                downloads=found.visits,
                captured=found.captured,
                changes=changes,
            )
        )
    return rows


def _pages(truth: Truth) -> PolicyState:
    site = np.unique(np.array(truth.histories.site), return_inverse=True)[1].astype(np.intp)
    return policy_state(Value.name, site)


def _ratios(rows: Sequence[ByteRow]) -> dict[str, float]:
    pairs = list(zip(rows[::2], rows[1::2], strict=True))
    ratios = {
        per_byte.corpus: per_byte.captured / per_visit.captured for per_visit, per_byte in pairs if per_visit.captured
    }
    if len(ratios) > 1:
        ratios["geometric mean"] = float(np.exp(np.mean(np.log(np.maximum(list(ratios.values()), 1e-9)))))
    return ratios
