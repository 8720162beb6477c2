"""How long one request to a host takes, learned from the crawl log: a quantile table for each host.

A host's own times count as far as there are many of them; the rest of its table is the shape that all hosts share,
around a level drawn towards the level of all. A host of which nothing is known has the level of all, and is as
uncertain as hosts differ (docs/decisions/0034-crawl-time-estimate.md).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from webstrata.plan import draws
from webstrata.plan.draws import Keys, Numbers

Sample = tuple[str, float, int]
"""(host, seconds of a visit, requests of that visit; 0: it was given up before the first)."""
Mean = tuple[int, float]
"""(visits, seconds of all of them)."""

POINTS = 65
"""Quantiles kept of each host."""
SHORTEST_S = 0.001
LONGEST_S = 3600.0
_DEFAULT_LEVEL = float(np.log(2.0))
"""Nothing is known of any host: two seconds, as the paper has it."""
_DEFAULT_SPREAD = 0.5
_DEFAULT_DIFFERENCE = 1.0
"""By how much (natural logarithm) hosts differ, before any two are known."""
_LEAST_DRIFT = 0.03
"""A host's level is never known better than this: it has good and bad hours."""
_BLOCK = 8
"""Visits in a row that tell of one hour's level."""
_SHAPE_WEIGHT = 8.0
"""So many own samples count as much as the shape of all hosts."""


class DownloadTimes:
    """Times of requests by host. `rows` finds hosts; the last row stands for all that are unknown."""

    def __init__(self, samples: Iterable[Sample] = (), means: Mapping[str, Mean] | None = None) -> None:
        """`means` are older sums, for hosts that the samples do not name."""
        visits = [(host, s, n) for host, s, n in samples if 0 <= s < float("inf") and n >= 0]
        known = _HostSamples([(host, s / n) for host, s, n in visits if n], means or {})
        self._row = {name: row for row, name in enumerate(known.names)}
        self._table, self._uncertainty = known.table()
        self._extra = _extra_requests(visits, self._row)
        self.averages = _averages(visits, known.summed)
        """Plain mean seconds of a visit, by host: what the paper's estimate takes."""

    def rows(self, names: Sequence[str]) -> NDArray[np.intp]:
        unknown = len(self._row)
        return np.array([self._row.get(name, unknown) for name in names], dtype=np.intp)

    def is_known(self, name: str) -> bool:
        return name in self._row

    def mean_s(self, rows: NDArray[np.intp]) -> Numbers:
        """Expected seconds of one request."""
        found: Numbers = np.exp(self._table[rows]).mean(axis=1)
        return found

    def extra_requests(self, rows: NDArray[np.intp]) -> Numbers:
        """Requests of a visit beyond the first: redirects and whatever else its handler asks for."""
        return self._extra[rows]

    def quantiles_s(self, rows: NDArray[np.intp]) -> Numbers:
        """The hosts' tables: seconds at evenly spaced probabilities."""
        found: Numbers = np.exp(self._table[rows])
        return found

    def level(self, rows: NDArray[np.intp], of: Keys, replicate: int) -> Numbers:
        """Factor by which a host is slower or quicker than believed, in this replicate."""
        found: Numbers = np.exp(self._uncertainty[rows] * draws.normals(of, replicate, 0))
        return found

    def draw_s(
        self, rows: NDArray[np.intp], of: Keys, replicate: int, count: NDArray[np.integer], level: Numbers
    ) -> Numbers:
        """Seconds of requests: for each its host's row and key, its place at the host, and its host's level."""
        place = draws.uniforms(of, replicate, count) * (POINTS - 1)
        low = place.astype(np.intp)
        part = place - low
        logs = self._table[rows, low] * (1 - part) + self._table[rows, low + 1] * part
        found: Numbers = np.clip(np.exp(logs) * level, SHORTEST_S, LONGEST_S)
        return found


class _AllHosts(Struct, frozen=True):
    level: float
    difference: float
    """Standard deviation of the hosts' levels."""
    spread: float
    """Standard deviation of times around their host's level."""
    shape: Numbers
    """Quantiles of the times around their host's level."""


class _HostSamples:
    """Samples by host, sorted within each; hosts known by sums only stand behind."""

    def __init__(self, requests: Sequence[tuple[str, float]], means: Mapping[str, Mean]) -> None:
        """(host, seconds) of single requests."""
        sampled = sorted({host for host, _ in requests})
        place = {name: n for n, name in enumerate(sampled)}
        codes = np.array([place[host] for host, _ in requests], dtype=np.intp)
        logs = np.log(np.clip(np.array([s for _, s in requests], dtype=np.float64), SHORTEST_S, LONGEST_S))
        self.drift = _drift(codes, logs, len(sampled))
        order = np.lexsort((logs, codes))
        self.logs, self.codes = logs[order], codes[order]
        self.counts = np.bincount(codes, minlength=len(sampled)).astype(np.float64)
        self.summed = {
            name: (visits, seconds)
            for name, (visits, seconds) in sorted(means.items())
            if name not in place and visits > 0 and 0 <= seconds < float("inf")
        }
        self.names = [*sampled, *self.summed]

    def table(self) -> tuple[Numbers, Numbers]:
        """Quantile tables and uncertainties of the levels; one row more than names, for unknown hosts."""
        levels = np.bincount(self.codes, self.logs, len(self.counts)) / np.maximum(self.counts, 1)
        population = self._population(levels)
        noise = population.spread**2 / np.maximum(self.counts, 1)
        trust = population.difference**2 / (population.difference**2 + noise)
        drawn_in = population.level + trust * (levels - population.level)
        own = self._own_quantiles()
        share = (self.counts / (self.counts + _SHAPE_WEIGHT))[:, None]
        sampled = share * own + (1 - share) * (drawn_in[:, None] + population.shape)
        uncertain = np.sqrt(trust * noise + self.drift**2)
        summed, summed_uncertain = self._summed(population)
        unknown = population.level + population.shape
        table = np.vstack([sampled, summed, unknown[None, :]])
        return table, np.concatenate([uncertain, summed_uncertain, [np.hypot(population.difference, self.drift)]])

    def _own_quantiles(self) -> Numbers:
        """Each host's sorted samples read at evenly spaced places: one gather for all hosts."""
        starts = np.concatenate([[0.0], np.cumsum(self.counts)[:-1]]) if len(self.counts) else np.zeros(0)
        # A few samples span less than their distribution does: half a sample is missing at either end.
        place = np.linspace(0.0, 1.0, POINTS) * self.counts[:, None] - 0.5
        place = starts[:, None] + np.clip(place, 0.0, self.counts[:, None] - 1)
        low = np.floor(place).astype(np.intp)
        high = np.minimum(low + 1, (starts + self.counts - 1).astype(np.intp)[:, None])
        part = place - low
        found: Numbers = self.logs[low] * (1 - part) + self.logs[high] * part
        return found

    def _population(self, levels: Numbers) -> _AllHosts:
        probabilities = np.linspace(0.0, 1.0, POINTS)
        if not len(self.logs):
            shape = _DEFAULT_SPREAD * _normal_quantiles()
            return _AllHosts(_DEFAULT_LEVEL, _DEFAULT_DIFFERENCE, _DEFAULT_SPREAD, shape)
        around = self.logs - levels[self.codes]
        freedom = len(self.logs) - len(levels)
        if freedom >= POINTS:
            spread = float(np.sqrt((around**2).sum() / freedom))
            shape = np.quantile(around, probabilities)
        else:
            spread = _DEFAULT_SPREAD
            shape = spread * _normal_quantiles()
        difference = _DEFAULT_DIFFERENCE
        if len(levels) >= 3:
            apart = float(levels.var(ddof=1) - (spread**2 / self.counts).mean())
            difference = float(np.sqrt(max(apart, 0.1**2)))
        return _AllHosts(float(levels.mean()), difference, spread, shape)

    def _summed(self, population: _AllHosts) -> tuple[Numbers, Numbers]:
        sums = np.array(list(self.summed.values()), dtype=np.float64).reshape(-1, 2)
        means = np.log(np.clip(sums[:, 1] / np.maximum(sums[:, 0], 1), SHORTEST_S, LONGEST_S))
        # A mean stands above the level by what the shape's own mean does.
        levels = means - np.log(np.exp(population.shape).mean())
        uncertain = np.sqrt(population.spread**2 / np.maximum(sums[:, 0], 1) + self.drift**2)
        return levels[:, None] + population.shape, uncertain


def _drift(codes: NDArray[np.intp], logs: Numbers, hosts: int) -> float:
    """By how much (standard deviation) levels differ from one stretch of visits to another of the same host."""
    order = np.argsort(codes, kind="stable")  # within a host as the log has them
    codes, logs = codes[order], logs[order]
    starts = np.searchsorted(codes, np.arange(hosts))
    place = np.arange(len(codes)) - starts[codes]
    whole = place < (np.bincount(codes, minlength=hosts) // _BLOCK * _BLOCK)[codes]
    blocks = logs[whole].reshape(-1, _BLOCK)
    of = codes[whole][::_BLOCK]
    number = np.bincount(of, minlength=hosts)
    freedom = int((number - 1)[number > 1].sum())
    if freedom < _BLOCK:
        return _LEAST_DRIFT
    means = blocks.mean(axis=1)
    centre = np.bincount(of, means, hosts) / np.maximum(number, 1)
    between = float(((means - centre[of]) ** 2).sum()) / freedom
    within = float(blocks.var(axis=1, ddof=1).mean()) / _BLOCK
    return float(np.sqrt(max(between - within, _LEAST_DRIFT**2)))


def _averages(visits: Sequence[Sample], sums: Mapping[str, Mean]) -> dict[str, float]:
    found = {host: seconds / number for host, (number, seconds) in sums.items()}
    totals: dict[str, tuple[float, int]] = {}
    for host, seconds, requests in visits:
        if requests:
            total, number = totals.get(host, (0.0, 0))
            totals[host] = (total + seconds, number + 1)
    return found | {host: total / number for host, (total, number) in totals.items()}


def _extra_requests(visits: Sequence[Sample], row: Mapping[str, int]) -> Numbers:
    """By row: requests of a visit beyond one, drawn towards those of all hosts."""
    beyond = np.array([n - 1.0 for _, _, n in visits], dtype=np.float64)
    codes = np.array([row.get(host, len(row)) for host, _, _ in visits], dtype=np.intp)
    overall = float(beyond.mean()) if len(beyond) else 0.0
    counts = np.bincount(codes, minlength=len(row) + 1)
    sums = np.bincount(codes, beyond, len(row) + 1)
    found: Numbers = (sums + overall) / (counts + 1.0)
    return found


def _normal_quantiles() -> Numbers:
    """Of the standard normal, at evenly spaced probabilities; the ends stand half a step inside."""
    from statistics import NormalDist

    normal = NormalDist()
    inside = np.clip(np.linspace(0.0, 1.0, POINTS), 0.5 / POINTS, 1 - 0.5 / POINTS)
    return np.array([normal.inv_cdf(p) for p in inside])
