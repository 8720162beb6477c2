"""Tables 3 and 5 on small sites."""

from __future__ import annotations

from functools import partial

import pytest

from tests.lab.cold_start.small_sites import small_pages
from webstrata.errors import UsageError
from webstrata.lab.cold_start.experiment import ColdStartTables, cold_start_tables
from webstrata.lab.cold_start.learners import learned
from webstrata.lab.cold_start.monitored_pages import monitored_pages
from webstrata.lab.cold_start.starts import starts_by_fold
from webstrata.lab.cold_start.watched_sites import WatchedSites
from webstrata.lab.first_sight.page_table import as_training_pages
from webstrata.lab.policies.histories import make_histories

TREE = partial(learned, method="tree-unpruned")
"""Pruning takes most of the time."""
COMBINATIONS = {
    *(("random", "none"), ("usual", "none"), ("j48", "none")),
    *(("random", "bayesian"), ("random", "historic"), ("j48", "bayesian"), ("j48", "historic")),
    *(("population", "value"), ("first-sight", "value")),
}


@pytest.fixture(scope="module")
def tables() -> ColdStartTables:
    return cold_start_tables(monitored_pages(small_pages(), 50.0), TREE, 1)


def test_rows(tables: ColdStartTables) -> None:
    """A row for each combination and split; each page of unseen sites is tested."""
    assert {(row.split, row.initial, row.history) for row in tables.rows} == {
        (split, *one) for split in ("pages", "sites") for one in COMBINATIONS
    }
    for row in tables.rows:
        assert 0.0 <= row.low <= row.error <= row.high <= 1.0
        assert row.pages == 72 or row.split == "pages"
    assert set(tables.groups) == {"pages", "sites"}


def test_features_that_tell(tables: ColdStartTables) -> None:
    """Where pages look like their groups, the tree finds these, also on unseen sites; `value` spends as many visits as
    the historic classifier that starts in its classes."""
    found = {(row.split, row.initial, row.history): row for row in tables.rows}
    for split in ("pages", "sites"):
        assert found[split, "j48", "none"].error < 0.35
        assert found[split, "random", "none"].error > 0.6
        value, historic = found[split, "first-sight", "value"], found[split, "j48", "historic"]
        assert value.visits == pytest.approx(historic.visits, abs=0.2)


def test_the_same_again(tables: ColdStartTables) -> None:
    """Equal pages and seeds give equal rows."""
    assert cold_start_tables(monitored_pages(small_pages(), 50.0), TREE, 1) == tables


def test_too_little_to_learn() -> None:
    """One site, and pages that did not last, are errors of use that say what to do."""
    with pytest.raises(UsageError, match="at least two sites"):
        cold_start_tables(monitored_pages(small_pages(sites="a"), 100.0), TREE, 1)
    with pytest.raises(UsageError, match="--days"):
        monitored_pages(small_pages(), 200.0)


def test_starts() -> None:
    """A start is a belief that sums to one. It is learned from other sites or other pages, and fast pages start with
    more belief in fast levels than slow ones where features tell."""
    pages = small_pages()
    rows = [
        {"corpus": "c", "page": f"{page.site}/{page.path}", "site": page.site, "first": 1e9, "until": 1e9 + 8e6}
        | {"changes": [1e9 + at * 86_400 for at in page.changed_after_days if at < 90]}
        for page in pages
    ]
    watched = WatchedSites(histories=make_histories(rows), features=tuple(page.features for page in pages))
    fast = [page.path.startswith("news") for page in pages]
    slow = [page.path.startswith("about") for page in pages]
    for split in ("pages", "sites"):
        starts = starts_by_fold(watched, as_training_pages(pages), TREE, split)
        assert list(starts) == ["population", "first-sight", "true group"]
        for belief in starts.values():
            assert belief.shape == (72, 13)
            assert belief.sum(axis=1) == pytest.approx(1.0, abs=1e-5)
        for name in ("first-sight", "true group"):
            assert starts[name][fast][:, 7:].sum(axis=1).mean() > 1.3 * starts[name][slow][:, 7:].sum(axis=1).mean()
