"""The duration of a request to a host, learned from the crawl log: a table of quantiles for each host.

The table of a host is a weighted mean of its own quantiles, which count more the more times are known, and of the shape
of all hosts around a level that is shrunk towards the level of all. An unknown host has the level of all, with the
differences between hosts as its uncertainty (docs/decisions/0034-crawl-time-estimate.md).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from webstrata.plan import draws
from webstrata.plan.draws import Keys, Numbers

Sample = tuple[str, float, int]
"""(host, seconds of a visit, requests of that visit; 0 if it ended before the first request)."""
Mean = tuple[int, float]
"""(number of visits, their total seconds)."""

POINTS = 65
"""Number of quantiles of each host."""
SHORTEST_S = 0.001
LONGEST_S = 3600.0
_DEFAULT_LEVEL = float(np.log(2.0))
"""If no host is known: two seconds, as in the paper."""
_DEFAULT_SPREAD = 0.5
_DEFAULT_DIFFERENCE = 1.0
"""Standard deviation of the hosts' levels (natural logarithm) while fewer than three hosts are known."""
_MIN_DRIFT = 0.03
"""Least uncertainty of a host's level, which changes over the day."""
_BLOCK = 8
"""Number of consecutive visits from which a level of that time is estimated."""
_SHAPE_WEIGHT = 8.0
"""Number of own samples that weigh as much as the shape of all hosts."""


class DownloadTimes:
    """Times of requests by host. `rows` returns the rows of hosts; the last row is that of unknown hosts."""

    def __init__(self, samples: Iterable[Sample] = (), means: Mapping[str, Mean] | None = None) -> None:
        """`means` are older sums, for hosts without samples."""
        visits = _Visits(samples)
        known = _HostSamples(visits, means or {})
        self._row = {name: row for row, name in enumerate(known.names)}
        self._table, self._uncertainty = known.table()
        self._extra = _extra_requests(visits, self._row)
        self.averages = visits.averages(known.summed)
        """By host: mean seconds of a visit, for the paper's estimate."""

    def rows(self, names: Sequence[str]) -> NDArray[np.intp]:
        unknown = len(self._row)
        return np.array([self._row.get(name, unknown) for name in names], dtype=np.intp)

    def is_known(self, name: str) -> bool:
        return name in self._row

    def mean_s(self, rows: NDArray[np.intp]) -> Numbers:
        """Expected seconds of one request."""
        return mean_of(np.exp(self._table[rows]))

    def extra_requests(self, rows: NDArray[np.intp]) -> Numbers:
        """Expected number of requests of a visit after the first: redirects and further requests of its handler."""
        return self._extra[rows]

    def quantiles_s(self, rows: NDArray[np.intp]) -> Numbers:
        """The tables of hosts: seconds at evenly spaced probabilities."""
        found: Numbers = np.exp(self._table[rows])
        return found

    def level(self, rows: NDArray[np.intp], of: Keys, replicate: int) -> Numbers:
        """By how much each host is slower than expected in this replicate, as a factor."""
        found: Numbers = np.exp(self._uncertainty[rows] * draws.normals(of, replicate, 0))
        return found

    def draw_s(
        self, rows: NDArray[np.intp], of: Keys, replicate: int, count: NDArray[np.integer], level: Numbers
    ) -> Numbers:
        """Seconds of requests, each with the row, key and level of its host and its number at the host."""
        point = draws.uniforms(of, replicate, count) * (POINTS - 1)
        low = point.astype(np.intp)
        part = point - low
        logs = self._table[rows, low] * (1 - part) + self._table[rows, low + 1] * part
        found: Numbers = np.clip(np.exp(logs) * level, SHORTEST_S, LONGEST_S)
        return found


def mean_of(quantiles: Numbers) -> Numbers:
    """By row: the mean of a distribution with these quantiles, which are at evenly spaced probabilities."""
    inner = quantiles.sum(axis=1) - 0.5 * (quantiles[:, 0] + quantiles[:, -1])
    mean: Numbers = inner / (quantiles.shape[1] - 1)
    return mean


class _AllHosts(Struct, frozen=True):
    """The distribution of times over all hosts."""

    level: float
    difference: float
    """Standard deviation of the hosts' levels."""
    spread: float
    """Standard deviation of times around their host's level."""
    shape: Numbers
    """Quantiles of the times around their host's level."""


class _Visits:
    """The samples as columns."""

    def __init__(self, samples: Iterable[Sample]) -> None:
        rows = list(samples)
        seconds = np.array([s for _, s, _ in rows], dtype=np.float64)
        requests = np.array([n for _, _, n in rows], dtype=np.int64)
        valid = (seconds >= 0) & (seconds < np.inf) & (requests >= 0)
        hosts = [host for (host, _, _), is_valid in zip(rows, valid.tolist(), strict=True) if is_valid]
        self.names = sorted(set(hosts))
        index = {name: code for code, name in enumerate(self.names)}
        self.codes = np.fromiter(map(index.__getitem__, hosts), dtype=np.intp, count=len(hosts))
        self.seconds, self.requests = seconds[valid], requests[valid]

    def averages(self, sums: Mapping[str, Mean]) -> dict[str, float]:
        """By host: mean seconds of a visit, without visits that ended before the first request."""
        made = self.requests > 0
        number = np.bincount(self.codes[made], minlength=len(self.names))
        total = np.bincount(self.codes[made], self.seconds[made], len(self.names))
        mean = (total / np.maximum(number, 1)).tolist()
        found = {host: seconds / visits for host, (visits, seconds) in sums.items()}
        return found | {self.names[code]: mean[code] for code in np.flatnonzero(number).tolist()}


class _HostSamples:
    """Samples by host, sorted within each host; then the hosts of which only sums are known."""

    def __init__(self, visits: _Visits, means: Mapping[str, Mean]) -> None:
        made = visits.requests > 0
        known, codes = np.unique(visits.codes[made], return_inverse=True)
        sampled = [visits.names[code] for code in known.tolist()]
        index = set(sampled)
        logs = np.log(np.clip(visits.seconds[made] / visits.requests[made], SHORTEST_S, LONGEST_S))
        self.drift = _drift(codes, logs, len(sampled))
        order = np.lexsort((logs, codes))
        self.logs, self.codes = logs[order], codes[order]
        self.counts = np.bincount(codes, minlength=len(sampled)).astype(np.float64)
        self.summed = {
            name: (visits, seconds)
            for name, (visits, seconds) in sorted(means.items())
            if name not in index and visits > 0 and 0 <= seconds < float("inf")
        }
        self.names = [*sampled, *self.summed]

    def table(self) -> tuple[Numbers, Numbers]:
        """Tables of quantiles and uncertainties of the levels; the last row is for unknown hosts."""
        levels = np.bincount(self.codes, self.logs, len(self.counts)) / np.maximum(self.counts, 1)
        every = self._all_hosts(levels)
        noise = every.spread**2 / np.maximum(self.counts, 1)
        trust = every.difference**2 / (every.difference**2 + noise)
        shrunk = every.level + trust * (levels - every.level)
        own = self._own_quantiles()
        share = (self.counts / (self.counts + _SHAPE_WEIGHT))[:, None]
        sampled = share * own + (1 - share) * (shrunk[:, None] + every.shape)
        uncertain = np.sqrt(trust * noise + self.drift**2)
        summed, summed_uncertain = self._summed(every)
        unknown = every.level + every.shape
        table = np.vstack([sampled, summed, unknown[None, :]])
        return table, np.concatenate([uncertain, summed_uncertain, [np.hypot(every.difference, self.drift)]])

    def _own_quantiles(self) -> Numbers:
        """The quantiles of each host's own samples, computed for all hosts at once."""
        starts = np.concatenate([[0.0], np.cumsum(self.counts)[:-1]]) if len(self.counts) else np.zeros(0)
        # Few samples span less than their distribution: half a sample is missing at each end.
        point = np.linspace(0.0, 1.0, POINTS) * self.counts[:, None] - 0.5
        point = starts[:, None] + np.clip(point, 0.0, self.counts[:, None] - 1)
        low = np.floor(point).astype(np.intp)
        high = np.minimum(low + 1, (starts + self.counts - 1).astype(np.intp)[:, None])
        part = point - low
        quantiles: Numbers = self.logs[low] * (1 - part) + self.logs[high] * part
        return quantiles

    def _all_hosts(self, levels: Numbers) -> _AllHosts:
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

    def _summed(self, every: _AllHosts) -> tuple[Numbers, Numbers]:
        sums = np.array(list(self.summed.values()), dtype=np.float64).reshape(-1, 2)
        means = np.log(np.clip(sums[:, 1] / np.maximum(sums[:, 0], 1), SHORTEST_S, LONGEST_S))
        # A mean is above the level by the mean of the shape.
        levels = means - np.log(np.exp(every.shape).mean())
        uncertain = np.sqrt(every.spread**2 / np.maximum(sums[:, 0], 1) + self.drift**2)
        return levels[:, None] + every.shape, uncertain


def _drift(codes: NDArray[np.intp], logs: Numbers, hosts: int) -> float:
    """Standard deviation of the level of a host between blocks of consecutive visits."""
    order = np.argsort(codes, kind="stable")  # keeps the order of the log within a host
    codes, logs = codes[order], logs[order]
    starts = np.searchsorted(codes, np.arange(hosts))
    number_in_host = np.arange(len(codes)) - starts[codes]
    whole = number_in_host < (np.bincount(codes, minlength=hosts) // _BLOCK * _BLOCK)[codes]
    blocks = logs[whole].reshape(-1, _BLOCK)
    of = codes[whole][::_BLOCK]
    number = np.bincount(of, minlength=hosts)
    freedom = int((number - 1)[number > 1].sum())
    if freedom < _BLOCK:
        return _MIN_DRIFT
    means = blocks.mean(axis=1)
    centre = np.bincount(of, means, hosts) / np.maximum(number, 1)
    between = float(((means - centre[of]) ** 2).sum()) / freedom
    within = float(blocks.var(axis=1, ddof=1).mean()) / _BLOCK
    return float(np.sqrt(max(between - within, _MIN_DRIFT**2)))


def _extra_requests(visits: _Visits, row: Mapping[str, int]) -> Numbers:
    """By row: requests of a visit after the first, shrunk towards those of all hosts."""
    beyond = visits.requests - 1.0
    rows = np.array([row.get(name, len(row)) for name in visits.names], dtype=np.intp)
    codes = rows[visits.codes]
    overall = float(beyond.mean()) if len(beyond) else 0.0
    counts = np.bincount(codes, minlength=len(row) + 1)
    sums = np.bincount(codes, beyond, len(row) + 1)
    extra: Numbers = (sums + overall) / (counts + 1.0)
    return extra


def _normal_quantiles() -> Numbers:
    """Quantiles of the standard normal distribution at evenly spaced probabilities; the ends are half a step inside."""
    from statistics import NormalDist

    normal = NormalDist()
    inside = np.clip(np.linspace(0.0, 1.0, POINTS), 0.5 / POINTS, 1 - 0.5 / POINTS)
    return np.array([normal.inv_cdf(p) for p in inside])
