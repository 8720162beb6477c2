"""The experiment on policies: from histories and options to result rows and comparisons.

1. Timer policies are replayed over all pages.
2. Budgeted policies get, for each corpus, the downloads of each matched policy, or a fixed number.
3. Every replay is evaluated against the true changes; `value` is compared with all policies at equal downloads.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from webstrata.errors import UsageError
from webstrata.lab.policies.allowance import DownloadAllowance, parse_allowance
from webstrata.lab.policies.histories import Histories
from webstrata.lab.policies.liveliest import liveliest
from webstrata.lab.policies.page_timeline import PageTimeline, picture_of
from webstrata.lab.policies.past_histories import CopyTimes, past_sightings
from webstrata.lab.policies.replay_budget import ReplaySources, learn_past, replay_budget
from webstrata.lab.policies.replay_log import ReplayLog, ReplayTotals, joined_logs, judge
from webstrata.lab.policies.replay_timer import replay_oracle, replay_timer
from webstrata.lab.policies.rows import Comparison, PolicyRow, compare, summarise
from webstrata.lab.policies.simulated_sources import SimulatedLists, SimulatedReports
from webstrata.lab.policies.truth import Truth
from webstrata.schedule.policy import Bounds
from webstrata.schedule.registry import budgeted_names, is_budgeted, names, oracle, policy, policy_state
from webstrata.schedule.value import Value

EVERY = "all"
_SHORTEST_STEP_DAYS = 1.0 / 144


class PolicyExperiment(Struct, frozen=True, kw_only=True):
    """The options of an experiment."""

    policies: tuple[str, ...] = ()
    """Empty: all policies."""
    days: float = 1095.0
    match: tuple[str, ...] = ("state-2",)
    """Policies whose downloads the budgeted ones get; `all`: every timer policy."""
    budgets: tuple[str, ...] = ()
    """Downloads for each corpus instead of `match` (`lab.policies.allowance`)."""
    history_days: float = 0.0
    """Days before the window of which budgeted policies know copies."""
    copies: CopyTimes = "archive"
    """When these copies were taken."""
    lists_days: float | None = None
    """Least days between fetches of each site's dated list, which count as downloads; None: no lists."""
    list_recall: float = 1.0
    list_precision: float = 1.0
    reports: float | None = None
    """Visitors per page and day whose browsers report changes."""
    freshness: float = 0.0
    """The objective of `value`: 0 captured changes, 1 fresh copies."""
    seed: int = 1
    step_days: float = 1.0
    """Time between two decisions of a budgeted policy, and the shortest interval of every policy."""
    liveliest: float = 1.0
    """Share of the pages of each corpus that is replayed: those that changed most often before the window."""


class PolicyResults(Struct, frozen=True, kw_only=True):
    """The results of an experiment."""

    rows: list[PolicyRow]
    comparisons: list[Comparison]
    pages: int
    left_out: int
    """Number of pages that did not exist at the start of the window."""
    picture: PageTimeline | None


Progress = Callable[[str, int, int], object]
"""(policy, finished replays, number of replays)"""


def run(
    histories: Histories, experiment: PolicyExperiment, progress: Progress = lambda what, done, total: None
) -> PolicyResults:
    """Replay the policies over the last days of the histories."""
    if not _SHORTEST_STEP_DAYS <= experiment.step_days <= min(experiment.days, Bounds().max_days):
        raise UsageError("--step must be from 10m up to the window and to 180d.")
    if experiment.liveliest < 1.0:
        histories = liveliest(histories, experiment.liveliest, experiment.days)
    truth = Truth(histories, experiment.days)
    bounds = Bounds(min_days=experiment.step_days)
    timers, budgeted = _chosen(experiment.policies)
    matched = _matched(experiment, timers)
    budgets = [parse_allowance(text, experiment.days) for text in experiment.budgets] or [
        DownloadAllowance(match=name) for name in matched
    ]
    paced = list(dict.fromkeys([*timers, *(budget.match for budget in budgets if budget.match and budgeted)]))
    total = len(paced) + len(budgeted) * len(budgets)
    logs: dict[tuple[str, str | None], ReplayLog] = {}
    for name in paced:
        progress(name, len(logs), total)
        logs[name, None] = _own_pace(name, truth, bounds)
    downloads = {name: _per_corpus(judge(logs[name, None], truth), truth) for name in paced}
    for budget in budgets:
        for name in budgeted:
            progress(f"{name} at {budget.label}", len(logs), total)
            logs[name, budget.label] = _budgeted(name, histories, experiment, budget, downloads)
    totals = {key: judge(log, truth) for key, log in logs.items()}
    rows = [
        row
        for (name, match), outcome in totals.items()
        if match is not None or name in timers
        for row in summarise(name, match, outcome, truth.histories)
    ]
    shown = {key: log for key, log in logs.items() if key[1] is not None or key[0] in timers}
    return PolicyResults(
        rows=rows,
        comparisons=list(_comparisons(totals, budgets, truth)),
        pages=len(truth),
        left_out=truth.left_out,
        picture=picture_of(truth, shown),
    )


def known_policies() -> list[str]:
    """The names of all policies that an experiment can run."""
    return [*names(), *names("oracle"), *budgeted_names()]


def _chosen(wanted: Iterable[str]) -> tuple[list[str], list[str]]:
    """(timers and oracles, budgeted policies)"""
    policies = list(dict.fromkeys(wanted)) or known_policies()
    budgeted = [name for name in policies if is_budgeted(name)]
    return [name for name in policies if name not in budgeted], budgeted


def _matched(experiment: PolicyExperiment, timers: list[str]) -> list[str]:
    if EVERY in experiment.match:
        return timers or names()
    for name in experiment.match:
        if is_budgeted(name):
            raise UsageError(f"{name} has no downloads of its own to match. Name one of: {', '.join(names())}.")
    return list(experiment.match)


def _bounds_of_steps(experiment: PolicyExperiment) -> Bounds:
    # A little shorter than the step: the difference of two times that are one step apart may be rounded down.
    return Bounds(min_days=experiment.step_days * (1.0 - 1e-9))


def _own_pace(name: str, truth: Truth, bounds: Bounds) -> ReplayLog:
    if name in names("oracle"):
        return replay_oracle(oracle(name, bounds), truth)
    return replay_timer(policy(name, bounds), truth)


def _per_corpus(outcome: ReplayTotals, truth: Truth) -> dict[str, int]:
    corpora = np.array(truth.histories.corpus)
    return {corpus: int(outcome.downloads[corpora == corpus].sum()) for corpus in dict.fromkeys(truth.histories.corpus)}


def _budgeted(
    name: str,
    histories: Histories,
    experiment: PolicyExperiment,
    budget: DownloadAllowance,
    downloads: dict[str, dict[str, int]],
) -> ReplayLog:
    """Replay one budgeted policy on every corpus with its own budget; rows of the log are those of all pages."""
    corpora = np.array(histories.corpus)
    logs = []
    for corpus in dict.fromkeys(histories.corpus):
        truth = Truth(histories.take(np.flatnonzero(corpora == corpus)), experiment.days, experiment.history_days)
        allowed = budget.downloads(downloads.get(budget.match or "", {}).get(corpus, 0), len(truth))
        logs.append(
            (np.flatnonzero(_existing(corpora, corpus, histories, experiment)), _one(name, truth, allowed, experiment))
        )
    return joined_logs(logs)


def _existing(
    corpora: NDArray[np.str_], corpus: str, histories: Histories, experiment: PolicyExperiment
) -> NDArray[np.bool_]:
    """Which of the pages that exist at the start of the window belong to a corpus."""
    inside = histories.first <= histories.until - experiment.days * 86_400.0
    belongs: NDArray[np.bool_] = corpora[inside] == corpus
    return belongs


def _one(name: str, truth: Truth, allowed: float, experiment: PolicyExperiment) -> ReplayLog:
    site = np.unique(np.array(truth.histories.site), return_inverse=True)[1].astype(np.intp)
    pages = policy_state(name, site, bounds=_bounds_of_steps(experiment), freshness=experiment.freshness)
    if experiment.history_days:
        learn_past(pages, truth, past_sightings(truth, experiment.copies, experiment.seed))
    sources = ReplaySources()
    if pages.policy.has_forecast:  # other policies ignore signals
        sources = ReplaySources(
            lists=None
            if experiment.lists_days is None
            else SimulatedLists(
                truth,
                site,
                every_days=experiment.lists_days,
                recall=experiment.list_recall,
                precision=experiment.list_precision,
                seed=experiment.seed,
            ),
            reports=None
            if experiment.reports is None
            else SimulatedReports(truth, site, rate_per_day=experiment.reports, seed=experiment.seed),
        )
    return replay_budget(pages, truth, allowed, sources, experiment.step_days)


def _comparisons(
    totals: dict[tuple[str, str | None], ReplayTotals], budgets: list[DownloadAllowance], truth: Truth
) -> Iterable[Comparison]:
    """Compare `value` with the matched policy and with all other policies at the same downloads."""
    for budget in budgets:
        own = totals.get((Value.name, budget.label))
        if own is None:
            continue
        if budget.match is not None and budget.share == 1.0:
            other = totals[budget.match, None]
            yield from compare(Value.name, budget.match, budget.label, own, other, truth.histories)
        for (name, label), other in totals.items():
            if label == budget.label and name != Value.name:
                yield from compare(Value.name, name, budget.label, own, other, truth.histories)
