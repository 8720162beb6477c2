"""Budgets and policies on the command line: `why`, `plan`, `run --policy`, `lab policies --store`."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Call, Demo, LocalServer

OWN = '''
import numpy as np
from webstrata.columns import columns
from webstrata.schedule.policy import ValuePolicyBase


class Always(ValuePolicyBase):
    """A visit is always worth the same."""

    name = "always"
    dtype = columns({"seen_at": np.float64})

    def start(self, n, now=0.0):
        state = np.zeros(n, dtype=self.dtype)
        state["seen_at"] = now
        return state

    def learn(self, state, rows, elapsed_days, changed, signals=None):
        state["seen_at"][rows] += elapsed_days

    def value(self, state, rows, now, signals=None):
        return np.ones(len(rows), dtype=np.float32)

    def explain(self, state, row, now=0.0, signals=None):
        return {"rule": "always"}
'''


def test_a_budget_that_is_none_is_refused(seen: Path, call: Call) -> None:
    """A wrong word is an error of usage that shows how to write it."""
    result = call("--home", seen, "crawl", "--set", "budget.total=lots")
    assert result.code == 2
    assert "500/day" in result.err


def test_why_names_the_evidence(seen: Path, server: LocalServer, call: Call) -> None:
    """Rate, age, probability of a change, signals, value, price and politeness, for programs and people."""
    result = call("--home", seen, "why", server.url("/a"), "--json").json
    names = {"rate_per_day", "age_days", "changed_probability", "site_event_probability", "value", "price", "weight"}
    assert names <= result["evidence"].keys()
    assert result["evidence"]["hint_from"] is None
    assert "price" in result["reason"]
    text = call("--home", seen, "why", server.url("/a")).text
    for word in ("rate per day", "changed probability", "price", "worth it at", "politeness"):
        assert word in text
    assert "None" not in text


def test_plan_says_what_more_would_buy(seen: Path, call: Call) -> None:
    """A fifth less, the present budget and a fifth more, each with captures and freshness."""
    result = call("--home", seen, "plan", "--offline", "--json").json["budget"]
    assert [one["share"] for one in result] == [0.8, 1.0, 1.2]
    assert result[0]["captured_per_day"] < result[1]["captured_per_day"] < result[2]["captured_per_day"]
    assert result[0]["freshness"] < result[2]["freshness"]
    assert result[1]["visits_per_day"] == pytest.approx(12.0, rel=0.01)
    assert "changes captured a day" in call("--home", seen, "plan", "--offline", "--within", "2d").text


def test_limits_that_ask_for_more_than_the_budget_are_named_with_figures(
    seen: Path, server: LocalServer, call: Call
) -> None:
    """`interval`, `watch`, `status` and `plan` say what limits need, what the budget pays for, and what to do."""
    assert call("--home", seen, "status", "--json").json["budget"]["limit_demand"] is None
    result = call("--home", seen, "interval", server.url("/a"), "--max", "1h", "--json").json["limit_demand"]
    assert result == {
        "pages": 1,
        "visits_per_day": 24.0,
        "budget_per_day": 12.0,
        "is_too_much": True,
        "shortest_s": 3600.0,
        "seen_every_s": 7200.0,
        "hosts": [],
    }
    said = (
        "the limits of 1 page need 24 visits a day; the budget pays for 12: they are seen about every 2h instead of 1h"
    )
    for words in (("interval",), ("watch", server.url("/a")), ("status",), ("plan", "--offline")):
        text = call("--home", seen, *words).text
        assert said in text, words
        assert 'total = "24/day"' in text, words
    assert call("--home", seen, "plan", "--offline", "--json").json["limit_demand"] == result
    assert call("--home", seen, "watch", server.url("/a"), "--json").json["limit_demand"] == result
    text = call("--home", seen, "interval", server.url("/a"), "--max", "2h").text
    assert "need" not in text, "the limit is within the budget"


def test_hosts_that_cannot_keep_the_limits_are_named(seen: Path, server: LocalServer, call: Call) -> None:
    """The budget of a host may allow less than the limits of its pages need, and its delay too."""
    call("--home", seen, "interval", server.url("/a"), "--max", "1h")
    settings = '[budget]\ntotal = "100/day"\n[budget.hosts]\n"127.0.0.1" = "6/day"\n'
    (seen / "webstrata.toml").write_text(settings, encoding="utf-8")
    text = call("--home", seen, "status").text
    assert "the limits of pages of 127.0.0.1 need 24 visits a day; its budget pays for 6: raise it" in text
    slow = ("--set", "polite.delay=6h")
    found = call("--home", seen, "plan", "--offline", "--json", *slow).json["limit_demand"]
    assert found["hosts"] == [
        {"host": "127.0.0.1", "visits_per_day": 24.0, "possible_per_day": 4.0, "limited_by": "delay"}
    ]
    assert (
        "the delay between requests allows 4: lengthen the limits"
        in call("--home", seen, "plan", "--offline", *slow).text
    )


def test_a_policy_of_ones_own(
    home: Path, server: LocalServer, call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`--policy module:Class` runs a class of the user's own, live and in the lab."""
    (tmp_path / "my_own_policy.py").write_text(OWN, encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    server.pages["/a"] = ("text/html", b"<p>hello")
    call("--home", home, "watch", server.url("/a"))
    assert "1 visit" in call("--home", home, "crawl", "--policy", "my_own_policy:Always", **server.settings).err
    result = call("--home", home, "why", server.url("/a"), "--json").json
    assert result["policy"] == "always"
    result = call("--home", home, "run", "--for", "0s", "--policy", "my_own_policy:Always", **server.settings)
    assert result.code == 0
    words = (
        "lab",
        "policies",
        "--policies",
        "my_own_policy:Always,week",
        "--match",
        "week",
        "--years",
        "0.2",
        "--json",
    )
    rows = call(*words).json["rows"]
    assert {row["policy"] for row in rows} == {"my_own_policy:Always", "week"}
    assert call("--home", home, "crawl", "--policy", "my_own_policy:Nothing").code == 2


def test_a_home_is_replayed_in_the_lab(demo: Demo, home: Path, call: Call) -> None:
    """What the visits of a home saw becomes a history; an empty home and too many sources are refused."""
    result = call("lab", "policies", "--store", demo.home, "--policies", "week,value", "--match", "week", "--json")
    assert result.code == 0, result.err
    assert {row["corpus"] for row in result.json["rows"]} >= {"store"}
    assert call("lab", "policies", "--store", home).code == 2
    assert call("lab", "policies", "--store", home, "--histories", home).code == 2
