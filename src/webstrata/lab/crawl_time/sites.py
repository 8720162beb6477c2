"""The sites and crawls of the crawl-time experiment, drawn from a seed: hosts, latencies, delays and threads.

Only the living web and the crawls use them; the estimators do not receive them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import NormalDist

import numpy as np
from msgspec import Struct

from webstrata.lab.livingweb.behaviour import SiteBehaviour, latency_s
from webstrata.lab.livingweb.recording import Recording
from webstrata.plan.downloads import DownloadTimes
from webstrata.urls import host_of

HOSTS = 28
LATE_HOSTS = 4
LATE_AFTER = 40
"""`LATE_HOSTS` hosts are not visited in the first `LATE_AFTER` crawls."""
_ADDRESSES = 18
_PAGES = 150
_DRIFT = 0.05
"""Standard deviation of the logarithm of a host's mean latency from crawl to crawl."""
_CRAWL_DELAYS = (None, None, None, None, None, None, 1.0, 5.0, 20.0, 120.0)
_LATENCY = NormalDist(-0.3, 1.2)
"""Logarithm of the hosts' mean latencies; the median is about three quarters of a second."""
_TRUE_SAMPLES = 1_000
_OWN_DELAYS = (1.0, 2.0, 2.0, 5.0)
_THREADS = (2, 3, 4, 8, 16, 64)


class CrawlScenario(Struct, frozen=True, kw_only=True):
    """One crawl to estimate and to make."""

    at: float
    delay_s: float
    threads: int
    urls: tuple[str, ...]
    latencies: dict[str, float]
    """Mean latency of each site in this crawl."""


class TrueTimes(Struct, frozen=True, kw_only=True):
    """What no estimator of the product knows, by host."""

    downloads: DownloadTimes
    """From many latencies around the mean of each server, without its differences from crawl to crawl."""
    crawl_delays: dict[str, float]


class CrawlTimeSites:
    """Recordings and behaviours of sites, drawn from a seed."""

    def __init__(self, seed: int, start_at: float) -> None:
        self._random = np.random.default_rng(seed)
        self._start_at = start_at
        self.names = [f"site{n:02}" for n in range(HOSTS)]
        self.recordings = [self._recording(name) for name in self.names]
        # All seeds have the same latencies and delays, in different combinations, so that none is harder to estimate.
        shares = (self._random.permutation(HOSTS) + 0.5) / HOSTS
        latencies = np.clip(np.exp([_LATENCY.inv_cdf(share) for share in shares]), 0.05, 20.0)
        delays = self._random.permutation(np.resize(np.arange(len(_CRAWL_DELAYS)), HOSTS))
        self.behaviours = {
            name: self._behaviour(float(latency_s), _CRAWL_DELAYS[int(delay)])
            for name, latency_s, delay in zip(self.names, latencies, delays, strict=True)
        }

    def truth(self) -> TrueTimes:
        """The true latencies and delays of all hosts."""
        hosts = {host_of(recording.url("")): self.behaviours[recording.site] for recording in self.recordings}
        samples = [
            (host, latency_s(behaviour, host, "a path that no page has", n), 1)
            for host, behaviour in hosts.items()
            for n in range(_TRUE_SAMPLES)
        ]
        return TrueTimes(
            downloads=DownloadTimes(samples),
            crawl_delays={host: behaviour.crawl_delay_s or 0.0 for host, behaviour in hosts.items()},
        )

    def crawls(self, count: int) -> Iterator[CrawlScenario]:
        """Draw crawls in order of time; some follow within hours, some when the stored robots.txt has expired."""
        at = self._start_at
        for number in range(count):
            at += float(self._random.uniform(6, 40)) * 3600
            known = self.names[: HOSTS - LATE_HOSTS] if number < LATE_AFTER else self.names
            hosts = self._random.choice(len(known), int(self._random.integers(2, 8)), replace=False)
            yield CrawlScenario(
                at=at,
                delay_s=float(self._random.choice(_OWN_DELAYS)),
                threads=int(self._random.choice(_THREADS)),
                urls=tuple(url for n in hosts for url in self._pages(self.recordings[int(n)])),
                latencies={name: self._latency(name) for name in self.names},
            )

    def _pages(self, recording: Recording) -> Sequence[str]:
        """Draw some pages of a site; their number varies widely."""
        paths = list(recording.pages)
        count = int(np.clip(np.exp(self._random.normal(3.8, 0.7)), 1, len(paths)))
        return [recording.url(paths[int(n)]) for n in self._random.choice(len(paths), count, replace=False)]

    def _latency(self, name: str) -> float:
        return float(self.behaviours[name].latency_mean_s * np.exp(self._random.normal(0.0, _DRIFT)))

    def _behaviour(self, latency_s: float, crawl_delay_s: float | None) -> SiteBehaviour:
        """Some servers respond before the delay until the next request has passed, some take much longer."""
        return SiteBehaviour(
            address=f"127.0.2.{1 + int(self._random.integers(_ADDRESSES))}",
            latency_mean_s=latency_s,
            etag=bool(self._random.random() < 0.5),
            last_modified=bool(self._random.random() < 0.5),
            gzip=False,
            crawl_delay_s=crawl_delay_s,
        )

    def _recording(self, name: str) -> Recording:
        contents = {f"{name} {n}": f"<title>{n}</title><p>Page {n} of {name}.".encode() for n in range(_PAGES)}
        pages: dict[str, list[tuple[float, str | None]]] = {
            f"p{n}.html": [(self._start_at, blob)] for n, blob in enumerate(contents)
        }
        return Recording(site=name, pages=pages, contents=contents)
