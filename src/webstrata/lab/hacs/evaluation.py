"""Both evaluations of HACS over the dates and windows of timelines."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from msgspec import Struct

from webstrata.lab.hacs.ranking import RANKERS, RankingRow, rankings
from webstrata.lab.hacs.selection import MODELS, Selected, SelectionRow, selected, selection_rows, stacked
from webstrata.lab.hacs.timeline import UpdateTimeline
from webstrata.lab.hacs.window import window_forecast

OnCorpus = Callable[[str, int, int], object]
"""(corpus, windows done, windows)."""

_WEEK_DAYS = 7.0


class HacsResults(Struct, frozen=True, kw_only=True):
    """Evaluation 1 and Evaluation 2."""

    rows: list[SelectionRow]
    ranking: list[RankingRow]


def evaluate(
    timelines: Sequence[UpdateTimeline],
    *,
    weeks: Sequence[int],
    ahead_days: float,
    seed: int,
    with_previous: bool = False,
    on_progress: OnCorpus = lambda corpus, done, total: None,
) -> HacsResults:
    """Evaluate HACS at dates `ahead_days` apart, from the start of each timeline to `ahead_days` before its end.

    A date counts for a window if a page has a copy in it; a window that no date counts for has no rows. The paper's
    window is without the previous copy.
    """
    results = HacsResults(rows=[], ranking=[])
    for timeline in timelines:
        for done, w in enumerate(weeks):
            on_progress(timeline.corpus, done, len(weeks))
            _window(timeline, w, ahead_days, seed, results, with_previous=with_previous)
        on_progress(timeline.corpus, len(weeks), len(weeks))
    return results


def _window(
    timeline: UpdateTimeline, w: int, ahead_days: float, seed: int, results: HacsResults, *, with_previous: bool
) -> None:
    counts: dict[str, list[Selected]] = {model: [] for model in MODELS}
    precisions: dict[str, list[float]] = {model: [] for model in RANKERS}
    for number in range(max(0, int((timeline.days + 1e-9) // ahead_days))):
        at_day = number * ahead_days
        forecast = window_forecast(timeline, at_day, w * _WEEK_DAYS, ahead_days, with_previous=with_previous)
        if not len(forecast.page):
            continue
        random = np.random.default_rng([seed, w, number])
        next_day = timeline.updates.next_after(forecast.page, at_day)
        for model, picked in selected(forecast.chance, next_day <= at_day + ahead_days, random).items():
            counts[model].append(picked)
        for model, precision in rankings(forecast.chance, forecast.since_days, next_day, random).items():
            precisions[model].append(precision)
    for model, dates in counts.items():
        if dates:
            results.rows.extend(selection_rows(stacked(dates), corpus=timeline.corpus, model=model, w=w))
    for model, values in precisions.items():
        if values:
            mean = float(np.mean(values))
            results.ranking.append(RankingRow(corpus=timeline.corpus, model=model, w=w, p_at_k=mean))
