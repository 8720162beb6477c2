"""The kernel in NumPy: what runs where the package was installed without a C compiler.

All pages are computed at once. `forecast` adds in the order of the C code, so that both give the same bits. The rates
use the same Newton steps (rates.c explains them) in double precision from the start.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from webstrata.predict.age_grid import grid_cells

_Numbers = NDArray[np.float64]

_MAX_ROUNDS = 100
_SMALL_STEP = 1e-6
"""Relative size of a Newton step after which the error, about its square, no longer matters."""
_MAX_EXPONENT = 300.0
_SERIES_BELOW = 0.1


def forecast(
    beliefs: NDArray[np.float32],
    rows: NDArray[np.int64] | None,
    at: NDArray[np.float64],
    parts: NDArray[np.float64],
    ages: NDArray[np.float64],
    tables: NDArray[np.float32],
) -> NDArray[np.float32]:
    """The products of each page's belief and the table of its age."""
    outside = len(at) > len(beliefs) if rows is None else ((rows < 0) | (rows >= len(beliefs))).any()
    if outside:
        raise IndexError(f"a row is outside the table of {len(beliefs)} beliefs.")
    chosen = beliefs[: len(at)] if rows is None else beliefs[rows]
    cell = grid_cells(at, parts, len(ages))
    sums = np.zeros((len(at), 8), dtype=np.float32)
    for level in range(tables.shape[1]):
        sums += chosen[:, level, None] * tables[cell, level]
    ends = np.append(ages[1:], np.inf)
    return np.ascontiguousarray(np.vstack([ages[cell], ends[cell], sums.T]), dtype=np.float32)


def irregular_rates(
    offsets: NDArray[np.int64], lengths: NDArray[np.float64], changed: NDArray[np.bool_]
) -> NDArray[np.float64]:
    """The maximum-likelihood rate of each page."""
    pages = len(offsets) - 1
    visits = np.diff(offsets)
    page = np.repeat(np.arange(pages), visits)
    changes = np.bincount(page[changed], minlength=pages).astype(np.float64)
    changed_days = _totals(page, np.where(changed, lengths, 0.0), pages)
    unchanged_days = _totals(page, np.where(changed, 0.0, lengths), pages)
    rates = np.full(pages, np.nan)
    rates[(visits > 0) & (changes == 0)] = 0.0
    always = (changes > 0) & (unchanged_days == 0)  # the likelihood has no maximum: eq. 4
    rates[always] = np.log((changes[always] + 0.5) / 0.5) * changes[always] / changed_days[always]
    mixed = (changes > 0) & (unchanged_days > 0)
    position = np.cumsum(mixed) - 1
    used = changed & mixed[page]
    rates[mixed] = _roots(
        lengths[used], position[page[used]], changes[mixed], changed_days[mixed], unchanged_days[mixed]
    )
    return rates


def _roots(
    lengths: _Numbers, page: NDArray[np.intp], changes: _Numbers, changed_days: _Numbers, unchanged_days: _Numbers
) -> _Numbers:
    """The roots of eq. 5 for pages with intervals of both kinds; `lengths` are the intervals with a change."""
    rates = changes / changed_days * np.log1p(changed_days / unchanged_days)
    active = np.ones(len(rates), dtype=np.bool_)
    for _ in range(_MAX_ROUNDS):
        if not active.any():
            break
        of_active = active[page]
        days, number = lengths[of_active], page[of_active]
        odds = _odds(rates[number] * days)
        left = _totals(number, days * odds, len(rates))[active]
        slope = _totals(number, days * days * odds * (1 + odds), len(rates))[active]
        step = _newton_step(left, slope, changed_days[active] / 2, unchanged_days[active])
        rates[active] += step
        active[active] = np.abs(step) > _SMALL_STEP * rates[active]
    return np.clip(rates, changes / (unchanged_days + changed_days / 2), changes / unchanged_days)


def _totals(page: NDArray[np.intp], values: _Numbers, pages: int) -> _Numbers:
    """The sum of the values of each page."""
    sums: _Numbers = np.bincount(page, values, pages).astype(np.float64)
    return sums


def _newton_step(left: _Numbers, slope: _Numbers, half: _Numbers, unchanged_days: _Numbers) -> _Numbers:
    """The larger of the two Newton steps, on ln L and on 1 / F; both stay below the root."""
    straight = (left + half) / (unchanged_days + half) * (left - unchanged_days)
    steep = left * np.log(left / unchanged_days)
    return np.fmax(steep, straight) / slope


def _odds(x: _Numbers) -> _Numbers:
    """1 / (exp(x) - 1); by its series for small x, where exp(x) - 1 would lose digits."""
    square = x * x
    series = 1 / x - 0.5 + x * (1.0 / 12 - square * (1.0 / 720 - square * (1.0 / 30240 - square / 1209600)))
    return np.where(x < _SERIES_BELOW, series, 1 / np.expm1(np.clip(x, _SERIES_BELOW, _MAX_EXPONENT)))
