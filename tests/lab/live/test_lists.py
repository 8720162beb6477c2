"""The kinds of lists: what the entries of each say about the true changes."""

from __future__ import annotations

import numpy as np
import pytest

from tests.lab.policies.made_histories import made
from webstrata.clock import DAY_S
from webstrata.lab.live.lists import LIST_KINDS, EntryLists, ListKind, site_lists
from webstrata.lab.policies.simulated_sources import ListedEntries
from webstrata.lab.policies.truth import Truth

DAYS = 100
TRUTH = Truth(made(pages=30, days=DAYS + 10), DAYS)
SITE = np.unique(np.array(TRUTH.histories.site), return_inverse=True)[1].astype(np.intp)
CHANGED, AT = TRUTH.events(0.0, DAYS)


def lists_of(kind: ListKind, seed: int = 1) -> ListedEntries:
    lists = site_lists(kind, TRUTH, SITE, seed)
    assert lists is not None
    return lists


def entries(kind: ListKind, seed: int = 1) -> set[tuple[int, int]]:
    """(page, second) of all entries that are news on some day."""
    lists = lists_of(kind, seed)
    found: set[tuple[int, int]] = set()
    for site in range(3):
        for step in range(DAYS * 24):  # so short that hardly two entries of a page fall into one step
            rows, at = lists.news(site, step / 24, (step + 1) / 24)
            assert set(SITE[rows].tolist()) <= {site}
            found |= set(zip(rows.tolist(), np.round(at * DAY_S).astype(int).tolist(), strict=True))
    return found


def changes() -> set[tuple[int, int]]:
    return set(zip(CHANGED.tolist(), np.floor(AT * DAY_S + 1e-3).astype(int).tolist(), strict=True))


def test_no_lists() -> None:
    """`none` makes no lists."""
    assert site_lists("none", TRUTH, SITE) is None


def test_a_truthful_list_has_every_change_and_nothing_else() -> None:
    """The entries of `truth` are the changes."""
    assert entries("truth") == changes()


def test_a_silent_list_has_no_entries() -> None:
    """`silent` never has news."""
    assert entries("silent") == set()


def test_random_entries_are_as_many_as_changes_and_unrelated() -> None:
    """`random` has about as many entries as there are changes; another seed gives others, the same seed the same."""
    found = entries("random")
    assert len(found) == pytest.approx(len(changes()), rel=0.02)
    assert len(found & changes()) < 0.02 * len(found)
    assert found == entries("random")
    assert len(found & entries("random", seed=2)) < 0.02 * len(found)


def test_shuffled_entries_are_the_times_of_another_page() -> None:
    """`shuffled` gives the changes of each page to one other page of the same site."""
    found = entries("shuffled")
    times: dict[int, set[int]] = {}
    for page, second in changes():
        times.setdefault(page, set()).add(second)
    moved: dict[int, set[int]] = {}
    for page, second in found:
        moved.setdefault(page, set()).add(second)
    assert sorted(map(sorted, times.values())) == sorted(map(sorted, moved.values()))
    for page, seconds in moved.items():
        assert times.get(page) != seconds
        origin = next(other for other, own in times.items() if own == seconds)
        assert SITE[origin] == SITE[page]


def test_a_page_without_a_neighbour_is_not_shuffled() -> None:
    """A site with one page has no other page whose times it could get: its list is empty."""
    alone = np.where(np.arange(len(SITE)) == 0, 3, SITE)
    lists = site_lists("shuffled", TRUTH, alone)
    assert lists is not None
    assert len(lists.news(3, 0.0, DAYS)[0]) == 0


def test_half_of_the_entries_are_true() -> None:
    """`half` has about half of the changes, and as many false entries."""
    found = entries("half")
    true = found & changes()
    assert len(true) == pytest.approx(len(changes()) / 2, rel=0.15)
    assert len(found - changes()) == pytest.approx(len(true), rel=0.05)


def test_now_dates_every_page_with_the_request() -> None:
    """`now` says of every page of the site that it changed at the time of the request."""
    rows, at = lists_of("now").news(1, 3.0, 7.5)
    assert rows.tolist() == np.flatnonzero(SITE == 1).tolist()
    assert set(at.tolist()) == {7.5}


def test_news_give_the_newest_date_of_each_page() -> None:
    """A page with several entries since the last fetch is listed once, with the newest date."""
    lists = EntryLists(np.array([0, 0, 1]), np.array([1.0, 2.0, 5.0]), np.array([0, 0]))
    rows, at = lists.news(0, 0.0, 4.0)
    assert (rows.tolist(), at.tolist()) == ([0], [2.0])
    rows, at = lists.news(0, 1.0, 5.0)
    assert (rows.tolist(), at.tolist()) == ([0, 1], [2.0, 5.0])


def test_lists_may_be_fetched_daily() -> None:
    """All kinds allow a fetch a day."""
    assert {lists.every_days for kind in LIST_KINDS if (lists := site_lists(kind, TRUTH, SITE))} == {1.0}
