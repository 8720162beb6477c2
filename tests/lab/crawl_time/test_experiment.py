"""The crawl-time experiment: its table, its sites, and a few real crawls."""

from __future__ import annotations

import asyncio
from itertools import pairwise
from pathlib import Path

import pytest

from webstrata.cli.lab.crawl_time import _assembler
from webstrata.lab.crawl_time.experiment import START_AT, CrawlMeasurement, run, summarise, table
from webstrata.lab.crawl_time.sites import CrawlTimeSites


def test_table_3() -> None:
    """Over- and under-estimates are averaged separately, by groups of the actual time, with the number of crawls."""
    rows = {row.group: row for row in table("x", [(100, 150), (100, 210), (100, 95), (4000, 2000), (0, 5)])}

    short = rows["t < 30min"]
    assert (short.over, short.over_crawls) == (pytest.approx(0.8), 2)
    assert (short.under, short.under_crawls) == (pytest.approx(-0.05), 1)
    assert (short.crawls, short.within_10_percent) == (3, pytest.approx(1 / 3))
    assert (rows["60min < t < 120min"].under, rows["60min < t < 120min"].over) == (-0.5, None)
    assert rows["t > 240min"].crawls == 0
    assert rows["all"].crawls == 4


def test_sites_are_varied_and_depend_on_the_seed_only() -> None:
    """Some hosts share an address, some have a Crawl-delay, and latencies are shorter or longer than the delays."""
    first, second = CrawlTimeSites(1, START_AT), CrawlTimeSites(1, START_AT)
    crawls = list(first.crawls(30))

    assert crawls[:7] == list(second.crawls(7))
    behaviours = list(first.behaviours.values())
    assert len({site.address for site in behaviours}) < len(behaviours)
    assert {site.crawl_delay_s for site in behaviours} >= {None, 120.0}
    assert min(site.latency_mean_s for site in behaviours) < 0.5
    assert max(site.latency_mean_s for site in behaviours) > 4
    assert {crawl.threads for crawl in crawls} >= {2, 64}
    assert all(later.at > sooner.at for sooner, later in pairwise(crawls))


def test_estimates_of_real_crawls(tmp_path: Path) -> None:
    """Of five crawls over real sockets, estimated from the log of earlier ones, most are estimated within 10 %."""
    reported: list[CrawlMeasurement] = []

    result = asyncio.run(run(_assembler(tmp_path), crawls=5, seed=1, on_progress=reported.append, teaching=5))

    assert reported == result.crawls
    assert result.politeness_violations == 0  # counted by the servers
    assert [crawl.crawl for crawl in reported] == [1, 2, 3, 4, 5]
    assert all(crawl.visits > 1 and crawl.actual_s > 0 for crawl in reported)
    assert sum(abs(crawl.ours_s / crawl.actual_s - 1) <= 0.1 for crawl in reported) >= 3
    totals = {row.estimator: row for row in result.table if row.group == "all"}
    assert (totals["ours"].within_10_percent or 0) > (totals["paper"].within_10_percent or 0)


def test_no_crawls_have_an_empty_table() -> None:
    """Without crawls, the rows have no shares."""
    result = summarise([], 0, 1, 0)

    assert result.inside_interval is None
    assert all(row.crawls == 0 and row.over is None for row in result.table)


def test_the_informed_estimate_knows_the_servers() -> None:
    """Its mean times are those of the servers; it knows the Crawl-delays of hosts that were never visited."""
    sites = CrawlTimeSites(3, START_AT)
    truth = sites.truth()

    hosts = list(truth.crawl_delays)
    means = truth.downloads.mean_s(truth.downloads.rows(hosts))
    latencies = [sites.behaviours[host.partition(".")[0]].latency_mean_s for host in hosts]
    assert means.tolist() == pytest.approx(latencies, rel=0.06)
    assert truth.crawl_delays["site05.test"] == (sites.behaviours["site05"].crawl_delay_s or 0.0)
    assert len(hosts) == 28
