"""The predicted time of a page's visit: when its value first reaches the price, if no further signal arrives.

The loop visits the most valuable pages, as many as the budget pays for. If all pages were visited whenever their value
reached c, they would make N(t, c) visits until t. The budget pays for its credit and `per_day` t, so the price at t is
the least c with N(t, c) within that amount: a page that is worth more was visited before, one that is worth less waits.
Right after the first copies, when all pages are worth the same, this is the time at which their turn comes; later the
price is almost constant.
"""

from __future__ import annotations

import numpy as np
from msgspec import Struct

from webstrata.clock import DAY_S
from webstrata.columns import Column, Days, Rows
from webstrata.schedule.forecast import PageSignals
from webstrata.schedule.page_table import PageTable
from webstrata.schedule.policy_state import PolicyState

AHEAD: Days = np.concatenate([[0.0], np.geomspace(1 / 288, 400.0, 64)])
"""Days ahead at which values are computed; between two of them the value is interpolated linearly."""
_BATCH = 2048
"""Values computed in one call: for few pages all times at once, for many pages time by time until they have crossed."""
_PRICES = np.geomspace(1e-5, 10.0, 128)
_SAMPLED = 128
"""Number of pages from which the price is computed: all, or every so many of them."""
_RENEWED_AFTER = 1 / 32
"""After visits of this share of the pages the price is computed again."""
_RENEWED_DAYS = 1 / 24
_NEVER = 1e6


def crossing_days(
    pages: PolicyState,
    rows: Rows,
    now: float,
    price: float | Days,
    factor: Column,
    earliest: Days | None = None,
) -> Days:
    """Days from now until each page's value, times its factor, reaches the price; infinite where it never does.

    `price` is constant, or given at each of the times `AHEAD`. What happens before `earliest` does not count.
    """
    crossing = np.full(len(rows), np.inf)
    future_value = _FutureValue(pages, rows, now)
    scale = factor if pages.weights is None else factor * pages.weights[rows]
    left = np.arange(len(rows))
    prices = np.broadcast_to(np.asarray(price, dtype=np.float64), AHEAD.shape)
    missing = np.full(len(rows), prices[0])
    done, last = 0, 0.0
    while done < len(AHEAD) and len(left):
        ahead = AHEAD[done : done + max(1, _BATCH // len(left))]
        worth = future_value(left, ahead) * scale[left]
        below = prices[done : done + len(ahead), None] - worth
        reached = below <= 0
        if earliest is not None:
            reached &= ahead[:, None] >= earliest[left]
        hit = np.flatnonzero(reached.any(axis=0))
        step = reached.argmax(axis=0)[hit]
        before = np.concatenate([missing[None, left], below[:-1]])[step, hit]
        share = np.clip(before / np.maximum(before - below[step, hit], 1e-12), 0.0, 1.0)
        since = np.concatenate([[last], ahead[:-1]])[step]
        crossing[left[hit]] = since + share * (ahead[step] - since)
        missing[left] = below[-1]
        left, last, done = np.delete(left, hit), float(ahead[-1]), done + len(ahead)
    return crossing


class _FutureValue:
    """The future values of some pages, from their own forecast and the usual rate of their sites' events."""

    def __init__(self, pages: PolicyState, rows: Rows, now: float) -> None:
        self._pages, self._rows, self._now = pages, rows, now
        signals = pages.signals(rows, now)
        self._quiet, self._quiet_next_day = signals.quiet, signals.quiet_next_day

    def __call__(self, which: Rows, ahead: Days) -> Days:
        """Values of the pages at these indices of the rows (axis 1), so many days from now (axis 0)."""
        policy, state = self._pages.policy, self._pages.state
        if not policy.has_forecast:
            rows, times = self._rows[which], (self._now + ahead).tolist()
            return np.array([policy.value(state, rows, at) for at in times], dtype=np.float64)
        every, at = np.tile(which, len(ahead)), np.repeat(self._now + ahead, len(which))
        return self._from_forecast(every, at, np.repeat(ahead, len(which))).reshape(len(ahead), -1)

    def _from_forecast(self, which: Rows, at: Days, ahead: Days) -> Days:
        """The value of each page at its own time."""
        policy, state = self._pages.policy, self._pages.state
        rows, signals = self._rows[which], PageSignals()
        if self._quiet is not None and self._quiet_next_day is not None:
            quiet_next = self._quiet_next_day[which]
            quiet = self._quiet[which] * quiet_next ** ahead.astype(quiet_next.dtype)
            signals = PageSignals(quiet=quiet, quiet_next_day=quiet_next)
        age = policy.age(state, rows, at)
        return policy.worth(policy.forecast(state, rows, age), age, signals).astype(np.float64)

    def after_visit(self, which: Rows, ahead: Days) -> Days:
        """The same for pages that are visited now and unchanged: for policies with a forecast."""
        policy, state = self._pages.policy, self._pages.state
        every, age = np.tile(which, len(ahead)), np.repeat(ahead, len(which))
        rows, signals = self._rows[every], PageSignals()
        if self._quiet_next_day is not None:
            quiet_next = self._quiet_next_day[every]
            signals = PageSignals(quiet=quiet_next ** age.astype(quiet_next.dtype), quiet_next_day=quiet_next)
        values = policy.worth(policy.forecast(state, rows, age), age, signals)
        return values.astype(np.float64).reshape(len(ahead), -1)


class CompetingPages(Struct, frozen=True, kw_only=True):
    """Some of the pages that share a budget. Values by the times `AHEAD` (axis 0) and page (axis 1)."""

    values: Days
    """The largest value until then if the page is not visited."""
    values_after_visit: Days
    """The same, so long after a visit."""
    age_days: Days
    min_days: Days
    max_days: Days
    pages_each: float = 1.0
    """How many pages each of them stands for."""


def price_path(pages: CompetingPages, credit: float, per_day: float) -> Days:
    """The price at each of the times `AHEAD`; `credit` is what the budget pays for now."""
    first = np.clip(
        _reached(pages.values), np.maximum(pages.min_days - pages.age_days, 0.0), pages.max_days - pages.age_days
    )
    interval = np.clip(_reached(pages.values_after_visit), pages.min_days, pages.max_days)
    ahead = AHEAD[:, None, None]
    visits = np.where(ahead >= first, 1.0 + np.floor((ahead - first) / interval), 0.0).sum(axis=2)
    affordable = pages.pages_each * visits <= (credit + per_day * AHEAD)[:, None] + 1e-9
    least = np.where(affordable.any(axis=1), affordable.argmax(axis=1), len(_PRICES) - 1)
    path: Days = _PRICES[least]
    return path


def _reached(values: Days) -> Days:
    """By price (axis 0) and page (axis 1): the time at which the value reaches the price."""
    times = np.empty((len(_PRICES), values.shape[1]))
    for page in range(values.shape[1]):
        times[:, page] = np.interp(_PRICES, values[:, page], AHEAD, left=0.0, right=_NEVER)
    return times


class PriceForecast:
    """The price from now on, of the pages of a table under a budget; computed again after some visits."""

    def __init__(self) -> None:
        self._per_day = self._credit = self._at = 0.0
        self._pays_rhythms = False
        self._visits = 0
        """Visits since the budget was last stated."""
        self._renewed: tuple[int, float, float] | None = None
        """(pages, visits per day, day) of the present path."""
        self._visits_since = 0
        self._path = np.empty(0)

    def budget(self, per_day: float, credit: float, now: float, *, pays_rhythms: bool = False) -> None:
        """At `now` (in seconds) the budget has saved `credit` visits, and brings `per_day` more a day. `pays_rhythms`:
        visits of pages with a fixed rhythm are taken from it."""
        self._pays_rhythms = pays_rhythms
        self._per_day, self._credit, self._at, self._visits = per_day, credit, now / DAY_S, 0

    def visited(self, visits: int) -> None:
        """The budget has paid for this number of visits."""
        self._visits += visits
        self._visits_since += visits

    def prices(self, table: PageTable, now: float) -> Days | None:
        """The price at each of the times `AHEAD` from `now` (in days) on; None if the budget is not known."""
        rows = np.flatnonzero(table.ready & ~table.is_list & ~table.has_rhythm)
        if self._per_day <= 0 or not len(rows) or not table.policy.has_forecast:
            return None
        known = self._renewed
        if (
            known is None
            or known[:2] != (len(table), self._per_day)
            or not 0 <= now - known[2] <= _RENEWED_DAYS
            or self._visits_since > len(table) * _RENEWED_AFTER
        ):
            credit = self._credit - self._visits + self._per_day * max(now - self._at, 0.0)
            per_day = max(self._per_day - self._others_per_day(table), 0.0)
            self._path = price_path(_competing(table, rows, now), credit, per_day)
            self._renewed, self._visits_since = (len(table), self._per_day, now), 0
            return self._path
        path: Days = np.interp(now + AHEAD, known[2] + AHEAD, self._path)
        return path

    def _others_per_day(self, table: PageTable) -> float:
        """Visits a day that the budget pays for and that do not compete: reads of lists, and fixed rhythms."""
        lists = np.flatnonzero(table.ready & table.is_list)
        reads = np.maximum(table.read_interval_days(lists), table.min_days[lists]) if len(lists) else np.empty(0)
        rhythms = table.max_days[table.has_rhythm] if self._pays_rhythms else np.empty(0)
        return float((1.0 / reads).sum() + (1.0 / rhythms).sum())


def _competing(table: PageTable, rows: Rows, now: float) -> CompetingPages:
    sample = rows[:: -(-len(rows) // _SAMPLED)]
    future = _FutureValue(table.policy_state, sample, now)
    scale = (table.factor * table.weight)[sample]
    which = np.arange(len(sample))
    return CompetingPages(
        values=np.maximum.accumulate(future(which, AHEAD) * scale, axis=0),
        values_after_visit=np.maximum.accumulate(future.after_visit(which, AHEAD) * scale, axis=0),
        age_days=table.policy.age(table.policy_state.state, sample, now),
        min_days=table.min_days[sample],
        max_days=table.max_days[sample],
        pages_each=len(rows) / len(sample),
    )
