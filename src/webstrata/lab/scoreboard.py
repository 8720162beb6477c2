"""How well a crawl log caught what really happened. Pure.

The rule, page by page and layer by layer:

- The first visit that got an answer is the baseline: it counts neither as a visit nor as a capture nor as wasted.
- A later visit captures when it reports a change and at least one true change happened since the visit before it
  that got an answer. It captures exactly one: of several changes between two visits the rest are missed.
- Every other later visit is wasted: nothing had happened, or it had and was not seen, or there was no answer.
- All changes of the window count, also those before the baseline, and those of pages that were never visited.
- recall = captured / changes, precision = captured / visits; 0 where nothing is to be divided.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Literal, Protocol

from msgspec import Struct

from webstrata.lab.livingweb.truth import TrueChange
from webstrata.records import Outcome

Layer = Literal["raw", "counts"]


class LoggedVisit(Protocol):
    """What the scoreboard reads of a crawl-log row (`webstrata.records.Visit` has it)."""

    @property
    def url(self) -> str: ...
    @property
    def at(self) -> float: ...
    @property
    def outcome(self) -> Outcome: ...
    @property
    def raw_changed(self) -> bool: ...
    @property
    def counts(self) -> bool: ...
    @property
    def bytes(self) -> int: ...


class Score(Struct, frozen=True, kw_only=True):
    """One layer's result."""

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
    """The same crawl judged by bytes, and by the layer that counts as a change."""

    raw: Score
    counts: Score


def score(visits: Iterable[LoggedVisit], truth: Iterable[TrueChange], *, politeness_violations: int = 0) -> Scoreboard:
    """Judge a crawl log (in any order) by the truth of the same window."""
    logs: defaultdict[str, list[LoggedVisit]] = defaultdict(list)
    for visit in visits:
        logs[visit.url].append(visit)
    for log in logs.values():
        log.sort(key=lambda visit: visit.at)
    changes = list(truth)
    return Scoreboard(
        raw=_score(logs, changes, "raw", politeness_violations),
        counts=_score(logs, changes, "counts", politeness_violations),
    )


def _score(logs: dict[str, list[LoggedVisit]], changes: list[TrueChange], layer: Layer, violations: int) -> Score:
    instants: defaultdict[str, list[float]] = defaultdict(list)
    total = 0
    for change in sorted(changes, key=lambda change: change.at):
        if layer == "raw" or change.counts:
            instants[change.url].append(change.at)
            total += 1
    captured = visited = size = 0
    for url, log in logs.items():
        page_captured, page_visits = _follow(log, instants.get(url, []), layer)
        captured += page_captured
        visited += page_visits
        size += sum(visit.bytes for visit in log)
    return Score(
        changes=total,
        captured=captured,
        missed=total - captured,
        visits=visited,
        wasted=visited - captured,
        bytes=size,
        politeness_violations=violations,
        recall=captured / total if total else 0.0,
        precision=captured / visited if visited else 0.0,
    )


def _follow(log: Sequence[LoggedVisit], instants: Sequence[float], layer: Layer) -> tuple[int, int]:
    """(captured, visits) of one page."""
    captured = visited = 0
    last: LoggedVisit | None = None
    for visit in log:
        if visit.outcome is Outcome.ERROR:
            visited += 1
            continue
        if last is not None:
            visited += 1
            happened = bisect_right(instants, visit.at) > bisect_right(instants, last.at)
            captured += happened and _reports_change(visit, layer)
        last = visit
    return captured, visited


def _reports_change(visit: LoggedVisit, layer: Layer) -> bool:
    """By its flag; going and coming back are changes in every layer."""
    if visit.outcome in (Outcome.GONE, Outcome.BACK):
        return True
    return visit.raw_changed if layer == "raw" else visit.counts
