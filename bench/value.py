"""The policy `value` with a million pages: value all pages and choose the next thousand, as in an hourly round.

A forecast holds until the next tabled age of its page, for most pages until another day since the visit is complete: in
an hour about one in 24. If all pages were visited at the same time of day, all forecasts are recomputed in one round;
rounds a day apart measure this case. All
times are CPU times of one core, so that they do not depend on the load of the machine.
"""

from __future__ import annotations

import time

import numpy as np

from bench.figures import Figure
from webstrata.schedule.allocator import choose
from webstrata.schedule.policy_state import PolicyState
from webstrata.schedule.registry import policy_state

_PAGES, _PAGES_QUICK = 1_000_000, 200_000
_SITES = 2_000
_CHOSEN = 1_000


def run(quick: bool) -> list[Figure]:
    pages = _PAGES_QUICK if quick else _PAGES
    random = np.random.default_rng(1)
    watched = policy_state("value", random.integers(0, _SITES, pages), now=-30.0)
    watched.copied(watched.rows, random.uniform(-30.0, -1.0, pages))
    start = time.process_time()
    watched.values(0.0)
    first = [1e3 * (time.process_time() - start)]
    hours, days = (6, 3) if quick else (13, 8)
    hourly = [_round(watched, hour / 24.0, random) for hour in range(1, hours)]
    daily = [_round(watched, 1.0 + day, random) for day in range(days)]

    def figure(title: str, values: list[float], at_most: float | None = None) -> Figure:
        return Figure(bench="value", name=f"{title} ({pages:,} pages)", values=values, unit="ms", at_most=at_most)

    return [
        figure("an hourly round: all valued, 1,000 chosen", [total for total, _ in hourly], 50.0),
        figure("part of it for the choice", [choosing for _, choosing in hourly]),
        figure("a round with all forecasts recomputed", [total for total, _ in daily], 50.0),
        figure("the first values after the start", first),
    ]


def _round(watched: PolicyState, now: float, random: np.random.Generator) -> tuple[float, float]:
    """Milliseconds for values and choice, and for the choice only. The visits after it are not included."""
    start = time.process_time()
    values = watched.values(now)
    valued = time.process_time()
    rows = choose(values, watched.age(now), _CHOSEN, watched.policy.bounds)
    done = time.process_time()
    watched.learn(rows, now, random.random(len(rows)) < 0.3)
    return 1e3 * (done - start), 1e3 * (done - valued)
