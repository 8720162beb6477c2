"""The real loop over sites made from histories: what it counts, and that it makes the visits of the lab."""

from __future__ import annotations

import asyncio
from pathlib import Path

import numpy as np
import pytest

from tests.lab.live.extract import extract
from tests.lab.policies.made_histories import DAY, made, made_rows
from webstrata.cli.lab.live import assembler
from webstrata.errors import UsageError
from webstrata.lab.live.crawl import crawl_live
from webstrata.lab.live.experiment import LiveCrawl, LiveCrawlRow, LiveExperiment, means, planned, replayed, run_crawl
from webstrata.lab.live.lists import LIST_KINDS, ListKind, site_lists
from webstrata.lab.live.sites import HistorySites
from webstrata.lab.policies.histories import Histories, make_histories
from webstrata.lab.policies.past_histories import COPY_TIMES, CopyTimes, past_sightings
from webstrata.lab.policies.replay_log import ReplayLog
from webstrata.lab.policies.truth import Truth
from webstrata.schedule.announcements import FLOOD_SAMPLE


def only(histories: Histories, experiment: LiveExperiment) -> tuple[LiveCrawl, Histories]:
    (found,) = planned(histories, experiment)
    return found


def run(folder: Path, crawl: LiveCrawl, histories: Histories) -> LiveCrawlRow:
    return asyncio.run(run_crawl(crawl, histories, assembler(folder)))


def visits_of(log: ReplayLog) -> list[tuple[float, int, bool]]:
    return sorted(zip(log.at.tolist(), log.page.tolist(), log.changed.tolist(), strict=True))


@pytest.mark.parametrize(
    ("kind", "pages", "days", "per_day"),
    [
        *((kind, 30, 40, 13.7) for kind in LIST_KINDS),
        ("truth", 30, 60, 0.6),
        ("now", 3 * (FLOOD_SAMPLE + 20), 4, 320.0),
    ],
)
def test_the_loop_makes_exactly_the_visits_of_the_lab(
    tmp_path: Path, kind: ListKind, pages: int, days: int, per_day: float
) -> None:
    """Pages of three sites: the same pages and lists on the same days, whatever lists say; also with less than a visit
    a day, and if lists renew more times than the loop stores."""
    crawl, histories = only(made(pages=pages, days=days), LiveExperiment(days=days))
    truth = Truth(histories, days)
    sites = HistorySites(truth)
    lists = site_lists(kind, truth, sites.site)
    downloads = per_day * days
    live = asyncio.run(
        crawl_live(truth, sites, lists, policy="value", downloads=downloads, assemble=assembler(tmp_path))
    )
    lab = replayed(crawl, truth, sites, lists, downloads)
    assert len(live.page) + len(live.lists) == int(downloads)
    assert visits_of(live) == visits_of(lab)
    assert sorted(zip(live.lists, live.lists_page, strict=True)) == sorted(zip(lab.lists, lab.lists_page, strict=True))


@pytest.mark.parametrize("copies", COPY_TIMES)
def test_the_loop_learns_from_copies_as_the_lab_does(tmp_path: Path, copies: CopyTimes) -> None:
    """With copies of an archive from before the window, the visits are again those of the lab, page by page and day by
    day; among the pages are some that the archive does not have."""
    rows = made_rows(pages=30, days=140)
    for row in rows[::5]:
        row["first"] = 99 * DAY
        row["changes"] = row["changes"][row["changes"] > 99 * DAY]
    crawl, histories = only(make_histories(rows), LiveExperiment(days=40, history_days=(100,), copies=copies))
    truth = Truth(histories, 40, 100)
    past = past_sightings(truth, copies)
    assert 0 < len(np.unique(past.page)) < 30
    sites = HistorySites(truth)
    live = asyncio.run(
        crawl_live(truth, sites, None, policy="value", downloads=400, assemble=assembler(tmp_path), past=past)
    )
    lab = replayed(crawl, truth, sites, None, 400, past)
    assert visits_of(live) == visits_of(lab)
    assert visits_of(live) != visits_of(replayed(crawl, truth, sites, None, 400))


@pytest.mark.parametrize("kind", LIST_KINDS)
def test_each_kind_of_lists_stays_within_the_budget(tmp_path: Path, kind: str) -> None:
    """Visits of pages and of lists together never exceed what is allowed, on no day; first copies are free."""
    days = 30
    crawl, histories = only(extract("wikipedia"), LiveExperiment(lists=(kind,), budgets=(4.0,), days=days))
    truth = Truth(histories, days)
    sites = HistorySites(truth)
    lists = site_lists(crawl.lists, truth, sites.site)
    per_day = 3.4
    log = asyncio.run(
        crawl_live(truth, sites, lists, policy="value", downloads=per_day * days, assemble=assembler(tmp_path))
    )
    made_at = np.sort(np.concatenate([log.at, log.lists]))
    spent = np.searchsorted(made_at, np.arange(1, days + 1), side="right")
    assert (spent <= np.floor(per_day * np.arange(1, days + 1) + 1e-6)).all()
    assert spent[-1] >= 0.9 * per_day * days
    assert made_at.min() >= 1.0
    if kind == "none":
        assert not len(log.lists)
    assert set(np.unique(log.at).tolist()) <= set(range(1, days + 1))


def test_a_row_counts_live_and_lab(tmp_path: Path) -> None:
    """The row has the captures of the loop, of the replay and of the matched policy, and the allowed downloads."""
    crawl, histories = only(extract("packages"), LiveExperiment(lists=("truth",), budgets=(3.0,), days=60))
    row = run(tmp_path, crawl, histories)
    assert (row.corpus, row.policy, row.lists, row.match, row.budget) == ("packages", "value", "truth", "state-2", 3.0)
    assert row.downloads_allowed % 3 == 0
    assert row.visits is not None
    assert row.list_visits is not None
    assert row.captured is not None
    assert row.visits + row.list_visits <= row.downloads_allowed
    assert row.lab_list_visits <= row.downloads_allowed
    assert 0 < row.captured <= row.changes
    assert 0 <= row.lab_captured <= row.changes
    assert 0 < row.matched_captured <= row.changes


def test_two_crawls_are_the_same(tmp_path: Path) -> None:
    """A crawl with lists, repeated, has the same row: nothing depends on the speed of the machine."""
    crawl, histories = only(made(pages=24, days=25), LiveExperiment(lists=("half",), budgets=(2.0,), days=25))
    first, second = (run(tmp_path / name, crawl, histories) for name in ("first", "second"))
    assert first == second


def test_every_combination_is_planned() -> None:
    """Corpora, kinds of lists, matched policies and budgets are combined; a sample takes pages of every site."""
    histories = extract("packages", "webpages")
    experiment = LiveExperiment(
        lists=("none", "truth"), match=("state-2", "dyn"), budgets=(0.5, 1.0), days=1095, pages=5
    )
    crawls = planned(histories, experiment)
    assert len(crawls) == 2 * 2 * 2 * 2
    assert len({(c.corpus, c.lists, c.match, c.budget) for c, _ in crawls}) == len(crawls)
    for crawl, own in crawls:
        whole = {site for site, corpus in zip(histories.site, histories.corpus, strict=True) if corpus == crawl.corpus}
        assert set(own.site) == whole
        assert own.site == sorted(own.site)
        assert len(own) <= 5 + len(whole)
    assert planned(histories, experiment)[0][1].page == crawls[0][1].page


@pytest.mark.parametrize(
    ("experiment", "text"),
    [
        (LiveExperiment(policies=("dyn",)), "shares no budget"),
        (LiveExperiment(match=("value",)), "no timer policy 'value'"),
        (LiveExperiment(lists=("lies",)), "no kind of lists 'lies'"),
        (LiveExperiment(budgets=(0.0,)), "a factor above 0"),
    ],
)
def test_impossible_options_are_errors(experiment: LiveExperiment, text: str) -> None:
    """Each error names the option's value and what is possible."""
    with pytest.raises(UsageError, match=text):
        planned(extract("packages"), experiment)


def test_means_are_geometric_over_the_corpora() -> None:
    """Two corpora with ratios 2 and 0.5 have the mean 1; other budgets are other groups."""

    def row(
        corpus: str, budget: float, captured: int | None, lab: int, lists: ListKind = "none", seed: int = 1
    ) -> LiveCrawlRow:
        return LiveCrawlRow(
            corpus=corpus,
            policy="value",
            lists=lists,
            match="dyn",
            budget=budget,
            seed=seed,
            captured=captured,
            changes=500,
            visits=9,
            list_visits=0,
            downloads_allowed=9.0,
            lab_captured=lab,
            lab_list_visits=0,
            matched_captured=100,
        )

    first, second = means([row("a", 1.0, 200, 400), row("b", 1.0, 50, 100), row("a", 2.0, 100, 100)])
    assert (first.budget, first.corpora, first.ratio, first.lab_ratio) == (1.0, 2, 1.0, 2.0)
    assert (second.budget, second.corpora, second.ratio) == (2.0, 1, 1.0)
    assert second.of_no_list == {"a": 1.0}
    replays = [row("a", 1.0, None, 50), row("a", 1.0, None, 200, seed=2)]
    replays += [row("a", 1.0, None, 100, "truth"), row("a", 1.0, None, 400, "truth", seed=2)]
    without, with_lists = means(replays)
    assert (without.ratio, without.lab_ratio, without.by_corpus) == (None, 1.0, {"a": 1.0})
    assert (with_lists.lab_ratio, with_lists.of_no_list, with_lists.corpora) == (2.0, {"a": 2.0}, 1)


def test_the_gain_of_copies(tmp_path: Path) -> None:
    """With and without copies of an archive at the same downloads: the row has the quotient, with an interval, and the
    mean that of the corpora. Without copies there is none."""
    experiment = LiveExperiment(days=200, history_days=(0, 365), budgets=(0.5,))
    crawls = planned(extract("wikipedia", "packages"), experiment)
    rows = [asyncio.run(run_crawl(crawl, histories, None)) for crawl, histories in crawls]
    assert [(row.corpus, row.history_days) for row in rows] == [
        ("packages", 0), ("packages", 365), ("wikipedia", 0), ("wikipedia", 365),
    ]  # fmt: skip
    for cold, warm in (rows[:2], rows[2:]):
        assert (cold.gain, cold.gain_interval, cold.lab_without_history) == (None, None, None)
        assert warm.lab_without_history == cold.lab_captured
        assert warm.gain == warm.lab_captured / cold.lab_captured
        assert warm.gain_interval is not None
        assert warm.gain_interval[0] <= warm.gain <= warm.gain_interval[1]
    without, with_copies = means(rows)
    assert (without.history_days, without.gain, without.gain_interval) == (0, None, None)
    assert with_copies.history_days == 365
    assert with_copies.gain is not None
    assert with_copies.gain_interval is not None
    assert with_copies.gain == pytest.approx(np.sqrt(np.prod([row.gain for row in rows if row.gain])), rel=1e-5)
    widths = [np.log(row.gain_interval[1] / row.gain_interval[0]) for row in rows if row.gain_interval]
    low, high = with_copies.gain_interval
    assert np.log(high / low) == pytest.approx(np.hypot(*widths) / 2, rel=1e-3)


def test_a_seed_draws_another_order_of_the_pages() -> None:
    """The first seed keeps the order of the histories; another one has the same pages of each site in another order."""
    first, second = (only(extract("packages"), LiveExperiment(days=60, seeds=(seed,)))[1] for seed in (1, 2))
    assert first.site == second.site
    assert first.page != second.page
    assert sorted(first.page) == sorted(second.page)


def test_only_a_replay(tmp_path: Path) -> None:
    """Without a node there is no crawl, and the replay is the same."""
    crawl, histories = only(extract("packages"), LiveExperiment(lists=("truth",), budgets=(3.0,), days=30))
    replay = asyncio.run(run_crawl(crawl, histories, None))
    assert (replay.captured, replay.visits, replay.list_visits) == (None, None, None)
    assert replay.lab_captured == run(tmp_path, crawl, histories).lab_captured
