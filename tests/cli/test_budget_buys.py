"""What the budget buys, in plain words: `status`, `why` and `plan`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from tests.cli.conftest import Call, LocalServer
from webstrata.cli.crawl.budget_buys import budget_buys
from webstrata.flows.budget_whatif import BudgetWhatIf

NOW = BudgetWhatIf(
    share=1.0,
    budget_per_day=8.5,
    visits_per_day=8.5,
    changes_per_day=10.0,
    captured_per_day=6.1,
    freshness=0.7,
    example_change_days=7.0,
    example_days=9.2,
    median_days=20.0,
    bytes_per_day=None,
    pages=227,
    sampled_pages=227,
)


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        (
            {},
            "8.5 visits a day for 227 pages: a page that changes weekly is seen about every 9 days; about 61% of "
            "changes are captured",
        ),
        (
            {"example_days": None, "median_days": 0.5, "pages": 1},
            "8.5 visits a day for 1 page: half of the pages are seen at least every 12h; about 61% of changes are "
            "captured",
        ),
        (
            {"bytes_per_day": 2e6, "example_days": 0.01},
            "2.0 MB a day, about 8.5 visits a day for 227 pages: a page that changes weekly is seen about every 14m; "
            "about 61% of changes are captured",
        ),
        (
            {"visits_per_day": 1234.0, "budget_per_day": 5000.0, "example_days": 1.0, "captured_per_day": 10.0},
            "1,234 visits a day for 227 pages (limits of intervals allow no more; the budget pays for 5,000): a page "
            "that changes weekly is seen about every 1d; about 100% of changes are captured",
        ),
        (
            {"visits_per_day": 0.0, "captured_per_day": 0.0},
            "no visits for 227 pages: no change is captured. Set budget.total to more than 0",
        ),
    ],
)
def test_sentences(changes: dict[str, Any], text: str) -> None:
    """The sentence names visits, pages, the interval of a page, and the share of changes."""
    less = replace(NOW, share=0.8, pages=0)
    buys = budget_buys([less, replace(NOW, **changes)])
    assert buys is not None
    assert buys["text"] == text
    assert budget_buys([]) is None


@pytest.mark.parametrize(
    ("environ", "begin"),
    [
        ({}, "2.0 visits a day for 2 pages: a page that changes "),
        ({"WEBSTRATA_BUDGET_TOTAL": "0.1/day"}, "0.1 visits a day for 2 pages: a page that changes "),
        ({"WEBSTRATA_BUDGET_TOTAL": "36B/day"}, "36 B a day, about "),
        ({"WEBSTRATA_BUDGET_TOTAL": "0/day"}, "no visits for 2 pages"),
        ({"WEBSTRATA_SCHEDULE_POLICY": "dyn"}, "visits a day for 2 pages: half of the pages are seen at least every "),
    ],
)
def test_commands_say_it(environ: dict[str, str], begin: str, seen: Path, server: LocalServer, call: Call) -> None:
    """`status`, `why` and `plan` say the same, as text and as JSON."""
    status = call("--home", seen, "status", "--json", **environ).json["budget_buys"]
    assert begin in status["text"]
    assert 0.0 <= status["captured_share"] <= 1.0
    why = call("--home", seen, "why", server.url("/a"), "--json", **environ).json["budget_buys"]
    plan = call("--home", seen, "plan", "--offline", "--json", **environ).json["budget_buys"]
    assert why["text"].split(":")[0] == plan["text"].split(":")[0] == status["text"].split(":")[0]
    assert f"expected   {status['text'].split(':')[0]}" in call("--home", seen, "status", **environ).text
    assert (
        f"all pages   {status['text'].split(':')[0]}" in call("--home", seen, "why", server.url("/a"), **environ).text
    )
    assert f"In words: {status['text'].split(':')[0]}" in call("--home", seen, "plan", "--offline", **environ).text


def test_nothing_seen_yet(home: Path, call: Call) -> None:
    """Before the first visit nothing is said."""
    call("--home", home, "watch", "http://one.example/")
    assert call("--home", home, "status", "--json").json["budget_buys"] is None
    assert call("--home", home, "why", "http://one.example/").code == 0
