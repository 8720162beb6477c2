"""Budgets as users meet them: `status`, `boost`, `interval`, `why`, `plan`, `run --policy`, `lab policies --store`."""

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


@pytest.fixture
def seen(home: Path, server: LocalServer, call: Call) -> Path:
    """A home under `value` with two pages that were seen once."""
    for path in ("/a", "/b"):
        server.pages[path] = ("text/html", b"<title>t</title><p>hello " + path.encode())
    call("--home", home, "watch", server.url("/a"), "--tag", "news")
    call("--home", home, "watch", server.url("/b"))
    result = call("--home", home, "crawl", **server.settings)
    assert "2 visits" in result.err, result.err
    return home


def test_status_says_what_is_spent(seen: Path, call: Call) -> None:
    """Without a setting it is one visit per page and day, and status says so; a setting is shown as it is."""
    result = call("--home", seen, "status", "--json").json["budget"]
    assert result["is_default"]
    assert result["budgets"] == [{"name": "all", "unit": "visits", "per_page": True, "per_day": 2.0, "saved": 0.0}]
    assert result["spent_today"]["visits"] == 2
    text = call("--home", seen, "status").text
    assert "2 visits a day, one per page: no budget is set" in text
    assert "pages are visited from a value of" in text
    env = {"WEBSTRATA_BUDGET_TOTAL": "1MB/hour", "WEBSTRATA_BUDGET_TAGS": "news=3/day"}
    text = call("--home", seen, "status", **env).text
    assert "24.0 MB a day" in text
    assert "3 visits a day for tag:news" in text


def test_a_budget_that_is_none_is_refused(seen: Path, call: Call) -> None:
    """A wrong word is an error of usage that shows how to write it."""
    result = call("--home", seen, "crawl", "--set", "budget.total=lots")
    assert result.code == 2
    assert "500/day" in result.err


def test_boosts_are_shown_and_end(seen: Path, server: LocalServer, call: Call) -> None:
    """A boost is in `status` and `why` while it lasts, and can be ended."""
    result = call("--home", seen, "boost", "news", "--factor", "4", "--for", "2d", "--json").json
    assert (result["pages"], result["factor"]) == (1, 4.0)
    assert "news boosted 4 times until" in call("--home", seen, "status").text
    assert call("--home", seen, "why", server.url("/a"), "--json").json["evidence"]["boost"] == 4.0
    assert call("--home", seen, "why", server.url("/b"), "--json").json["evidence"]["boost"] == 1.0
    assert "ended" in call("--home", seen, "boost", "news", "--end").text
    assert "There is no boost of news" in call("--home", seen, "boost", "news", "--end").text
    assert call("--home", seen, "status", "--json").json["budget"]["boosts"] == []
    assert call("--home", seen, "boost", "news", "--factor", "nan").code == 2


def test_limits_are_set_listed_and_taken_away(seen: Path, server: LocalServer, call: Call) -> None:
    """A page's own limit goes before its tag's; both are in `why`."""
    assert call("--home", seen, "interval", "--tag", "news", "--min", "1h", "--max", "2d").code == 0
    result = call("--home", seen, "interval", server.url("/a"), "--max", "3h", "--json").json["limits"]
    assert [(one["kind"], one["max_s"]) for one in result] == [("page", 10_800.0), ("tag", 172_800.0)]
    evidence = call("--home", seen, "why", server.url("/a"), "--json").json["evidence"]
    assert (evidence["min_interval_s"], evidence["max_interval_s"]) == (300.0, 10_800.0)
    call("--home", seen, "interval", server.url("/a"), "--none")
    evidence = call("--home", seen, "why", server.url("/a"), "--json").json["evidence"]
    assert (evidence["min_interval_s"], evidence["max_interval_s"]) == (3600.0, 172_800.0)


@pytest.mark.parametrize(
    "words",
    [("http://x.example/", "--tag", "t", "--min", "1h"), ("--tag", "t"), ("--tag", "t", "--min", "2h", "--max", "1h"),
     ("--tag", "t", "--min", "0s"), ("--tag", "t", "--none", "--min", "1h"), ("--min", "1h")],
)  # fmt: skip
def test_wrong_limits_are_refused(home: Path, call: Call, words: tuple[str, ...]) -> None:
    """Nothing, both, or the wrong way round is an error of usage."""
    assert call("--home", home, "interval", *words).code == 2


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
    assert result[1]["visits_per_day"] == pytest.approx(2.0, rel=0.01)
    assert "changes captured a day" in call("--home", seen, "plan", "--offline", "--within", "2d").text


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
