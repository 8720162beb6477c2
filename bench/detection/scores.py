"""Counts of right and wrong verdicts, and of significances by importance."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise

from msgspec import Struct

from bench.detection.pairs import MEANINGFUL, NOT_MEANINGFUL, LabelledPair
from bench.detection.verdicts import Verdict

Judged = tuple[LabelledPair, Verdict]

BIN_EDGES = (0.0, 0.05, 0.2, 0.5, 0.8, 1.0)
BIN_NAMES = ("unchanged", *(f"{low:g}-{high:g}" for low, high in pairwise(BIN_EDGES)))
IMPORTANCES = (NOT_MEANINGFUL, "trivial", "minor", "notable")


class Score(Struct, frozen=True):
    """How often a judge is right about pairs whose label is not disputed."""

    found: int = 0
    """Meaningful and judged as changed."""
    missed: int = 0
    false_alarms: int = 0
    silent: int = 0
    """Not meaningful and judged as unchanged."""

    @property
    def precision(self) -> float | None:
        """Share of the meaningful among the pairs judged as changed."""
        return _share(self.found, self.false_alarms)

    @property
    def recall(self) -> float | None:
        """Share of the pairs judged as changed among the meaningful."""
        return _share(self.found, self.missed)


def _share(part: int, rest: int) -> float | None:
    return part / (part + rest) if part + rest else None


def score(judged: Iterable[Judged]) -> Score:
    """Count the verdicts; disputed pairs are left out."""
    outcomes = [(pair.label == MEANINGFUL, verdict.changed) for pair, verdict in judged if _is_agreed(pair)]
    return Score(
        found=outcomes.count((True, True)),
        missed=outcomes.count((True, False)),
        false_alarms=outcomes.count((False, True)),
        silent=outcomes.count((False, False)),
    )


def misjudged(judged: Iterable[Judged]) -> list[Judged]:
    """The pairs with a wrong verdict."""
    return [
        (pair, verdict)
        for pair, verdict in judged
        if _is_agreed(pair) and verdict.changed != (pair.label == MEANINGFUL)
    ]


def significances(judged: Sequence[Judged]) -> dict[str, dict[str, int]]:
    """Importance -> bin of significance -> number of pairs. Pairs judged as unchanged have a bin of their own."""
    counts = {importance: dict.fromkeys(BIN_NAMES, 0) for importance in IMPORTANCES}
    for pair, verdict in judged:
        if _is_agreed(pair) and verdict.significance is not None:
            importance = pair.importance if pair.label == MEANINGFUL else NOT_MEANINGFUL
            counts[importance][bin_name(verdict)] += 1
    return counts


def bin_name(verdict: Verdict) -> str:
    """The bin of a verdict; a significance on an edge is in the upper bin, 1 in the last one."""
    if not verdict.changed or verdict.significance is None:
        return BIN_NAMES[0]
    return BIN_NAMES[1 + sum(verdict.significance >= edge for edge in BIN_EDGES[1:-1])]


def _is_agreed(pair: LabelledPair) -> bool:
    return pair.label in (MEANINGFUL, NOT_MEANINGFUL)
