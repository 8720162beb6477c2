"""Policies replayed over histories."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.lab.policies.made_histories import DAY, made, made_rows
from webstrata.errors import UsageError
from webstrata.lab.policies.histories import make_histories
from webstrata.lab.policies.past_histories import COPY_TIMES, CopyTimes, past_sightings
from webstrata.lab.policies.replay_budget import ReplaySources, learn_past, replay_budget
from webstrata.lab.policies.replay_log import ReplayLog, judge
from webstrata.lab.policies.replay_timer import replay_oracle, replay_timer
from webstrata.lab.policies.simulated_sources import SimulatedLists, SimulatedReports
from webstrata.lab.policies.truth import Truth
from webstrata.schedule.policy import Bounds
from webstrata.schedule.registry import budgeted_names, oracle, policy, policy_state

DAYS = 300


def _site(truth: Truth) -> np.ndarray:
    return np.unique(np.array(truth.histories.site), return_inverse=True)[1]


def _budgeted(
    name: str, truth: Truth, downloads: float, extras: ReplaySources | None = None, copies: CopyTimes = "archive"
) -> ReplayLog:
    pages = policy_state(name, _site(truth))
    if truth.past_days:
        learn_past(pages, truth, past_sightings(truth, copies))
    return replay_budget(pages, truth, downloads, extras)


def test_one_page_by_hand() -> None:
    """Weekly visits of one page capture one change each; missed changes and delays equal those worked out by hand."""
    changes = [3 * DAY, 5 * DAY, 20 * DAY]
    truth = Truth(
        make_histories([{"corpus": "c", "page": "p", "first": 0.0, "until": 28 * DAY, "changes": changes}]), 28
    )
    log = replay_timer(policy("week"), truth)

    outcome = judge(log, truth)

    assert log.at.tolist() == [7, 14, 21, 28]
    assert log.changed.tolist() == [True, False, True, False]
    assert (outcome.downloads.sum(), outcome.captured.sum(), outcome.changes.sum()) == (4, 2, 3)
    assert outcome.outdated.sum() == pytest.approx(4 + 1)
    assert outcome.delay.sum() == pytest.approx(4 + 1)


def test_the_oracle_is_told() -> None:
    """The oracle visits at the true mean interval, pages without a change at the longest."""
    rows = made_rows(2)
    rows[1]["changes"] = []
    truth = Truth(make_histories(rows), DAYS)
    log = replay_oracle(oracle("gold"), truth)

    real = DAYS / truth.total()[0]
    assert np.diff(log.at[log.page == 0])[0] == pytest.approx(np.clip(real, 1, 180))
    assert log.at[log.page == 1].tolist() == [180.0]


def test_the_oracle_visits_once_per_change() -> None:
    """A page with n changes in the window is visited n times, the last time at the end of the window: the sum of n
    rounded intervals does not lose that visit. (Pages with one change are visited at the longest interval.)"""
    rows = [
        {
            "corpus": "c",
            "page": f"p{number}",
            "first": 0.0,
            "until": DAYS * DAY,
            "changes": (np.arange(number) + 0.5) * (DAYS * DAY / number),
        }
        for number in range(1, DAYS + 1)
    ]
    truth = Truth(make_histories(rows), DAYS)
    log = replay_oracle(oracle("gold"), truth)

    assert np.bincount(log.page).tolist() == list(range(1, DAYS + 1))
    last = np.zeros(DAYS)
    np.maximum.at(last, log.page, log.at)
    assert last == pytest.approx([180.0] + [DAYS] * (DAYS - 1))
    assert last.max() <= DAYS


@pytest.mark.parametrize("name", [*budgeted_names(), "dyn", "state-2"])
def test_the_future_does_not_reach_a_policy(name: str) -> None:
    """Visits do not depend on later changes."""
    rows = made_rows()
    cut = 600 - DAYS + 150
    random = np.random.default_rng(9)
    shuffled = [
        {**row, "changes": np.r_[row["changes"][row["changes"] <= cut * DAY], random.uniform(cut, 600, 40) * DAY]}
        for row in rows
    ]
    logs = []
    for part in (rows, shuffled):
        truth = Truth(make_histories(part), DAYS, past_days=0.0 if name in ("dyn", "state-2") else 70.0)
        if name in ("dyn", "state-2"):
            logs.append(replay_timer(policy(name), truth))
        else:
            extras = (
                ReplaySources(lists=SimulatedLists(truth, _site(truth), every_days=3.0)) if name == "value" else None
            )
            logs.append(_budgeted(name, truth, 1500, extras))
    early = [sorted(zip(log.at[log.at <= 150], log.page[log.at <= 150], strict=True)) for log in logs]

    assert early[0] == early[1]
    assert len(early[0]) > 100


@pytest.mark.parametrize("name", budgeted_names())
@pytest.mark.parametrize("downloads", [0, 7, 1000.5, 1e9])
def test_the_budget_is_kept(name: str, downloads: float) -> None:
    """No policy exceeds its budget or visits a page twice a day; a huge budget visits all pages daily."""
    truth = Truth(made(20), DAYS)
    log = _budgeted(name, truth, downloads)

    assert len(log.page) <= downloads
    assert len(log.page) >= min(downloads, DAYS * 20) - 1
    assert len({(page, at) for page, at in zip(log.page, log.at, strict=True)}) == len(log.page)


def test_every_page_is_visited_within_the_longest_interval() -> None:
    """With a sufficient budget every page is visited within the longest interval, even if it never changes."""
    rows = made_rows(40, 1000)
    rows[0]["changes"] = []
    truth = Truth(make_histories(rows), 800)
    log = _budgeted("value", truth, 3000)

    assert np.diff(np.r_[0.0, np.sort(log.at[log.page == 0]), 800.0]).max() <= 190


@pytest.mark.parametrize("copies", COPY_TIMES)
def test_archive_copies_help_and_cost_nothing(copies: CopyTimes) -> None:
    """A year of copies before the window gives more captures for the same downloads."""
    histories = made(120, 800, seed=3)
    captured = [
        judge(_budgeted("value", truth := Truth(histories, 200, past), 1200, copies=copies), truth).captured.sum()
        for past in (0.0, 364.0)
    ]

    assert captured[1] > captured[0]


def test_pages_born_before_the_window_are_copied_when_they_appear() -> None:
    """Pages that appear during the archived time have no earlier copies."""
    rows = made_rows(30)
    for row in rows[:10]:
        row["first"] = 250 * DAY
        row["changes"] = row["changes"][row["changes"] > 250 * DAY]
    truth = Truth(make_histories(rows), DAYS, 200.0)

    assert len(_budgeted("value", truth, 900).page) == 900


def test_good_lists_help_and_bad_ones_do_no_harm() -> None:
    """A complete list increases the captures; an empty or wrong list is soon not fetched any more."""
    truth = Truth(make_histories(made_rows(150, 800, seed=5, fastest=-1.3)), 700)
    site = _site(truth)

    def captured(**quality: Any) -> tuple[int, int]:
        lists = SimulatedLists(truth, site, every_days=3.0, **quality)
        log = _budgeted("value", truth, 6000, ReplaySources(lists=lists))
        assert len(log.page) + len(log.lists) == 6000
        return int(judge(log, truth).captured.sum()), len(log.lists)

    without = int(judge(_budgeted("value", truth, 6000), truth).captured.sum())
    complete, fetched = captured()
    assert complete > 1.1 * without
    assert fetched > 300
    for useless in ({"recall": 0.0}, {"precision": 0.0}):
        found, wasted = captured(**useless)
        assert found > 0.96 * without, useless
        assert wasted < fetched, useless


def test_reports_help() -> None:
    """Reports of visitors cost no download and increase the captures."""
    truth = Truth(made(100, 500, seed=6), 400)
    reports = SimulatedReports(truth, _site(truth), rate_per_day=1.0)

    with_reports = judge(_budgeted("value", truth, 3000, ReplaySources(reports=reports)), truth).captured.sum()

    assert with_reports > 1.1 * judge(_budgeted("value", truth, 3000), truth).captured.sum()


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_outcomes_add_up(seed: int) -> None:
    """Whatever the history: captures are no more than changes and downloads, and nothing is outdated for longer than
    the window."""
    truth = Truth(made(8, 200, seed), 150)
    outcome = judge(replay_timer(policy("dyn"), truth), truth)

    assert (outcome.captured.sum(axis=1) <= outcome.changes.sum(axis=1)).all()
    assert (outcome.captured <= outcome.downloads).all()
    assert (outcome.changes.sum(axis=1) == truth.total()).all()
    assert (outcome.outdated >= 0).all()
    assert (outcome.outdated.sum(axis=1) <= 150 + 1e-9).all()


def test_windows_that_nothing_covers() -> None:
    """A window longer than every history, or of no length, is refused; younger pages are left out and counted."""
    histories = made(4)
    with pytest.raises(UsageError, match="--years"):
        Truth(histories, 10_000)
    with pytest.raises(UsageError, match="positive"):
        Truth(histories, 0)
    rows = made_rows(4)
    rows[0] |= {"first": 599 * DAY, "changes": []}
    truth = Truth(make_histories(rows), 100)
    assert (len(truth), truth.left_out) == (3, 1)


@pytest.mark.parametrize("hours", [1, 4, 24])
def test_steps_shorter_than_a_day(hours: int) -> None:
    """A budget of one visit of every page in each step makes exactly these visits; each capture has the delay of the
    change within its step."""
    rows = made_rows(3, 40)
    truth = Truth(make_histories(rows), 20)
    step = hours / 24
    bounds = Bounds(min_days=step * (1 - 1e-9))
    steps = round(20 / step)
    pages = policy_state("value", _site(truth), bounds=bounds)

    log = replay_budget(pages, truth, 3.0 * steps, step_days=step)

    assert len(log.page) == 3 * steps
    assert sorted(set(log.at.tolist())) == pytest.approx([step * (number + 1) for number in range(steps)])
    outcome = judge(log, truth)
    assert outcome.delay.sum() <= step * outcome.captured.sum() + 1e-6


def test_a_page_that_changes_hourly_gets_most_of_an_hourly_budget() -> None:
    """Among pages that change weekly, `value` finds the page that changes hourly and visits it several times a day."""
    hourly = np.arange(1.0, 20 * 24) * 3600 + 1800
    weekly = [np.arange(1.0, 3) * 7 * DAY + page * 5000 for page in range(9)]
    rows = [
        {"corpus": "c", "page": f"{page}/x", "first": 0.0, "until": 20 * DAY, "changes": changes}
        for page, changes in enumerate([hourly, *weekly])
    ]
    truth = Truth(make_histories(rows), 20)
    bounds = Bounds(min_days=(1 - 1e-9) / 24)

    log = replay_budget(policy_state("value", _site(truth), bounds=bounds), truth, 2.0 * 10 * 20, step_days=1 / 24)

    visits = np.bincount(log.page, minlength=10)
    assert visits[0] > 5 * 20
    assert visits[1:].min() >= 3
