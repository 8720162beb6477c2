"""`webstrata status`: totals, due pages, budget and disk usage."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Call, Demo


def test_budget(seen: Path, call: Call) -> None:
    """Without a setting the budget is six visits per page and day, with what they cost the hosts; a setting is shown
    with its amount per day."""
    result = call("--home", seen, "status", "--json").json["budget"]
    assert result["is_default"]
    assert result["budgets"] == [{"name": "all", "unit": "visits", "per_page": True, "per_day": 12.0, "saved": 0.0}]
    assert result["spent_today"]["visits"] == 2
    text = call("--home", seen, "status").text
    assert "12 visits a day, the default for 2 pages (6 a day of each on average)" in text
    (host,) = result["busiest_hosts"]
    assert host["gap_s"] == pytest.approx(86_400 / host["visits_per_day"], rel=0.01)
    assert host["visits_per_day"] <= 12.0  # not more than the budget pays for, whatever the first intervals ask for
    assert call("--home", seen, "status", "--json").json["expected_visits_per_day"] <= 12.0
    assert f"{host['host']}: " in text
    assert " visits a day, one every " in text
    assert "pages are visited from a value of" in text
    env = {"WEBSTRATA_BUDGET_TOTAL": "1MB/hour", "WEBSTRATA_BUDGET_TAGS": "news=3/day"}
    text = call("--home", seen, "status", **env).text
    assert "24.0 MB a day" in text
    assert "3 visits a day for tag:news" in text


def test_status(demo: Demo, home: Path, call: Call) -> None:
    """Totals, due pages, schedule and disk usage are shown; for an empty home the next step is named."""
    text = call("--home", demo.home, "status").text

    assert [line.split()[0] for line in text.splitlines()] == [
        *("home", "pages", "due", "visits", "schedule", "expected", "signals", "disk")
    ]
    assert "first since 2023-" in text
    assert "`webstrata watch URL`" in call("--home", home, "status").text
    assert "`webstrata watch URL`" in call("--home", home, "list").err
