"""Rhythms, windows and snoozes on the command line: `watch`, `interval`, `snooze`, and what other commands show."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Call, LocalServer
from webstrata.clock import parse_instant

ONE, TWO = "http://one.example/", "http://two.example/"
CLOSED_DAY = (datetime.now(UTC) + timedelta(days=3)).strftime("%a")
"""A day of the week that is neither today nor tomorrow, also if the test runs over midnight."""


def listed(home: Path, call: Call) -> dict[str, dict[str, Any]]:
    return {page["url"]: page for page in call("--home", home, "list", "--json").json["pages"]}


def test_watch_every_and_at(home: Path, call: Call) -> None:
    """`watch` sets a rhythm and windows for new and known pages, keeps them, and removes them with `none`."""
    call("--home", home, "watch", ONE, "--every", "6h")
    call("--home", home, "watch", TWO)
    call("--home", home, "watch", ONE, TWO, "--at", "mon-fri 9-17, sat europe/vienna")
    call("--home", home, "watch", ONE, TWO)
    pages = listed(home, call)
    windows = "Mon-Fri 9-17, Sat Europe/Vienna"
    assert [(page["every_s"], page["windows"]) for page in pages.values()] == [(21_600.0, windows), (None, windows)]

    call("--home", home, "watch", ONE, "--at", "none", "--every", "90m")
    call("--home", home, "watch", TWO, "--at", "none")
    pages = listed(home, call)
    assert [(page["every_s"], page["windows"]) for page in pages.values()] == [(5400.0, None), (None, None)]
    assert ", every 1h 30m" in call("--home", home, "list").text
    assert call("--home", home, "check").code == 0


def test_watch_a_site_again(home: Path, call: Call) -> None:
    """Options that are not given keep the settings of a site."""
    call("--home", home, "watch", "--site", ONE, "--depth", 3, "--tag", "a", "--weight", 2, "--every", "2h")
    call("--home", home, "watch", "--site", ONE, "--max-pages", 70, "--tag", "b")
    result = call("--home", home, "watch", "--site", ONE)
    assert "(at most 70 pages)" in result.text
    (page, sitemap) = listed(home, call).values()
    assert (page["every_s"], page["weight"], page["tags"]) == (7200.0, 2.0, ["a", "b"])
    assert sitemap["every_s"] is None


def test_interval_sets_and_removes_times(home: Path, call: Call) -> None:
    """`interval` sets rhythm and windows of a page or of the pages with a tag, lists them, and removes them."""
    call("--home", home, "watch", ONE, TWO, "--tag", "t")
    shown = call("--home", home, "interval", ONE, "--every", "6h", "--json").json
    assert shown == {
        "limits": [],
        "visit_times": [{"url": ONE, "every_s": 21_600.0, "windows": None}],
        "limit_demand": None,
    }
    shown = call("--home", home, "interval", "--tag", "t", "--at", "Sat UTC", "--json").json
    assert [(one["every_s"], one["windows"]) for one in shown["visit_times"]] == [
        (21_600.0, "Sat UTC"),
        (None, "Sat UTC"),
    ]
    assert [line.split()[:2] for line in call("--home", home, "interval").text.splitlines()] == [
        ["every", "windows"],
        ["6h", "Sat"],
        ["-", "Sat"],
    ]
    call("--home", home, "interval", ONE, "--every", "none")
    call("--home", home, "interval", TWO, "--none")
    assert call("--home", home, "interval", "--json").json["visit_times"] == [
        {"url": ONE, "every_s": None, "windows": "Sat UTC"}
    ]


def test_snooze(home: Path, call: Call) -> None:
    """A snooze is set for pages or a tag, listed, shown by `list`, `why` and `status`, and ended."""
    call("--home", home, "watch", ONE, TWO, "--tag", "t")
    assert "No page is snoozed" in call("--home", home, "snooze").text
    before = listed(home, call)[ONE]["next_visit"]
    result = call("--home", home, "snooze", ONE, "--for", "3d")
    assert (result.code, result.text.startswith("1 page: no visits until ")) == (0, True)
    call("--home", home, "snooze", TWO, "--until", "2100-01-01")
    (one, two) = call("--home", home, "snooze", "--json").json["snoozed"]
    assert (one["url"], two) == (ONE, {"url": TWO, "until": "2100-01-01T00:00:00Z"})
    pages = listed(home, call)
    assert [page["next_visit"] for page in pages.values()] == [one["until"], two["until"]]
    assert call("--home", home, "list").text.count(", snoozed") == 2
    assert "snoozed     until 2100-01-01" in call("--home", home, "why", TWO).text
    status = call("--home", home, "status", "--json").json
    assert (status["due"], status["visit_times"]["snoozed"]) == (0, 2)
    assert "2 snoozed" in call("--home", home, "status").text
    assert call("--home", home, "plan", "--offline", "--json").json["visits"] == 0

    assert call("--home", home, "snooze", "--tag", "t", "--end", "--json").json == {"pages": 2, "until": None}
    assert listed(home, call)[ONE]["next_visit"] == before
    assert call("--home", home, "status", "--json").json["due"] == 2
    assert call("--home", home, "check").code == 0


def test_windows_are_shown(home: Path, call: Call) -> None:
    """`list`, `why` and `plan` know that the window of a due page is closed, and when it opens."""
    call("--home", home, "watch", ONE)
    call("--home", home, "interval", ONE, "--at", f"{CLOSED_DAY} UTC")
    page = listed(home, call)[ONE]
    opens = datetime.fromtimestamp(parse_instant(page["opens_at"]), UTC)
    assert (opens.strftime("%a"), opens.hour, opens.minute) == (CLOSED_DAY, 0, 0)
    assert page["next_visit"] == page["opens_at"]
    shown = call("--home", home, "why", ONE)
    assert f"windows     {CLOSED_DAY} UTC (closed now, open from" in shown.text
    assert call("--home", home, "plan", "--offline", "--json").json["visits"] == 0
    call("--home", home, "interval", ONE, "--at", "0-24 UTC")
    assert "(open now)" in call("--home", home, "why", ONE).text


@pytest.mark.parametrize("policy", ["value", "dyn"])
def test_crawl_respects_them(policy: str, home: Path, server: LocalServer, call: Call) -> None:
    """Neither `crawl`, `crawl --tag` nor `crawl URL` visits snoozed pages and pages outside their windows."""
    for name in "abc":
        server.pages[f"/{name}"] = ("text/html", f"<title>t</title><p>hello {name}".encode())
    call("--home", home, "watch", *(server.url(f"/{name}") for name in "abc"), "--tag", "t")
    call("--home", home, "snooze", server.url("/a"), "--for", "3d")
    call("--home", home, "interval", server.url("/b"), "--at", f"{CLOSED_DAY} UTC")
    environ = {"WEBSTRATA_SCHEDULE_POLICY": policy, **server.settings}
    for words in (("--tag", "t"), ()):
        call("--home", home, "crawl", *words, **environ)
        visits = {page["url"][-1]: page["visits"] for page in listed(home, call).values()}
        assert visits == {"a": 0, "b": 0, "c": 1}
    refused = call("--home", home, "crawl", server.url("/a"), **environ)
    assert (refused.code, "is snoozed until" in refused.err, "--end` ends this" in refused.err) == (2, True, True)
    refused = call("--home", home, "crawl", server.url("/b"), **environ)
    assert (refused.code, f"may be visited only {CLOSED_DAY} UTC" in refused.err) == (2, True)
    assert "--at none` removes" in refused.err
    call("--home", home, "snooze", server.url("/a"), "--end")
    call("--home", home, "interval", server.url("/b"), "--at", "none")
    assert call("--home", home, "crawl", "--json", **environ).json["visits"] == 2


def test_rhythms_beyond_the_budget(home: Path, call: Call) -> None:
    """`status` warns if fixed rhythms ask for more visits than a budget that is set."""
    call("--home", home, "watch", ONE, "--every", "1h")
    assert (
        "1 in a fixed rhythm (24 visits a day), 0 with visit windows, 0 snoozed" in call("--home", home, "status").text
    )
    assert "more than the budget" not in call("--home", home, "status").text
    shown = call("--home", home, "status", WEBSTRATA_BUDGET_TOTAL="10/day").text
    assert "the rhythms ask for more than the budget of 10 visits a day" in shown
    assert "Raise budget.total" in shown


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("watch", ONE, "--every", "5s"), "a rhythm must be at least 1m long"),
        (("watch", ONE, "--every", "often"), "not a duration: 'often'"),
        (("watch", ONE, "--at", "9-17"), "no windows with a time zone at the end"),
        (("watch", ONE, "--at", "Mon 9-17 Mars/Base"), "there is no time zone 'Mars/Base'"),
        (("interval", ONE, "--every", "6h", "--min", "1h"), "do not combine it with --min or --max"),
        (("interval", ONE, "--every", "6h", "--none"), "do not combine it with --every or --at"),
        (("interval", "--every", "6h"), "name either a URL or a --tag"),
        (("snooze", ONE), "give one of --for SPAN, --until TIME and --end"),
        (("snooze", ONE, "--for", "1d", "--end"), "give one of"),
        (("snooze", "--for", "1d"), "name URLs or a --tag"),
        (("snooze", ONE, "--tag", "t", "--end"), "name either URLs or a --tag"),
        (("snooze", ONE, "--until", "2001-01-01"), "must end after now"),
        (("snooze", "http://unknown.example/", "--for", "1d"), "is not watched"),
    ],
)
def test_mistakes(words: Sequence[str], message: str, home: Path, call: Call) -> None:
    """Wrong values change nothing and say what is expected."""
    call("--home", home, "watch", ONE)
    result = call("--home", home, *words)
    assert result.code == 2
    assert message in result.err
    page = listed(home, call)[ONE]
    assert (page["every_s"], page["windows"], page["snoozed_until"]) == (None, None, None)
