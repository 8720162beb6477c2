"""What explains differences of `webstrata lab hacs` from other reports of HACS: `python -m bench.hacs [--draws N]`.

`previous copy`: the last copy before the window counts too. `equal pages by number`: pages with equal scores have the
order of their numbers in both rankings, which then agree more. `judged by copies`: an update counts where the copies
show it (`moved`: half-way to the previous copy) instead of when it happened. `draws`: as many pages as the reference
has of this corpus (other ones), drawn at random, with the mean and standard deviation over the draws.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

import numpy as np
from msgspec.structs import replace

from webstrata.lab.hacs.evaluation import evaluate
from webstrata.lab.hacs.ranking import ranks, weighted_p_at_k
from webstrata.lab.hacs.selection import MODELS, best
from webstrata.lab.hacs.timeline import PageTimes, UpdateTimeline, sampled_timelines
from webstrata.lab.hacs.window import window_forecast
from webstrata.lab.policies.histories import Histories, shipped_histories
from webstrata.predict.interpolated import moved
from webstrata.predict.visit_history import from_times

CASES = {
    "packages": (553, 12),
    "registry": (441, 4),
    "webdata": (338, 4),
    "webpages": (389, 8),
    "wikipedia": (45, 12),
}
"""Corpus -> (pages of the reference, its window in weeks)."""
_WEEK_DAYS = 7.0


def figures(timeline: UpdateTimeline, w: int, *, with_previous: bool = False) -> list[float]:
    """F1 of HACS, Random and Brute Force at the best θ, and weighted P@K of HACS, Last-Obs and Random."""
    found = evaluate([timeline], weeks=[w], ahead_days=_WEEK_DAYS, seed=1, with_previous=with_previous)
    chosen = {row.model: row.f1 for row in best(found.rows) if row.average == "micro"}
    return [*(chosen[model] for model in MODELS), *(row.p_at_k for row in found.ranking)]


def by_number(timeline: UpdateTimeline, w: int) -> float:
    """The weighted P@K of HACS if equal pages have the order of their numbers."""
    values = []
    for at_day in np.arange(0, timeline.days - _WEEK_DAYS, _WEEK_DAYS).tolist():
        forecast = window_forecast(timeline, at_day, w * _WEEK_DAYS, _WEEK_DAYS)
        expected = ranks(-timeline.updates.next_after(forecast.page, at_day))
        values.append(weighted_p_at_k(ranks(forecast.chance), expected))
    return float(np.mean(values))


def judged_by_copies(timeline: UpdateTimeline, *, is_moved: bool) -> UpdateTimeline:
    """The timeline with the updates that its copies show as the true ones."""
    seen = from_times(timeline.copies.page, timeline.copies.at_days, timeline.shows, timeline.pages)
    seen = moved(seen) if is_moved else seen
    updates = PageTimes(seen.page_of()[seen.changed], seen.at_days[seen.changed], timeline.pages)
    return replace(timeline, updates=updates)


def drawn(histories: Histories, corpus: str, pages: int, seed: int) -> UpdateTimeline:
    """Some pages of one corpus, with copies of their own."""
    rows = np.flatnonzero(np.array(histories.corpus) == corpus)
    chosen = np.sort(np.random.default_rng(seed).choice(rows, min(pages, len(rows)), replace=False))
    return sampled_timelines(histories.take(chosen), seed)[0]


def _print(title: str, values: Sequence[float]) -> None:
    print(f"  {title:<24}", *(f"{value:.3f}" for value in values))


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.hacs", description=__doc__)
    parser.add_argument("--draws", type=int, default=12)
    draws = parser.parse_args().draws
    histories = shipped_histories()
    print("F1 of HACS, Random, Brute Force; weighted P@K of HACS, Last-Obs, Random")
    for timeline in sampled_timelines(histories, 1):
        pages, w = CASES[timeline.corpus]
        print(f"{timeline.corpus}, w = {w}")
        for weeks in sorted({1, 2, 4, w}):
            _print(f"w = {weeks}, paper's window", figures(timeline, weeks))
            _print(f"w = {weeks}, previous copy", figures(timeline, weeks, with_previous=True))
        _print("equal pages by number", [by_number(timeline, w)])
        _print("judged by copies", figures(judged_by_copies(timeline, is_moved=False), w))
        _print("judged by copies, moved", figures(judged_by_copies(timeline, is_moved=True), w))
        samples = np.array([figures(drawn(histories, timeline.corpus, pages, seed), w) for seed in range(draws)])
        _print(f"draws of {pages}: mean", samples.mean(axis=0).tolist())
        _print("standard deviation", samples.std(axis=0, ddof=1).tolist())


if __name__ == "__main__":
    main()
