"""The threshold θ that would have selected best in the past of a home.

At each of several dates t, as long apart as the period e, pages are forecast from what was known at t, and selected if
p >= θ. A page was worth the visit if it had an update after it was last seen before t, and until t + e. An update is
dated half-way between the visit that saw it and the one before. Pages that were not seen again after t + e are left
out, because nobody knows.
"""

from __future__ import annotations

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from webstrata.clock import DAY_S
from webstrata.columns import Days, Flags
from webstrata.flows.updates.known_pages import KnownPageFilter
from webstrata.flows.updates.selection import Method, SelectionRule, histories
from webstrata.ports import Store
from webstrata.predict.activity import Activity, pooled_activity
from webstrata.predict.belief_history import beliefs_after
from webstrata.predict.update_chance import update_forecast, within
from webstrata.predict.visit_history import VisitHistory

THRESHOLDS: Days = np.arange(21) / 20
DATES = 8
"""Dates at which the past is forecast."""


class ThresholdRow(Struct, frozen=True, kw_only=True):
    """How well a threshold selects; a figure that is undefined is 0."""

    theta: float
    selected: int
    """Pages that it selects, over all dates."""
    precision: float
    recall: float
    f1: float


class ThresholdChoice(Struct, frozen=True, kw_only=True):
    """All thresholds, and the best one."""

    rows: list[ThresholdRow]
    best: ThresholdRow | None
    """With the highest F1, of equal ones the lowest; None: nothing could be judged."""
    dates: list[float]
    judged: int
    """Forecasts of a page at a date whose result is known."""
    updated: int


async def chosen_threshold(
    store: Store, rule: SelectionRule, choice: KnownPageFilter, *, now: float, ahead_s: float, dates: int = DATES
) -> ThresholdChoice:
    """The quality of each threshold on the pages' past, for forecasts of `ahead_s` seconds."""
    ahead_days = ahead_s / DAY_S
    last = await _last_sighting(store, rule, choice, now)
    cuts = [last - number * ahead_days for number in range(dates, 0, -1)]
    counts = np.zeros((3, len(THRESHOLDS)), dtype=np.int64)  # selected, of them updated, updated
    judged = 0
    async for _, _, history, _ in histories(store, rule.layer, choice, rule.site_depth):
        for cut in cuts:
            known, updated = worth_a_visit(history, cut, ahead_days)
            chance = past_chance(history, rule.method, cut, ahead_days, rule.window_days)[known]
            counts += _counted(chance, updated[known])
            judged += int(known.sum())
    rows = _rows(counts)
    best = max(rows, key=lambda row: (row.f1, -row.theta)) if counts[2, 0] else None
    dates_s = [cut * DAY_S for cut in cuts]
    return ThresholdChoice(rows=rows, best=best, dates=dates_s, judged=judged, updated=int(counts[2, 0]))


async def _last_sighting(store: Store, rule: SelectionRule, choice: KnownPageFilter, now: float) -> float:
    """The end of the past, in days: when a page was last seen."""
    last = -np.inf
    async for _, _, history, _ in histories(store, rule.layer, choice, rule.site_depth):
        seen = history.at_days[history.at_days <= now / DAY_S]
        last = max(last, float(seen.max(initial=-np.inf)))
    return last if np.isfinite(last) else now / DAY_S


def past_chance(
    history: VisitHistory,
    method: Method,
    cut_days: float,
    ahead_days: float,
    window_days: float,
    activity: Activity | None = None,
) -> Days:
    """The probabilities that the method would have given at that date."""
    if method == "hacs":
        return update_forecast(history, cut_days, ahead_days, window_days).chance
    past = within(history, -np.inf, cut_days)
    model = activity or pooled_activity()
    belief = beliefs_after(model, past)
    age = cut_days + ahead_days - np.nan_to_num(_last_days(past), nan=cut_days)
    forecast = model.forecast(belief, age)
    unchanged = forecast.unchanged + (age - forecast.begin) * forecast.unchanged_slope
    chance: Days = 1.0 - np.maximum(unchanged, 0.0)
    return chance


def worth_a_visit(history: VisitHistory, cut_days: float, ahead_days: float) -> tuple[Flags, Flags]:
    """Whether it is known that a visit of each page by then would have seen an update; and whether it would have."""
    end = cut_days + ahead_days
    past = within(history, -np.inf, cut_days)
    last = _last_days(history)
    known = (past.counts > 0) & (last >= end)
    seen_at = _last_days(past)
    updated_at = history.at_days - history.elapsed_days / 2
    page = history.page_of()
    hit = history.changed & (updated_at <= end) & (history.at_days > np.nan_to_num(seen_at, nan=np.inf)[page])
    return known, np.bincount(page[hit], minlength=history.pages) > 0


def _last_days(history: VisitHistory) -> Days:
    """The time of each page's last visit; NaN without an interval."""
    last = np.full(history.pages, np.nan)
    filled = history.counts > 0
    last[filled] = history.at_days[history.offsets[1:][filled] - 1]
    return last


def _counted(chance: Days, updated: Flags) -> NDArray[np.int64]:
    """Pages selected at each threshold, those of them that were updated, and all that were."""
    order = np.argsort(-chance, kind="stable")
    number = np.searchsorted(-chance[order], -THRESHOLDS, side="right")
    hits = np.concatenate([[0], np.cumsum(updated[order])])
    return np.stack([number, hits[number], np.full(len(THRESHOLDS), updated.sum())]).astype(np.int64)


def _rows(counts: NDArray[np.int64]) -> list[ThresholdRow]:
    rows = []
    for theta, selected, hits, updated in zip(THRESHOLDS.tolist(), *counts.tolist(), strict=True):
        rows.append(
            ThresholdRow(
                theta=theta,
                selected=selected,
                precision=hits / selected if selected else 0.0,
                recall=hits / updated if updated else 0.0,
                f1=2 * hits / (selected + updated) if selected + updated else 0.0,
            )
        )
    return rows
