"""Compares a crawl log with the true changes: captured and missed changes, wasted visits, recall and precision.

The rules, for each page and each layer:

- The first visit with a response is the baseline. It is not counted as a visit, a capture or a wasted visit.
- A later visit captures a change if it reports a change and at least one true change happened since the previous
  visit with a response. It captures exactly one: of several changes between two visits, the others are missed.
- Every other later visit is wasted: nothing had changed, the change was not detected, or there was no response.
- All changes in the window count, including those before the baseline and those of pages never visited.
- recall = captured / changes, precision = captured / visits; 0 if the divisor is 0.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Literal

from msgspec import Struct

from webstrata.lab.livingweb.truth import TrueChange
from webstrata.records import Outcome, Visit

Layer = Literal["raw", "counts"]


class Score(Struct, frozen=True, kw_only=True):
    """The result for one layer."""

    changes: int
    captured: int
    missed: int
    visits: int
    wasted: int
    bytes: int
    politeness_violations: int
    recall: float
    precision: float


class Scoreboard(Struct, frozen=True, kw_only=True):
    """The result of one crawl for changes of bytes (`raw`) and of useful content (`counts`)."""

    raw: Score
    counts: Score


def score(visits: Iterable[Visit], truth: Iterable[TrueChange], *, politeness_violations: int = 0) -> Scoreboard:
    """Compare a crawl log (in any order) with the true changes of the same window."""
    logs: defaultdict[str, list[Visit]] = defaultdict(list)
    for visit in visits:
        logs[visit.url].append(visit)
    for log in logs.values():
        log.sort(key=lambda visit: visit.at)
    changes = list(truth)
    return Scoreboard(
        raw=_score(logs, changes, "raw", politeness_violations),
        counts=_score(logs, changes, "counts", politeness_violations),
    )


def _score(logs: dict[str, list[Visit]], changes: list[TrueChange], layer: Layer, violations: int) -> Score:
    instants: defaultdict[str, list[float]] = defaultdict(list)
    total = 0
    for change in sorted(changes, key=lambda change: change.at):
        if layer == "raw" or change.counts:
            instants[change.url].append(change.at)
            total += 1
    captured = visit_count = size = 0
    for url, log in logs.items():
        page_captured, page_visits = _score_page(log, instants.get(url, []), layer)
        captured += page_captured
        visit_count += page_visits
        size += sum(visit.bytes for visit in log)
    return Score(
        changes=total,
        captured=captured,
        missed=total - captured,
        visits=visit_count,
        wasted=visit_count - captured,
        bytes=size,
        politeness_violations=violations,
        recall=captured / total if total else 0.0,
        precision=captured / visit_count if visit_count else 0.0,
    )


def _score_page(log: Sequence[Visit], instants: Sequence[float], layer: Layer) -> tuple[int, int]:
    """(captured changes, counted visits) of one page."""
    captured = visits = 0
    last: Visit | None = None
    for visit in log:
        if visit.outcome is Outcome.ERROR:
            visits += 1
            continue
        if last is not None:
            visits += 1
            changed = bisect_right(instants, visit.at) > bisect_right(instants, last.at)
            captured += changed and _reports_change(visit, layer)
        last = visit
    return captured, visits


def _reports_change(visit: Visit, layer: Layer) -> bool:
    """Whether the visit detected a change. Deletion and return of a page are changes in both layers."""
    if visit.outcome in (Outcome.GONE, Outcome.BACK):
        return True
    return visit.raw_changed if layer == "raw" else visit.counts
