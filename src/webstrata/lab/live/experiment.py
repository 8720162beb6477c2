"""The experiment `lab live`: corpora, kinds of lists and budgets to rows of live and replayed captures.

For each corpus, the matched timer policy is replayed at its own pace. Its downloads, times a factor, are the budget of
the live crawl and of the same policy's replay in the lab, with the same lists.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from msgspec import Struct

from webstrata.errors import UsageError
from webstrata.flows.crawl.signals import sample_key
from webstrata.lab.live.crawl import Assemble, OnDay, crawl_live
from webstrata.lab.live.lists import LIST_KINDS, ListKind, site_lists
from webstrata.lab.live.sites import HistorySites
from webstrata.lab.policies.bootstrap import Resamples, interval, share
from webstrata.lab.policies.histories import Histories
from webstrata.lab.policies.past_histories import CopyTimes, past_sightings
from webstrata.lab.policies.replay_budget import ReplaySources, learn_past, replay_budget
from webstrata.lab.policies.replay_log import ReplayLog, ReplayTotals, judge
from webstrata.lab.policies.replay_timer import replay_timer
from webstrata.lab.policies.simulated_sources import ListedEntries
from webstrata.lab.policies.truth import Truth
from webstrata.schedule.past_copies import PastSightings
from webstrata.schedule.registry import budgeted_names, is_budgeted, names, policy, policy_state

_FIRST_SEED = 1
_NO_LISTS = LIST_KINDS[0]


class LiveExperiment(Struct, frozen=True, kw_only=True):
    """The options of the experiment. It crawls once for each corpus and each combination of the other options."""

    policies: tuple[str, ...] = ("value",)
    lists: tuple[str, ...] = ("none",)
    match: tuple[str, ...] = ("state-2",)
    budgets: tuple[float, ...] = (1.0,)
    """Multiples of the downloads of the matched policy."""
    days: int = 1095
    pages: int | None = None
    """About this many pages of each corpus, a sample by site; None: all."""
    history_days: tuple[int, ...] = (0,)
    """Days before the window of which the crawl knows copies of an archive."""
    copies: CopyTimes = "archive"
    seeds: tuple[int, ...] = (1,)
    """Each seed draws the times of copies, the random entries of lists, and the order of the pages of a site: of pages
    of equal value the first are visited. The seed 1 keeps the order of the histories."""


class LiveCrawl(Struct, frozen=True, kw_only=True):
    """One crawl of the experiment."""

    corpus: str
    policy: str
    lists: ListKind
    match: str
    budget: float
    days: int
    seed: int
    history_days: int = 0
    copies: CopyTimes = "archive"


class LiveCrawlRow(Struct, frozen=True, kw_only=True):
    """The result of one crawl."""

    corpus: str
    policy: str
    lists: str
    match: str
    budget: float
    seed: int
    captured: int | None
    """Changes that the live loop captured; None if there was only a replay."""
    changes: int
    visits: int | None
    """Visits of pages after the first copies."""
    list_visits: int | None
    downloads_allowed: float
    """For visits of pages and lists together."""
    lab_captured: int
    """Changes that the replay in the lab captured with the same downloads and lists."""
    lab_list_visits: int
    matched_captured: int
    """Changes that the matched policy captured at its own pace."""
    history_days: int = 0
    lab_without_history: int | None = None
    """Changes that the replay captures with the same downloads and without copies of an archive; None if there are no
    copies."""
    gain: float | None = None
    """Captures of the live loop, or of the replay if there is none, divided by those without copies."""
    gain_interval: tuple[float, float] | None = None
    """95 % of the resamples of pages."""


class LiveMean(Struct, frozen=True, kw_only=True):
    """Geometric means over corpora and seeds of captured changes, divided by those of the matched policy."""

    policy: str
    lists: str
    match: str
    budget: float
    history_days: int
    corpora: int
    ratio: float | None
    """Of the live loop; None if there were only replays."""
    lab_ratio: float
    by_corpus: dict[str, float]
    """The replays of each corpus alone."""
    of_no_list: dict[str, float]
    """By corpus: the replays, divided by those without lists. Empty if there were none."""
    gain: float | None = None
    """Captures divided by those of the replays without copies of an archive; None if there are no copies."""
    gain_interval: tuple[float, float] | None = None
    """95 %, from the intervals of the crawls."""


def planned(histories: Histories, experiment: LiveExperiment) -> list[tuple[LiveCrawl, Histories]]:
    """All crawls, each with its pages. Raises UsageError for an option that is not possible."""
    _check(experiment)
    crawls: list[tuple[LiveCrawl, Histories]] = []
    corpora = np.array(histories.corpus)
    for corpus in dict.fromkeys(histories.corpus):
        existing = Truth(histories.take(np.flatnonzero(corpora == corpus)), experiment.days).histories
        sample = _sample(existing, experiment.pages)
        ordered = {seed: _by_site(_shuffled(sample, seed)) for seed in experiment.seeds}
        crawls += [
            (
                LiveCrawl(
                    corpus=corpus,
                    policy=name,
                    lists=_kind(kind),
                    match=match,
                    budget=budget,
                    days=experiment.days,
                    seed=seed,
                    history_days=history_days,
                    copies=experiment.copies,
                ),
                ordered[seed],
            )
            for match in experiment.match
            for budget in experiment.budgets
            for kind in experiment.lists
            for history_days in experiment.history_days
            for name in experiment.policies
            for seed in experiment.seeds
        ]
    return crawls


def _check(experiment: LiveExperiment) -> None:
    for name in experiment.policies:
        if not is_budgeted(name):
            raise UsageError(f"{name} shares no budget. Name one of: {', '.join(budgeted_names())}.")
    for name in experiment.match:
        if name not in names():
            raise UsageError(f"no timer policy {name!r} to match. Name one of: {', '.join(names())}.")
    for factor in experiment.budgets:
        if not 0.0 < factor < math.inf:
            raise UsageError(f"the budget {factor:g} is not possible: write a factor above 0, for example 0.5.")


def _kind(text: str) -> ListKind:
    for kind in LIST_KINDS:
        if kind == text:
            return kind
    raise UsageError(f"no kind of lists {text!r}. Name one of: {', '.join(LIST_KINDS)}.")


def _by_site(histories: Histories) -> Histories:
    """The pages in the order in which the store keeps them: among pages of equal value the first ones are visited."""
    return histories.take(np.argsort(np.array(histories.site), kind="stable"))


def _shuffled(histories: Histories, seed: int) -> Histories:
    if seed == _FIRST_SEED:
        return histories
    return histories.take(np.random.default_rng(seed).permutation(len(histories)))


def _sample(histories: Histories, limit: int | None) -> Histories:
    """About `limit` pages: of each site the same share, at equal distances in the order of the histories."""
    if limit is None or len(histories) <= limit:
        return histories
    sites = np.unique(np.array(histories.site), return_inverse=True)[1]
    taken = []
    for number in range(int(sites.max()) + 1):
        own = np.flatnonzero(sites == number)
        count = max(1, round(len(own) * limit / len(histories)))
        taken.append(own[np.arange(count) * len(own) // count])
    return histories.take(np.sort(np.concatenate(taken)))


async def run_crawl(
    crawl: LiveCrawl, histories: Histories, assemble: Assemble | None, on_day: OnDay = lambda day: None
) -> LiveCrawlRow:
    """Crawl live, replay the same in the lab, and count. Without `assemble`, only replay."""
    truth = Truth(histories, crawl.days, crawl.history_days)
    past = past_sightings(truth, crawl.copies, crawl.seed) if crawl.history_days else None
    sites = HistorySites(truth)
    lists = site_lists(crawl.lists, truth, sites.site, crawl.seed)
    matched = replay_timer(policy(crawl.match), truth)
    downloads = crawl.budget * len(matched.page)
    live = None
    if assemble is not None:
        live = await crawl_live(
            truth, sites, lists, policy=crawl.policy, downloads=downloads, assemble=assemble, past=past, on_day=on_day
        )
    lab = replayed(crawl, truth, sites, lists, downloads, past)
    without = None if past is None else judge(replayed(crawl, truth, sites, lists, downloads), truth)
    gain, gain_interval = (
        (None, None) if without is None else _gain(judge(lab if live is None else live, truth), without)
    )
    return LiveCrawlRow(
        corpus=crawl.corpus,
        policy=crawl.policy,
        lists=crawl.lists,
        match=crawl.match,
        budget=crawl.budget,
        seed=crawl.seed,
        captured=None if live is None else int(judge(live, truth).captured.sum()),
        changes=int(truth.total().sum()),
        visits=None if live is None else len(live.page),
        list_visits=None if live is None else len(live.lists),
        downloads_allowed=downloads,
        lab_captured=int(judge(lab, truth).captured.sum()),
        lab_list_visits=len(lab.lists),
        matched_captured=int(judge(matched, truth).captured.sum()),
        history_days=crawl.history_days,
        lab_without_history=None if without is None else int(without.captured.sum()),
        gain=gain,
        gain_interval=gain_interval,
    )


def _gain(own: ReplayTotals, other: ReplayTotals) -> tuple[float, tuple[float, float]]:
    """The captures divided by those of another crawl of the same pages, and the 95 % interval by resampling pages."""
    ours, theirs = own.captured.sum(axis=1), other.captured.sum(axis=1)
    resamples, every = Resamples(len(ours)), np.arange(len(ours))
    ratios = share(resamples.sums(ours, every), resamples.sums(theirs, every))
    return float(ours.sum()) / max(float(theirs.sum()), 1.0), interval(ratios)


def replayed(
    crawl: LiveCrawl,
    truth: Truth,
    sites: HistorySites,
    lists: ListedEntries | None,
    downloads: float,
    past: PastSightings | None = None,
) -> ReplayLog:
    """The same crawl in the lab."""
    pages = policy_state(crawl.policy, sites.site)
    if past is not None:
        learn_past(pages, truth, past)
    order = np.array([sample_key(url) for url in sites.page_urls], dtype=np.int64)
    return replay_budget(pages, truth, downloads, ReplaySources(lists=lists, sample_order=order))


def means(rows: Sequence[LiveCrawlRow]) -> list[LiveMean]:
    """The means over corpora and seeds, for each combination of the other options."""
    groups: dict[tuple[str, str, str, float, int], list[LiveCrawlRow]] = {}
    for row in rows:
        groups.setdefault((row.policy, row.lists, row.match, row.budget, row.history_days), []).append(row)
    found = []
    for (policy_name, kind, match, budget, history_days), group in groups.items():
        matched = {(row.corpus, row.seed): row.matched_captured for row in group}
        without = groups.get((policy_name, _NO_LISTS, match, budget, history_days), [])
        live = [(row.captured, row.matched_captured) for row in group if row.captured is not None]
        found.append(
            LiveMean(
                policy=policy_name,
                lists=kind,
                match=match,
                budget=budget,
                history_days=history_days,
                corpora=len({row.corpus for row in group}),
                ratio=_geometric(live) if len(live) == len(group) else None,
                lab_ratio=_geometric((row.lab_captured, row.matched_captured) for row in group),
                by_corpus=_by_corpus(group, matched),
                of_no_list=_by_corpus(group, {(row.corpus, row.seed): row.lab_captured for row in without}),
                gain=_mean_gain(group),
                gain_interval=_mean_interval(group),
            )
        )
    return found


def _mean_gain(rows: Sequence[LiveCrawlRow]) -> float | None:
    gains = [math.log(row.gain) for row in rows if row.gain]
    return round(math.exp(sum(gains) / len(gains)), 6) if gains else None


def _mean_interval(rows: Sequence[LiveCrawlRow]) -> tuple[float, float] | None:
    """The interval of the geometric mean of the corpora, whose pages are independent. Seeds have the same pages, so
    that several of them do not make the interval of a corpus shorter."""
    mean = _mean_gain(rows)
    ends: dict[str, list[float]] = {}
    for row in rows:
        if row.gain_interval is not None and row.gain_interval[0] > 0:
            ends.setdefault(row.corpus, []).append(math.log(row.gain_interval[1] / row.gain_interval[0]) / 2)
    if mean is None or not ends:
        return None
    half = math.sqrt(sum((sum(widths) / len(widths)) ** 2 for widths in ends.values())) / len(ends)
    return round(mean * math.exp(-half), 6), round(mean * math.exp(half), 6)


def _by_corpus(rows: Sequence[LiveCrawlRow], base: Mapping[tuple[str, int], int]) -> dict[str, float]:
    """The captures of the replays divided by others, of the same corpus and seed."""
    pairs: dict[str, list[tuple[int, int]]] = {}
    for row in rows:
        if (row.corpus, row.seed) in base:
            pairs.setdefault(row.corpus, []).append((row.lab_captured, base[row.corpus, row.seed]))
    return {corpus: _geometric(of_corpus) for corpus, of_corpus in pairs.items()}


def _geometric(pairs: Iterable[tuple[int, int]]) -> float:
    """The geometric mean of the ratios of these pairs."""
    logs = [math.log(max(one, 1e-9) / max(other, 1)) for one, other in pairs]
    return round(math.exp(sum(logs) / len(logs)), 6)
