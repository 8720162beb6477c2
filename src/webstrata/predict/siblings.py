"""Joint events of a site: a rebuild, a series of edits or a release changes many pages at once.

For each site and each of the last days there is a belief over the events of that day: none, or one of kind k, which
changes each page with probability C_k (its coverage). A visit that finds its page changed makes events in the days
since its last visit likelier, a visit that finds it unchanged less likely. The other pages of the site are affected
through `quiet`, the probability that no event changed them since their own last visit. The rate of events of each site
is learned too.

All visits of a batch are compared with the belief before the batch, so their order does not matter.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from webstrata.columns import Column, Days, Flags, State, columns

DayNumbers: TypeAlias = NDArray[np.int64]

WINDOW = 180
"""Days for which a site keeps its events; no page waits longer for its visit."""
_LEAST = 0.02
"""Smallest probability that a day leaves a page unchanged: a zero would make every belief certain."""
_DOUBT = 1e-9
"""Smallest probability of a day without an event: sums in single precision may exceed 1."""


class JointEventRates(Struct, frozen=True, kw_only=True):
    """The parameters, fitted to the three years before those that the policies are measured on."""

    coverage: tuple[float, ...] = (0.03, 0.1, 0.3, 0.6, 0.95)
    per_day: tuple[float, ...] = (0.00151, 0.00784, 0.00414, 0.000957, 0.000198)
    prior_days: float = 1000.0
    """Days of a site's own record that weigh as much as these parameters."""
    settled_days: int = 30
    """Days after which a day is counted into the site's record."""


def ring_index(site: NDArray[np.intp], since: DayNumbers) -> NDArray[np.intp]:
    """Indices of these days in the ring buffers of the sites, flattened."""
    index: NDArray[np.intp] = site * WINDOW + since % WINDOW
    return index


class Siblings:
    """The model for many sites at once. It holds only parameters; the caller owns the state, one row per site."""

    def __init__(self, events: JointEventRates | None = None) -> None:
        events = events or JointEventRates()
        self._coverage = np.array(events.coverage)
        self._per_day = np.array(events.per_day)
        self._prior_days = events.prior_days
        self._settled = events.settled_days
        kinds = len(self._coverage)
        self.dtype = columns(
            {
                "day": np.int64,
                "events": (np.float32, (WINDOW, kinds)),  # ring: day number modulo WINDOW
                "touched": (np.float64, (WINDOW,)),  # ln of the probability of no event, summed up to each day
                "counted": (np.float64, (kinds,)),
                "days": np.float64,
            }
        )

    def start(self, n: int, day: int) -> State:
        """The state of n sites at the end of `day`, without any visit."""
        state = np.zeros(n, dtype=self.dtype)
        state["day"] = day
        return state

    def advance(self, state: State, day: int) -> None:
        """Add all days up to `day`, and count the days that are settled. In place."""
        behind = np.flatnonzero(state["day"] < day)
        if not len(behind):
            return
        opened = np.unique(state["day"][behind])
        for first in opened.tolist():
            rows = behind[state["day"][behind] == first]
            for today in range(max(first + 1, day - WINDOW + 1), day + 1):
                self._open(state, rows, today)
        state["day"][behind] = day

    def quiet(self, state: State, site: NDArray[np.intp], since: DayNumbers, day: int) -> Column:
        """For pages of these sites: probability that no event changed them after `since` and up to `day`."""
        index = ring_index(site, np.maximum(since, day - WINDOW + 1))
        now = state["touched"][:, day % WINDOW].astype(np.float32)
        logs: Column = np.minimum(now[site] - state["touched"].ravel().take(index).astype(np.float32), 0.0)
        return np.exp(logs, out=logs)

    def quiet_since(self, state: State, day: int) -> Column:
        """The same for all entries of all ring buffers (`ring_index`) at once."""
        touched = state["touched"].astype(np.float32) - state["touched"][:, day % WINDOW].astype(np.float32)[:, None]
        logs: Column = np.minimum(-touched.ravel(), 0.0)  # days after `day` count as quiet
        return np.exp(logs, out=logs)

    def quiet_next_day(self, state: State) -> Column:
        """For each site: probability that no event changes a page on the next day."""
        free: Column = np.maximum(
            1.0 - self._expected(state["counted"], state["days"]) @ self._coverage, _LEAST
        ).astype(np.float32)
        return free

    def learn(
        self, state: State, site: NDArray[np.intp], since: DayNumbers, day: int, changed: Flags, unchanged: Column
    ) -> None:
        """Pages of these sites were visited on `day` and previously on `since`, and had changed or not; `unchanged` is
        the probability that they had no change of their own. The sites must have been advanced to `day`. In place."""
        if not len(site):
            return
        free = unchanged * self.quiet(state, site, since, day)
        order = np.argsort(site, kind="stable")
        cuts = np.flatnonzero(np.diff(site[order])) + 1
        for part in np.split(order, cuts):
            self._weigh(state, int(site[part[0]]), since[part], day, changed[part], free[part])

    def _expected(self, counted: NDArray[np.float64], days: Days) -> NDArray[np.float64]:
        expected: NDArray[np.float64] = self._prior_days * self._per_day + counted
        return expected / (self._prior_days + days)[:, None]

    def _open(self, state: State, rows: NDArray[np.intp], day: int) -> None:
        old = (day - self._settled) % WINDOW
        state["counted"][rows] += state["events"][rows, old]
        state["days"][rows] += state["events"][rows, old].any(axis=1)
        fresh = self._expected(state["counted"][rows], state["days"][rows])  # not of whole rows: they are large
        state["events"][rows, day % WINDOW] = fresh
        step = np.log(np.maximum(1.0 - fresh @ self._coverage, _LEAST))
        state["touched"][rows, day % WINDOW] = state["touched"][rows, (day - 1) % WINDOW] + step

    def _weigh(self, state: State, site: int, since: DayNumbers, day: int, changed: Flags, free: Column) -> None:
        first = max(int(since.min()) + 1, day - WINDOW + 2)
        if first > day:
            return
        days = np.arange(first, day + 1)
        ring = days % WINDOW
        events = state["events"][site, ring].astype(np.float64)
        belief = np.column_stack([events, np.maximum(1.0 - events.sum(axis=1), _DOUBT)])
        misses = np.append(
            1.0 - self._coverage, 1.0
        )  # probability that an event of each kind, or none, leaves a page unchanged
        begun = np.maximum(since + 1 - first, 0)
        same = np.cumsum(np.bincount(begun[~changed], minlength=len(days) + 1)[: len(days)])
        weight = same[:, None] * np.log(misses)
        if changed.any():
            not_touched = np.maximum(1.0 - events @ self._coverage, _LEAST)
            inside = days >= (since[changed] + 1)[:, None]
            other = np.minimum(np.where(inside, free[changed][:, None] / not_touched, 0.0), 0.999)
            weight += np.log1p(-other[:, :, None] * misses).sum(axis=0)
        belief = belief * np.exp(weight - weight.max(axis=1, keepdims=True))
        belief /= belief.sum(axis=1, keepdims=True)
        state["events"][site, ring] = belief[:, :-1]
        steps = np.log(np.maximum(1.0 - belief[:, :-1] @ self._coverage, _LEAST))
        state["touched"][site, ring] = state["touched"][site, (first - 1) % WINDOW] + np.cumsum(steps)
