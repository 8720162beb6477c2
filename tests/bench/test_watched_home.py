"""The home that benchmarks write with SQL: commands read it like one that a crawl has written."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from bench import watched_home
from tests.cli.conftest import call_here

PAGES = 2_000


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Half of its pages are due."""
    folder = tmp_path_factory.mktemp("watched")
    watched_home.build(folder, PAGES, time.time(), due=0.5)
    return folder


def test_plan_of_a_benchmark_home(home: Path) -> None:
    """All due pages are planned, with download times and forecasts of all hosts and pages."""
    found = call_here("--home", home, "plan", "--offline", "--json")

    assert found.code == 0, found.err
    plan = found.json
    assert plan["visits"] == PAGES // 2
    assert plan["hosts"] == 21  # 50 pages each; the pages 1 to 499, 1,000 to 1,499 and 2,000 are due
    assert plan["unknown_hosts"] == []
    assert plan["estimate"]["median_s"] > 0
    assert plan["budget"][1]["pages"] == PAGES
    assert plan["budget"][1]["captured_per_day"] > 0


def test_status_of_a_benchmark_home(home: Path) -> None:
    """The counters are those of its pages and visits."""
    found = call_here("--home", home, "status", "--json")

    assert found.code == 0, found.err
    assert found.json["pages"] == PAGES
    assert found.json["due"] == PAGES // 2
    assert found.json["visits"] == PAGES
