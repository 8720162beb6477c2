"""The experiment on policies: histories and options in, rows and comparisons out.

1. Policies with their own pace are replayed over the whole population.
2. Budgeted policies get, corpus by corpus, the downloads of each policy that is to be matched, or a number.
3. Every replay is judged against the truth, and the flagship is compared with all that spent as much.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from webstrata.errors import UsageError
from webstrata.lab.policies.allowance import DownloadAllowance, parse_allowance
from webstrata.lab.policies.histories import Histories
from webstrata.lab.policies.page_timeline import PageTimeline, picture_of
from webstrata.lab.policies.replay_budget import ReplaySources, replay_budget, start_day
from webstrata.lab.policies.replay_log import ReplayLog, ReplayTotals, joined_logs, judge
from webstrata.lab.policies.replay_timer import replay_oracle, replay_timer
from webstrata.lab.policies.rows import Comparison, PolicyRow, compare, summarise
from webstrata.lab.policies.simulated_sources import SimulatedLists, SimulatedReports
from webstrata.lab.policies.truth import Truth
from webstrata.schedule.registry import budgeted_names, is_budgeted, names, oracle, policy, policy_state
from webstrata.schedule.value import Value

EVERY = "all"


class PolicyExperiment(Struct, frozen=True, kw_only=True):
    """What is asked."""

    policies: tuple[str, ...] = ()
    """None named: all."""
    days: float = 1095.0
    match: tuple[str, ...] = ("state-2",)
    """Policies whose downloads the budgeted ones get; `all`: every one with its own pace."""
    budgets: tuple[str, ...] = ()
    """Downloads of each corpus instead (`lab.policies.allowance`)."""
    history_days: float = 0.0
    """Weekly archive copies from before the window, shown to budgeted policies."""
    lists_days: float | None = None
    """Each site has a dated list that may be fetched as often; each fetch is a download."""
    list_recall: float = 1.0
    list_precision: float = 1.0
    reports: float | None = None
    """Visitors per page and day whose browsers report changes."""
    freshness: float = 0.0
    """How far `value` goes for fresh copies instead of captured changes."""
    seed: int = 1


class PolicyResults(Struct, frozen=True, kw_only=True):
    """What was found."""

    rows: list[PolicyRow]
    comparisons: list[Comparison]
    pages: int
    left_out: int
    """Pages that were not there at the start of the window."""
    picture: PageTimeline | None


Progress = Callable[[str, int, int], object]
"""What is replayed now, how much is done, of how much."""


def run(
    histories: Histories, asked: PolicyExperiment, progress: Progress = lambda what, done, total: None
) -> PolicyResults:
    """Replay every policy asked for over the last days of the histories."""
    truth = Truth(histories, asked.days)
    timers, budgeted = _chosen(asked.policies)
    matched = _matched(asked, timers)
    budgets = [parse_allowance(text, asked.days) for text in asked.budgets] or [
        DownloadAllowance(match=name) for name in matched
    ]
    paced = list(dict.fromkeys([*timers, *(one.match for one in budgets if one.match and budgeted)]))
    total = len(paced) + len(budgeted) * len(budgets)
    logs: dict[tuple[str, str | None], ReplayLog] = {}
    for name in paced:
        progress(name, len(logs), total)
        logs[name, None] = _own_pace(name, truth)
    downloads = {name: _per_corpus(judge(logs[name, None], truth), truth) for name in paced}
    for budget in budgets:
        for name in budgeted:
            progress(f"{name} at {budget.label}", len(logs), total)
            logs[name, budget.label] = _budgeted(name, histories, asked, budget, downloads)
    outcomes = {key: judge(log, truth) for key, log in logs.items()}
    rows = [
        row
        for (name, match), outcome in outcomes.items()
        if match is not None or name in timers
        for row in summarise(name, match, outcome, truth.histories)
    ]
    shown = {key: log for key, log in logs.items() if key[1] is not None or key[0] in timers}
    return PolicyResults(
        rows=rows,
        comparisons=list(_comparisons(outcomes, budgets, truth)),
        pages=len(truth),
        left_out=truth.left_out,
        picture=picture_of(truth, shown),
    )


def known_policies() -> list[str]:
    """Every policy that the experiment can run by name."""
    return [*names(), *names("oracle"), *budgeted_names()]


def _chosen(wanted: Iterable[str]) -> tuple[list[str], list[str]]:
    """(own pace, budgeted) of the policies asked for."""
    asked = list(dict.fromkeys(wanted)) or known_policies()
    budgeted = [name for name in asked if is_budgeted(name)]
    return [name for name in asked if name not in budgeted], budgeted


def _matched(asked: PolicyExperiment, timers: list[str]) -> list[str]:
    if EVERY in asked.match:
        return timers or names()
    for name in asked.match:
        if is_budgeted(name):
            raise UsageError(f"{name} has no downloads of its own to match. Name one of: {', '.join(names())}.")
    return list(asked.match)


def _own_pace(name: str, truth: Truth) -> ReplayLog:
    if name in names("oracle"):
        return replay_oracle(oracle(name), truth)
    return replay_timer(policy(name), truth)


def _per_corpus(outcome: ReplayTotals, truth: Truth) -> dict[str, int]:
    corpora = np.array(truth.histories.corpus)
    return {corpus: int(outcome.downloads[corpora == corpus].sum()) for corpus in dict.fromkeys(truth.histories.corpus)}


def _budgeted(
    name: str,
    histories: Histories,
    asked: PolicyExperiment,
    budget: DownloadAllowance,
    downloads: dict[str, dict[str, int]],
) -> ReplayLog:
    """One budgeted policy over every corpus, each with its own budget; rows are those of the whole population."""
    corpora = np.array(histories.corpus)
    logs = []
    for corpus in dict.fromkeys(histories.corpus):
        truth = Truth(histories.take(np.flatnonzero(corpora == corpus)), asked.days, asked.history_days)
        allowed = budget.downloads(downloads.get(budget.match or "", {}).get(corpus, 0))
        logs.append((np.flatnonzero(_there(corpora, corpus, histories, asked)), _one(name, truth, allowed, asked)))
    return joined_logs(logs)


def _there(corpora: NDArray[np.str_], corpus: str, histories: Histories, asked: PolicyExperiment) -> NDArray[np.bool_]:
    """Which pages of the whole truth belong to a corpus."""
    inside = histories.first <= histories.until - asked.days * 86_400.0
    here: NDArray[np.bool_] = corpora[inside] == corpus
    return here


def _one(name: str, truth: Truth, allowed: float, asked: PolicyExperiment) -> ReplayLog:
    site = np.unique(np.array(truth.histories.site), return_inverse=True)[1].astype(np.intp)
    pages = policy_state(name, site, now=start_day(truth), freshness=asked.freshness)
    extras = ReplaySources()
    if name == Value.name:  # the textbooks know nothing of hints
        extras = ReplaySources(
            lists=None
            if asked.lists_days is None
            else SimulatedLists(
                truth,
                site,
                every_days=asked.lists_days,
                recall=asked.list_recall,
                precision=asked.list_precision,
                seed=asked.seed,
            ),
            reports=None
            if asked.reports is None
            else SimulatedReports(truth, site, rate_per_day=asked.reports, seed=asked.seed),
        )
    return replay_budget(pages, truth, allowed, extras)


def _comparisons(
    outcomes: dict[tuple[str, str | None], ReplayTotals], budgets: list[DownloadAllowance], truth: Truth
) -> Iterable[Comparison]:
    """The flagship against the policy that it matches and against all others at the same downloads."""
    for budget in budgets:
        mine = outcomes.get((Value.name, budget.label))
        if mine is None:
            continue
        if budget.match is not None and budget.share == 1.0:
            theirs = outcomes[budget.match, None]
            yield from compare(Value.name, budget.match, budget.label, mine, theirs, truth.histories)
        for (name, label), theirs in outcomes.items():
            if label == budget.label and name != Value.name:
                yield from compare(Value.name, name, budget.label, mine, theirs, truth.histories)
