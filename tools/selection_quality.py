"""Prints how well `select` chooses pages by each method: the table of docs/how-to/forecast-and-select.md.

    python tools/selection_quality.py [FILE...]

Pages of real change histories (default: the shipped extract) have copies as an archive takes them (`archive_samples`:
exponential gaps, with a mean between 2 and 30 days) over three years. Every four weeks each method forecasts the next
7 days from the copies until then. A page is worth a visit if it really changed after its last copy and within these
days.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

from webstrata.clock import DAY_S
from webstrata.columns import Days, Flags, Rows
from webstrata.flows.updates.selection import Method
from webstrata.flows.updates.threshold_choice import THRESHOLDS, past_chance
from webstrata.lab.archive_samples import archive_copies
from webstrata.lab.policies.histories import Histories, read_histories, shipped_histories
from webstrata.predict.update_chance import within
from webstrata.predict.visit_history import VisitHistory, from_times

_AHEAD_DAYS, _EVERY_DAYS, _PAST_DAYS, _YEARS_DAYS = 7.0, 28.0, 364.0, 1095.0
_SEED = 1
_METHODS: tuple[tuple[str, Method, float], ...] = (
    ("hacs, 4 weeks", "hacs", 28.0),
    ("hacs, 12 weeks", "hacs", 84.0),
    ("hacs, 1 year", "hacs", 364.0),
    ("hacs, all", "hacs", np.inf),
    ("value", "value", np.inf),
)


def main() -> None:
    files = [Path(name) for name in sys.argv[1:]]
    histories = read_histories(files) if files else shipped_histories()
    print("| corpus | method | best θ | precision | recall | F1 | average precision |")
    print("|---|---|---|---|---|---|---|")
    corpora = np.array(histories.corpus)
    for corpus in dict.fromkeys(histories.corpus):
        _print_corpus(corpus, histories.take(np.flatnonzero(corpora == corpus)))


def _print_corpus(corpus: str, histories: Histories) -> None:
    changes, page = histories.changes / DAY_S, np.repeat(np.arange(len(histories)), np.diff(histories.offsets))
    until = histories.until / DAY_S
    end = float(until.max())
    copies = _copies(histories, changes, end)
    cuts = np.arange(end - _YEARS_DAYS + _PAST_DAYS, end - _AHEAD_DAYS, _EVERY_DAYS)
    chances: dict[str, list[Days]] = {name: [] for name, _, _ in _METHODS}
    truths: list[Flags] = []
    for cut in cuts.tolist():
        known, updated = _truth(copies, page, changes, until, cut)
        truths.append(updated[known])
        for name, method, window in _METHODS:
            chances[name].append(past_chance(copies, method, cut, _AHEAD_DAYS, window)[known])
    truth = np.concatenate(truths)
    for name, found in chances.items():
        chance = np.concatenate(found)
        theta, precision, recall, f1 = _best(chance, truth)
        average = _average_precision(chance, truth)
        print(
            f"| {corpus} | {name} | {theta:.2f} | {precision:.3f} | {recall:.3f} | {f1:.3f} | {average:.3f} |",
            flush=True,
        )


def _copies(histories: Histories, changes: Days, end: float) -> VisitHistory:
    """The copies of the pages, and whether each differs from the one before."""
    first = np.maximum(histories.first / DAY_S, end - _YEARS_DAYS)
    page, at = archive_copies(first, end, _SEED)
    number = np.array(
        [np.searchsorted(changes[histories.offsets[row] : histories.offsets[row + 1]], day, "right")
         for row, day in zip(page.tolist(), at.tolist(), strict=True)]
    )  # fmt: skip
    changed = np.zeros(len(at), dtype=bool)
    changed[1:] = (number[1:] > number[:-1]) & (page[1:] == page[:-1])
    return from_times(page, at, changed, len(histories))


def _truth(copies: VisitHistory, page: Rows, changes: Days, until: Days, cut: float) -> tuple[Flags, Flags]:
    """Pages with a past that are observed long enough, and whether each changed after its last copy."""
    past = within(copies, -np.inf, cut)
    known = (past.counts > 0) & (until >= cut + _AHEAD_DAYS)
    last = np.full(copies.pages, np.inf)
    filled = past.counts > 0
    last[filled] = past.at_days[past.offsets[1:][filled] - 1]
    hit = (changes > last[page]) & (changes <= cut + _AHEAD_DAYS)
    return known, np.bincount(page[hit], minlength=copies.pages) > 0


def _best(chance: Days, truth: Flags) -> tuple[float, float, float, float]:
    rows = []
    for theta in THRESHOLDS.tolist():
        chosen = chance >= theta
        hits = int((chosen & truth).sum())
        rows.append((theta, hits / max(chosen.sum(), 1), hits / truth.sum(), 2 * hits / (chosen.sum() + truth.sum())))
    return max(rows, key=lambda row: row[3])


def _average_precision(chance: Days, truth: Flags) -> float:
    """The mean precision at the rank of each updated page."""
    ranked = truth[np.argsort(-chance, kind="stable")]
    precision = np.cumsum(ranked) / np.arange(1, len(ranked) + 1)
    return float(precision[ranked].mean())


if __name__ == "__main__":
    main()
