"""Announcements of feeds and sitemaps in the values of pages, and which lists are read."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.schedule.tables import NOW, table_of
from webstrata.clock import DAY_S
from webstrata.records import Announcement, SignalSource
from webstrata.schedule.announcements import FLOOD_SAMPLE, SourceTable
from webstrata.schedule.page_table import PageTable
from webstrata.schedule.source_choice import SourceWorth, choose_sources, discovery_worth, moved_price, source_worth


def source(announced: float, changed: float, silent: float, **more: Any) -> SignalSource:
    """A source that announced so many changes, of which so many were right, and missed so many others."""
    return SignalSource(
        id=9, url="http://h0.test/sitemap.xml", kind="sitemap-lastmod", announced=announced, announced_changed=changed,
        announced_expected=0.1 * announced, silent_changed=silent, silent_expected=silent, changes=changed + silent,
        days=10 * (announced + silent), reads=10, recent_reads=10.0, entries=announced,
        page_days=10 * announced, **more,
    )  # fmt: skip


def load(table: PageTable, sitemap: SignalSource, news: dict[int, int]) -> SourceTable:
    """Load one source that lists the pages in these rows, with or without an announcement."""
    listed = [
        Announcement(page_id=int(table.ids[row]), source_id=9, at=None, seen_at=0.0, news=one)
        for row, one in news.items()
    ]
    table.load_sources([sitemap], {}, listed)
    assert table.policy_state.lists is not None
    return table.policy_state.lists


def test_announcements_and_silence_of_a_good_source() -> None:
    """An announced page is worth more, a listed one without announcement less; a bad source has no effect."""
    values = {}
    for name, sitemap in {
        "good": source(30, 30, 1, read_at=(NOW + 3) * DAY_S),
        "wrong": source(300, 30, 300, read_at=(NOW + 3) * DAY_S),
    }.items():
        table = table_of(8)
        quiet = table.policy_state.values(NOW + 3.0).copy()
        load(table, sitemap, {0: 1, 1: 0})
        values[name] = table.policy_state.values(NOW + 3.0) / quiet
    assert values["good"][0] > 3
    assert values["good"][1] < 0.6
    assert values["good"][2:].tolist() == pytest.approx([1.0] * 6, rel=1e-3)
    assert values["wrong"][0] < 1.5
    assert values["wrong"][1] > 0.9


def test_a_list_is_worth_what_it_would_reveal() -> None:
    """A list is worth more the longer it was not read; without recall, or if all is announced, it is worth nothing."""
    table = table_of(8)

    def worth(sitemap: SignalSource, news: int, days: float) -> float:
        lists = load(table, sitemap, dict.fromkeys(range(8), news))
        return float(source_worth(lists, *table.policy_state.values_and_chances(NOW + days), 1.0, 0.01).proven[0])

    good = source(30, 30, 1, read_at=NOW * DAY_S)
    assert 0 < worth(good, 0, 1.0) < worth(good, 0, 10.0)
    assert worth(source(30, 3, 300, read_at=NOW * DAY_S), 0, 10.0) == pytest.approx(0.0, abs=2e-3)
    assert worth(good, 1, 10.0) == 0.0


def poisson(changes: float, pages: int) -> tuple[np.ndarray, np.ndarray]:
    """Values and probabilities of pages that are expected to have changed so many times since their last visits."""
    value, chance = 1 - np.exp(-changes) * (1 + changes), 1 - np.exp(-changes)
    return np.full(pages, value), np.full(pages, chance)


def worth_of(sitemap: SignalSource, changes: float, pages: int, price: float) -> float:
    """What a read of a list of such pages is worth."""
    lists = load(table_of(pages), sitemap, dict.fromkeys(range(pages), 0))
    return float(source_worth(lists, *poisson(changes, pages), 1.0, price).proven[0])


def test_the_price_and_wrong_entries_lower_the_worth() -> None:
    """Each captured change costs a visit, or several if the list is often wrong."""
    good, half = source(100, 100, 0, read_at=NOW * DAY_S), source(100, 50, 50, read_at=NOW * DAY_S)
    value = 1 - np.exp(-0.2) * 1.2
    cheap, dear, often_wrong = (
        worth_of(sitemap, 0.2, 40, price) for sitemap, price in ((good, 0.1), (good, 0.6), (half, 0.4))
    )
    assert cheap == pytest.approx(40 * value * (1 - 0.1), rel=0.05)
    assert dear == pytest.approx(40 * value * (1 - 0.6), rel=0.1)
    assert 0 < often_wrong < 0.25 * cheap


@pytest.mark.parametrize(("price", "pages"), [(0.02, 3), (0.1, 5), (0.5, 12)])
def test_a_list_of_few_pages_is_never_worth_its_price(price: float, pages: int) -> None:
    """The pages themselves are visited instead, since a read costs as much as one of them; with a dearer visit a list
    needs more pages. It must be worth the price at some time since the last read, whatever the time."""
    good = source(1000, 1000, 0, read_at=NOW * DAY_S)

    def best(count: int) -> float:
        return max(worth_of(good, changes, count, price) for changes in np.geomspace(0.01, 5.0, 25).tolist())

    assert best(1) < best(2) < price
    assert best(pages) > price


def test_a_free_read_is_worth_what_it_reveals() -> None:
    """Where the price is 0, nothing else needs the budget."""
    assert worth_of(source(100, 100, 0, read_at=NOW * DAY_S), 0.2, 4, 0.0) > 0


def test_only_lists_whose_entries_become_pages_are_read_for_new_pages() -> None:
    """The worth grows with the time since the last read."""
    table = SourceTable(np.array([0, 1], dtype=np.intp), now=0.0)
    table.finds_pages[1] = True
    assert discovery_worth(table, 60.0)[0] == 0.0
    assert 0.0 < discovery_worth(table, 10.0)[1] < discovery_worth(table, 60.0)[1]


def test_pages_known_to_have_changed_come_before_lists() -> None:
    """A list is read only from what is left after the announced pages; the best first, overdue ones before all."""
    lists = SourceTable(np.array([0, 0, 1, 2], dtype=np.intp), now=0.0)
    values, worth = np.array([0.9, 0.9, 0.1, 0.1]), SourceWorth(np.array([0.5, 3.0, 0.05]), np.zeros(3))
    ready, none = np.ones(3, dtype=bool), np.zeros(3, dtype=bool)

    def chosen(count: int, overdue: np.ndarray = none) -> list[int]:
        return choose_sources(
            lists, values, worth, count, 0.2, now=9.0, visits_per_day=10.0, ready=ready, overdue=overdue
        ).tolist()

    assert chosen(9) == [1, 0]
    assert chosen(1) == [1]
    assert chosen(9, np.array([False, False, True])) == [2, 1, 0]
    lists.announced[:2] = True
    assert (chosen(2), chosen(3)) == ([], [1])


def test_lists_without_a_record_are_tried_with_one_visit_of_a_hundred() -> None:
    """The most promising first; a list that was wrong before less often. Where a read costs nothing, all are read."""
    lists = SourceTable(np.array([0, 1, 2], dtype=np.intp), now=0.0)
    worth = SourceWorth(np.zeros(3), np.array([1.0, 3.0, 0.1]))

    def tried(now: float, price: float = 0.2) -> list[int]:
        return choose_sources(
            lists, np.zeros(3), worth, 9, price, now=now, visits_per_day=10.0,
            ready=np.ones(3, dtype=bool), overdue=np.zeros(3, dtype=bool),
        ).tolist()  # fmt: skip

    assert (tried(9.0), tried(10.0), tried(20.0), tried(90.0)) == ([], [1], [1, 0], [1, 0])
    lists.quality["announced"][1] = 8.0  # all of them wrong
    assert (tried(10.0), tried(20.0), tried(90.0)) == ([0], [0], [0, 1])
    assert tried(1.0, price=0.0) == [1, 0, 2]
    worth.proven[:] = 5.0
    assert tried(1.0) == [0, 1, 2]


def test_the_price_moves_with_the_share_of_the_budget() -> None:
    """A day's visits move the price by a fifth of the way; many small rounds move it as far as one large round."""
    assert moved_price(0.1, 0.2, 1.0) == pytest.approx(0.1 * 2**0.2)
    price = 0.1
    for _ in range(24):
        price = moved_price(price, 0.2, 1 / 24)
    assert price == pytest.approx(moved_price(0.1, 0.2, 1.0))
    assert moved_price(1e-6, 0.0, 1.0) == 1e-6


@pytest.mark.parametrize(("renewed", "announced"), [(260, 260), (290, FLOOD_SAMPLE)])
def test_of_a_flood_only_a_sample_counts(renewed: int, announced: int) -> None:
    """If a list renews nearly all of its times, only the announcements that are first in the sample's order count."""
    order = np.random.default_rng(1).permutation(300)
    table = SourceTable(np.zeros(300, dtype=np.intp), now=0.0, sample_order=order)
    rows = np.arange(renewed)
    table.read(0, 2.0, rows, np.full(renewed, 1.0), np.zeros(renewed))
    assert set(np.flatnonzero(table.announced)) == set(rows[np.argsort(order[:renewed])][:announced])
    assert table.quality["entries"][0] == renewed, "the quality of the list is judged by all of its entries"
