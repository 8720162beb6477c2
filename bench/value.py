"""A million pages under the flagship: valued and the next thousand chosen, once an hour, as the live loop does it."""

from __future__ import annotations

import time

import numpy as np

from bench.figures import Figure
from webstrata.flows.policies import population
from webstrata.schedule.allocator import choose

_PAGES, _PAGES_QUICK = 1_000_000, 200_000
_SITES = 2_000
_CHOSEN = 1_000


def run(quick: bool) -> list[Figure]:
    pages = _PAGES_QUICK if quick else _PAGES
    random = np.random.default_rng(1)
    watched = population("value", random.integers(0, _SITES, pages), now=-30.0)
    watched.copied(watched.rows, random.uniform(-30.0, -1.0, pages))
    whole, hourly, chosen = [], [], []
    start = time.perf_counter()
    watched.values(0.0)
    whole.append(1e3 * (time.perf_counter() - start))
    for hour in range(1, 6 if quick else 13):
        now = hour / 24.0
        start = time.perf_counter()
        values = watched.values(now)
        valued = time.perf_counter()
        rows = choose(values, watched.age(now), _CHOSEN, watched.policy.bounds)
        done = time.perf_counter()
        hourly.append(1e3 * (done - start))
        chosen.append(1e3 * (done - valued))
        watched.learn(rows, now, random.random(len(rows)) < 0.3)

    def figure(title: str, values: list[float], at_most: float | None = None) -> Figure:
        return Figure(bench="value", name=f"{title} ({pages:,} pages)", values=values, unit="ms", at_most=at_most)

    return [
        figure("an hourly round: all valued, 1,000 chosen", hourly, 50.0),
        figure("of which choosing", chosen),
        figure("the first round, every forecast made anew", whole),
    ]
