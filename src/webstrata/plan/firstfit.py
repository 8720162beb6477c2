"""Datamonitor's estimate of crawl time (section 5): threads per domain from download time and delay, domains in bins.

    threads = max(1, floor(t / d)), under a cap
    time    = documents * t / threads + d * (threads - 1)

Domains are put, by (threads, time) descending, into the first bin whose total stays within the longest domain's time. A
bin needs the threads of its largest domain. If all bins need more threads than the limit, the cap is reduced by one and
the packing repeated; at a cap of one the bins grow instead (docs/decisions/0034-crawl-time-estimate.md).

If t < d the formula ignores the delay (one thread downloads without a pause), so its time is too short: `hurried` names
those domains.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import numpy as np
from msgspec import Struct

from webstrata.errors import UsageError

DEFAULT_DELAY_S = 1.0
DEFAULT_DOWNLOAD_S = 2.0
_GROWTH = 1.01
_ROUNDING = 1e-9
"""Sums of times with a smaller relative difference count as equal."""


class Domain(Struct, frozen=True, kw_only=True):
    """Documents of one domain; a missing or invalid time is replaced by the paper's default."""

    name: str
    docs: int
    download_s: float | None = None
    delay_s: float | None = None


class Packing(Struct, frozen=True, kw_only=True):
    """The paper's estimate."""

    crawl_s: float
    threads: int
    bins: tuple[tuple[str, ...], ...]
    cap: int
    """Maximum number of threads of one domain."""
    hurried: tuple[str, ...] = ()
    """Domains with t < d, whose time is underestimated."""


class _Load(Struct, frozen=True):
    name: str
    threads: int
    time_s: float


def pack(domains: Iterable[Domain], limit: int) -> Packing:
    """The estimate with at most `limit` threads; domains without documents take no time."""
    if limit < 1:
        raise UsageError("a crawl needs at least one thread. Give --threads a number from 1 up.")
    known = [_known(domain) for domain in domains if domain.docs > 0]
    if not known:
        return Packing(crawl_s=0.0, threads=0, bins=(), cap=0)
    hurried = tuple(name for name, _, t, d in known if t < d)
    # A cap above the limit is useless: a domain with so many threads would not fit.
    cap = min(max(_threads(t, d, limit) for _, _, t, d in known), limit)
    while True:
        loads = _loads(known, cap)
        size_s = max(load.time_s for load in loads)
        packed = _first_fit(loads, size_s, limit)
        if packed is None and cap == 1:
            size_s = max(size_s, sum(load.time_s for load in loads) / limit)
            while (packed := _first_fit(loads, size_s, limit)) is None:
                size_s *= _GROWTH
        if packed is not None:
            bins, threads = packed
            return Packing(crawl_s=size_s, threads=threads, bins=bins, cap=cap, hurried=hurried)
        cap -= 1


def _known(domain: Domain) -> tuple[str, int, float, float]:
    t = _or_default(domain.download_s, DEFAULT_DOWNLOAD_S)
    return domain.name, domain.docs, t, _or_default(domain.delay_s, DEFAULT_DELAY_S)


def _or_default(seconds: float | None, default: float) -> float:
    return seconds if seconds is not None and math.isfinite(seconds) and seconds >= 0 else default


def _threads(t: float, d: float, cap: int) -> int:
    # Without a delay only the cap limits them. The rounding makes 0.3 / 0.1 three.
    return max(1, min(math.floor(min(t / d, cap) + _ROUNDING), cap)) if d > 0 else cap


def _loads(known: Sequence[tuple[str, int, float, float]], cap: int) -> list[_Load]:
    loads = []
    for name, docs, t, d in known:
        threads = _threads(t, d, cap)
        loads.append(_Load(name, threads, docs * t / threads + d * (threads - 1)))
    return sorted(loads, key=lambda load: (-load.threads, -load.time_s))


def _first_fit(loads: Sequence[_Load], size_s: float, limit: int) -> tuple[tuple[tuple[str, ...], ...], int] | None:
    """The bins and the sum of their threads; None if that exceeds the limit."""
    if sum(load.time_s for load in loads) > size_s * limit * (1 + _ROUNDING):
        return None  # would not fit even if every bin were full
    room = np.zeros(min(len(loads), limit))
    bins: list[list[str]] = []
    threads = 0
    slack_s = size_s * _ROUNDING
    for load in loads:
        index = int(np.argmax(room[: len(bins)] >= load.time_s - slack_s)) if bins else 0
        if not bins or room[index] < load.time_s - slack_s:
            index = len(bins)
            threads += load.threads  # the first domain of a bin has most threads, by the order
            if threads > limit:
                return None
            bins.append([])
            room[index] = size_s
        bins[index].append(load.name)
        room[index] -= load.time_s
    return tuple(tuple(names) for names in bins), threads
