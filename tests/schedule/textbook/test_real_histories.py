"""The papers' strategies on real histories: batches give the same visits as a page-by-page implementation."""

from __future__ import annotations

import bisect
import json
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from webstrata.schedule.policy import TimerPolicy
from webstrata.schedule.registry import oracle, policy

FILE = Path(__file__).parents[2] / "data" / "histories" / "window.jsonl"
DAYS = 1095.0

Book = Callable[[list[bool]], Iterator[float]]


def histories() -> list[list[float]]:
    """Each page's changes in days from the start of its last three years."""
    pages = [json.loads(line) for line in FILE.read_text().splitlines()]
    return [[(at - page["until"]) / 86400 + DAYS for at in page["changes"]] for page in pages]


def visited(made: TimerPolicy, pages: list[list[float]], state: np.ndarray | None = None) -> list[list[float]]:
    """The visits of all pages, computed in batches."""
    state = made.start(len(pages)) if state is None else state
    last, times = np.zeros(len(pages)), [[] for _ in pages]  # type: ignore[var-annotated]
    while True:
        rows = np.flatnonzero(last + made.interval(state, np.arange(len(pages))) <= DAYS)
        if not rows.size:
            return times
        now = last[rows] + made.interval(state, rows)
        changed = [
            bisect.bisect_right(pages[row], at) > bisect.bisect_right(pages[row], before)
            for row, at, before in zip(rows, now, last[rows], strict=True)
        ]
        made.learn(state, rows, now - last[rows], np.array(changed))
        last[rows] = now
        for row, at in zip(rows, now, strict=True):
            times[row].append(float(at))


def by_the_book(page: list[float], next_interval: Callable[[list[float], list[bool]], float]) -> list[float]:
    """The visits of one page by a rule: intervals and flags so far -> the next interval."""
    at, taken, flags, times = 0.0, [7.0], list[bool](), list[float]()
    while at + taken[-1] <= DAYS:
        before, at = at, at + taken[-1]
        flags.append(bisect.bisect_right(page, at) > bisect.bisect_right(page, before))
        times.append(at)
        taken.append(min(180.0, max(1.0, next_interval(taken, flags))))
    return times


def stepped(interval: float, share: float) -> float:
    for limit, factor in ((0.9, 3), (0.75, 2), (0.6, 1.5)):
        if share > limit:
            return interval / factor
    for limit, factor in ((0.1, 3), (0.25, 2), (0.4, 1.5)):
        if share < limit:
            return interval * factor
    return interval


def agreed(needed: Callable[[float], int]) -> Callable[[list[float], list[bool]], float]:
    def rule(taken: list[float], flags: list[bool]) -> float:
        now = taken[-1]
        k = needed(now)
        recent = list(zip(taken, flags, strict=True))[-k:]
        if len(recent) < k or any(at != now for at, _ in recent):
            return now
        if all(flag for _, flag in recent):
            return now / 2 if now <= 30 else now / 1.5
        if not any(flag for _, flag in recent):
            return now * 1.5 if now < 30 else now * 2
        return now

    return rule


def window(taken: list[float], flags: list[bool]) -> float:
    width = min(10, max(1, len(flags) // 2))
    return stepped(taken[-1], sum(flags[-width:]) / width)


def markov(order: int, smoothed: bool) -> Callable[[list[float], list[bool]], float]:
    def rule(taken: list[float], flags: list[bool]) -> float:
        now, counts = taken[-1], defaultdict[tuple[bool, ...], list[int]](lambda: [0, 0])
        if len(flags) < order:
            return now
        for n in range(order, len(flags)):
            at = taken[n - order : n + 1] if smoothed else taken[n : n + 1]
            if all(abs(one - now) < 1e-6 for one in at):
                counts[tuple(flags[n - order : n])][flags[n]] += 1
        none, some = counts[tuple(flags[len(flags) - order :])]
        if smoothed:
            return stepped(now, (some + 1) / (none + some + 2))
        return stepped(now, some / (none + some)) if none + some else now

    return rule


BOOKS = {
    "week": lambda taken, flags: 7.0,
    "fix": agreed(lambda interval: 2),
    "dyn": agreed(lambda interval: 1 if interval > 60 else 2 if interval > 30 else 3 if interval > 7 else 4),
    "window": window,
    "state-1": markov(1, smoothed=False),
    "state-2": markov(2, smoothed=False),
    "state-1/L": markov(1, smoothed=True),
    "state-2/L": markov(2, smoothed=True),
}


@pytest.mark.parametrize("name", BOOKS)
def test_visits_are_those_of_a_plain_reading(name: str) -> None:
    """Sixty real pages over three years: every visit equals that of the paper's rule, page by page."""
    pages = histories()
    together = visited(policy(name), pages)
    for page, times in zip(pages, together, strict=True):
        assert times == pytest.approx(by_the_book(page, BOOKS[name]), abs=1e-6)


def test_gold_visits_at_the_real_mean_interval() -> None:
    """The oracle makes as many visits as there are changes, within the bounds."""
    pages = histories()
    gold = oracle("gold")
    state = gold.with_truth(np.array([float(len(page)) for page in pages]), DAYS)
    for page, times in zip(pages, visited(gold, pages, state), strict=True):
        interval = min(180.0, max(1.0, DAYS / len(page))) if page else 180.0
        assert len(times) in (int(DAYS / interval + 1e-9), int(DAYS / interval + 1e-9) - 1)  # the last falls on the end


def test_what_comes_later_does_not_matter() -> None:
    """With all changes after the first year moved, the visits of the first year are the same."""
    pages = histories()
    random = np.random.default_rng(3)
    moved = [
        [at for at in page if at <= 365] + sorted(random.uniform(365, DAYS, sum(at > 365 for at in page)).tolist())
        for page in pages
    ]
    for name in BOOKS:
        one, other = visited(policy(name), pages), visited(policy(name), moved)
        for real, changed in zip(one, other, strict=True):
            assert [at for at in real if at <= 365] == [at for at in changed if at <= 365]
