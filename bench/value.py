"""A million pages under the flagship: valued and the next thousand chosen, once an hour, as the live loop does it.

In an hour about one page in 24 begins another day after its visit, and its forecast is made anew. Where all pages were
visited at the same time of day all forecasts turn in one round: so do those of rounds that are a day apart.
In processor time of one core, so that a busy machine tells the same.
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
    whole = [1e3 * (time.process_time() - start)]
    hours, days = (6, 3) if quick else (13, 8)
    hourly = [_round(watched, hour / 24.0, random) for hour in range(1, hours)]
    daily = [_round(watched, 1.0 + day, random) for day in range(days)]

    def figure(title: str, values: list[float], at_most: float | None = None) -> Figure:
        return Figure(bench="value", name=f"{title} ({pages:,} pages)", values=values, unit="ms", at_most=at_most)

    return [
        figure("an hourly round: all valued, 1,000 chosen", [total for total, _ in hourly], 50.0),
        figure("of which choosing", [choosing for _, choosing in hourly]),
        figure("a round with every forecast made anew", [total for total, _ in daily], 50.0),
        figure("the first values after the start", whole),
    ]


def _round(watched: PolicyState, now: float, random: np.random.Generator) -> tuple[float, float]:
    """Milliseconds: valuing and choosing, and choosing alone. The visits that follow are not counted."""
    start = time.process_time()
    values = watched.values(now)
    valued = time.process_time()
    rows = choose(values, watched.age(now), _CHOSEN, watched.policy.bounds)
    done = time.process_time()
    watched.learn(rows, now, random.random(len(rows)) < 0.3)
    return 1e3 * (done - start), 1e3 * (done - valued)
