"""The crawl-time experiment: its table, its web, and a few real crawls."""

from __future__ import annotations

import asyncio
from itertools import pairwise
from pathlib import Path

import pytest

from webstrata.cli.lab.crawl_time import _assembler
from webstrata.lab.crawl_time.experiment import START_AT, CrawlMeasurement, run, summed_up, table
from webstrata.lab.crawl_time.sites import CrawlTimeSites


def test_table_3() -> None:
    """Over- and under-estimates are averaged apart, by the actual time, with the number of crawls."""
    rows = {row.group: row for row in table("x", [(100, 150), (100, 210), (100, 95), (4000, 2000), (0, 5)])}

    short = rows["t < 30min"]
    assert (short.over, short.over_crawls) == (pytest.approx(0.8), 2)
    assert (short.under, short.under_crawls) == (pytest.approx(-0.05), 1)
    assert (short.crawls, short.within_10_percent) == (3, pytest.approx(1 / 3))
    assert (rows["60min < t < 120min"].under, rows["60min < t < 120min"].over) == (-0.5, None)
    assert rows["t > 240min"].crawls == 0
    assert rows["all"].crawls == 4


def test_the_web_is_varied_and_always_the_same() -> None:
    """Hosts share addresses, ask for delays or none, answer sooner or later than they may be asked again."""
    one, other = CrawlTimeSites(1, START_AT), CrawlTimeSites(1, START_AT)
    crawls = list(one.crawls(30))

    assert crawls[:7] == list(other.crawls(7))
    manners = list(one.manners.values())
    assert len({one.address for one in manners}) < len(manners)
    assert {one.crawl_delay_s for one in manners} >= {None, 120.0}
    assert min(one.latency_mean_s for one in manners) < 0.5
    assert max(one.latency_mean_s for one in manners) > 4
    assert {crawl.threads for crawl in crawls} >= {2, 64}
    assert all(later.at > sooner.at for sooner, later in pairwise(crawls))


def test_real_crawls_are_foreseen(tmp_path: Path) -> None:
    """Five crawls over real sockets, estimated from the log of those before; most are as long as was said."""
    told: list[CrawlMeasurement] = []

    result = asyncio.run(run(_assembler(tmp_path), crawls=5, seed=1, progress=told.append, teaching=5))

    assert told == result.crawls
    assert result.politeness_violations == 0  # as the servers counted, with few threads too
    assert [one.crawl for one in told] == [1, 2, 3, 4, 5]
    assert all(one.visits > 1 and one.actual_s > 0 for one in told)
    close = [abs(one.ours_s / one.actual_s - 1) <= 0.1 for one in told]
    assert sum(close) >= 3
    ours = {row.estimator: row for row in result.table if row.group == "all"}
    assert (ours["ours"].within_10_percent or 0) > (ours["paper"].within_10_percent or 0)


def test_no_crawls_have_an_empty_table() -> None:
    """Nothing made: rows without shares."""
    found = summed_up([], 0, 1, 0)

    assert found.inside_interval is None
    assert all(row.crawls == 0 and row.over is None for row in found.table)
