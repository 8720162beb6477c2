"""Joint events: a rebuild, a sweep of edits, a release day touches many pages of a site at once.

For each site and each of the last days there is a belief over the events that may have happened on it: none, or one
that touched each page with probability C_k. A visit that finds its page changed makes events in the days since its
last visit likelier, one that finds it as it was makes them less likely; the other pages of the site see it through
`quiet`, the probability that no event touched them since their own last visit. How often a site has such events is
learned too: a site without any soon forgets the idea.

Visits of one batch are weighed against the belief as it stood before the batch, so their order does not matter.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from webstrata.columns import Column, Flags, State, columns

DayNumbers: TypeAlias = NDArray[np.int64]

WINDOW = 180
"""Days that a site remembers; no page waits longer for its visit."""
_LEAST = 0.02
"""A day on which a page was surely touched would make every belief certain."""
_DOUBT = 1e-9
"""No event after all is never less likely: what is kept in single precision may add up to more than 1."""


class JointEventRates(Struct, frozen=True, kw_only=True):
    """The population's parameters: fitted to the three years before those that the policies are measured on."""

    coverage: tuple[float, ...] = (0.03, 0.1, 0.3, 0.6, 0.95)
    per_day: tuple[float, ...] = (0.00151, 0.00784, 0.00414, 0.000957, 0.000198)
    prior_days: float = 1000.0
    """How many days of a site's own record weigh as much as the population's."""
    settled_days: int = 30
    """When a day is counted into the site's record."""


def ring_places(site: NDArray[np.intp], since: DayNumbers) -> NDArray[np.intp]:
    """Where the sites' memory of these days is."""
    places: NDArray[np.intp] = site * WINDOW + since % WINDOW
    return places


class Siblings:
    """Events of many sites at once. Holds only parameters; the caller owns the sites' state, one row each."""

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
                "touched": (np.float64, (WINDOW,)),  # ln of "not touched", summed up to the end of each day
                "counted": (np.float64, (kinds,)),
                "days": np.float64,
            }
        )

    def start(self, n: int, day: int) -> State:
        """n sites that begin at the end of `day`."""
        state = np.zeros(n, dtype=self.dtype)
        state["day"] = day
        return state

    def advance(self, state: State, day: int) -> None:
        """Open every day up to `day`; what the days before taught is counted. In place."""
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
        """For pages of these sites: probability that no event touched them after `since` and up to `day`."""
        places = ring_places(site, np.maximum(since, day - WINDOW + 1))
        now = state["touched"][:, day % WINDOW].astype(np.float32)
        told: Column = np.minimum(now[site] - state["touched"].ravel().take(places).astype(np.float32), 0.0)
        return np.exp(told, out=told)

    def quiet_since(self, state: State, day: int) -> Column:
        """The same for every place (`ring_places`) at once; places hold for `WINDOW` days."""
        touched = state["touched"].astype(np.float32) - state["touched"][:, day % WINDOW].astype(np.float32)[:, None]
        told: Column = np.minimum(-touched.ravel(), 0.0)  # a day that is yet to come counts for nothing
        return np.exp(told, out=told)

    def coming(self, state: State) -> Column:
        """For each site: probability that no event touches a page on a day to come."""
        free: Column = np.maximum(1.0 - self._expected(state) @ self._coverage, _LEAST).astype(np.float32)
        return free

    def learn(
        self, state: State, site: NDArray[np.intp], since: DayNumbers, day: int, changed: Flags, unchanged: Column
    ) -> None:
        """Pages of these sites were visited on `day`, before on `since`, and had changed or not; `unchanged` is how
        likely they had no change of their own. All on `day`, to which the sites have been advanced. In place."""
        if not len(site):
            return
        free = unchanged * self.quiet(state, site, since, day)
        order = np.argsort(site, kind="stable")
        cuts = np.flatnonzero(np.diff(site[order])) + 1
        for part in np.split(order, cuts):
            self._weigh(state, int(site[part[0]]), since[part], day, changed[part], free[part])

    def expected_per_day(self, state: State, row: int) -> float:
        """Events a day that a site is held to have, for people."""
        return float(self._expected(state[row : row + 1]).sum())

    def _expected(self, state: State) -> NDArray[np.float64]:
        counted: NDArray[np.float64] = self._prior_days * self._per_day + state["counted"]
        return counted / (self._prior_days + state["days"])[:, None]

    def _open(self, state: State, rows: NDArray[np.intp], day: int) -> None:
        old = (day - self._settled) % WINDOW
        state["counted"][rows] += state["events"][rows, old]
        state["days"][rows] += state["events"][rows, old].any(axis=1)
        fresh = self._expected(state[rows])
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
        misses = np.append(1.0 - self._coverage, 1.0)  # that an event, or none, leaves a page alone
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
