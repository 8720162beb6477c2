"""Pages in memory: found by their ids, small, valued with announcements; and when they will be worth a visit."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from webstrata.clock import DAY_S
from webstrata.records import Announcement, Boost, IntervalLimit, PageSummary, SignalSource
from webstrata.schedule.crossing import crossing_days
from webstrata.schedule.overrides import IntervalLimits, Overrides
from webstrata.schedule.page_table import PageTable, replayed
from webstrata.schedule.policy import Bounds
from webstrata.schedule.registry import budgeted_names, budgeted_policy

NOW = 20_000.0
LIMITS = IntervalLimits(300.0, 180 * DAY_S)
LIVE = Bounds(min_days=1 / 288, max_days=180.0)


def summaries(n: int, per_host: int = 4) -> list[PageSummary]:
    """Pages with ids that do not come in order."""
    ids = np.random.default_rng(3).permutation(n) * 7 + 5
    return [
        PageSummary(id=int(id_), url=f"http://h{i // per_host}.test/{i}", host=f"h{i // per_host}.test")
        for i, id_ in enumerate(ids)
    ]


def table_of(n: int, name: str = "value") -> PageTable:
    policy = budgeted_policy(name, LIVE)
    table = PageTable(policy)
    pages = summaries(n)
    for part in (pages[: n // 2], pages[n // 2 :]):
        table.add(part, [policy.start(1, NOW)[0].tobytes() for _ in part], NOW)
    table.apply_overrides(Overrides(), LIMITS, {}, NOW * DAY_S)
    return table


def test_pages_are_found_by_their_ids() -> None:
    """Pages are found in any order; an unknown id has row -1."""
    table = table_of(50)
    ids = [one.id for one in summaries(50)]
    assert table.rows(ids).tolist() == list(range(50))
    assert table.rows([ids[7], 1, ids[3]]).tolist() == [7, -1, 3]
    assert table.rows([]).tolist() == []


def test_state_survives_growth() -> None:
    """The state of pages and sites is the same after other pages were added."""
    table = table_of(40)
    rows = np.arange(20)
    table.learn(rows, np.full(20, NOW + 5), rows % 3 == 0)
    before, sites = table.policy_state.state[:40].copy(), dict(table.changed_sites())
    more = [PageSummary(id=10_000 + i, url=f"http://new{i}.test/", host=f"new{i}.test") for i in range(5)]
    table.add(more, [None] * 5, NOW + 5)
    assert table.policy_state.state[:40].tobytes() == before.tobytes()
    table.learn(rows, np.full(20, NOW + 5), rows < 0)
    assert table.ready.tolist() == [True] * 40 + [False] * 5
    other = table_of(40)
    other.load_sites(sites)
    assert other.policy_state.site_state is not None
    kept = other.policy_state.site_state[other.policy_state.site[0]]
    assert kept["day"] == int(NOW + 5)
    other.load_sites({"h0.test": b"nonsense", "strange.test": sites["h0.test"]})


def test_a_page_takes_little_memory() -> None:
    """All columns of a page together take at most 256 bytes, those of the policy and of sources among them."""
    n = 4000
    table = table_of(n)
    table.policy_state.values(NOW + 1.0)
    parts = [table, table.policy_state, table.policy_state.announcements, table.policy_state._forecasts]
    arrays = {id(value): value for part in parts for value in _values(part) if isinstance(value, np.ndarray)}
    size = sum(array.nbytes for array in arrays.values() if len(array) >= n)
    assert size <= 256 * n, size / n


def _values(part: object) -> Iterator[object]:
    names = getattr(part, "__struct_fields__", None) or vars(part)
    return (getattr(part, name) for name in names)


def source(right: float, wrong: float, announced: float, silent: float, **more: Any) -> SignalSource:
    return SignalSource(
        id=9, url="http://h0.test/sitemap.xml", kind="sitemap-lastmod", right=right, wrong=wrong, announced=announced,
        silent=silent, **more,
    )  # fmt: skip


def test_what_a_good_source_says_counts_and_its_silence_too() -> None:
    """An announced page is worth more, a listed one without announcement less; a bad source has no effect."""
    values = {}
    for name, one in {
        "good": source(30, 0, 30, 1, read_at=(NOW + 3) * DAY_S),
        "liar": source(0, 300, 0, 300, read_at=(NOW + 3) * DAY_S),
    }.items():
        table = table_of(8)
        quiet = table.policy_state.values(NOW + 3.0).copy()
        said = [(row, Announcement(page_id=0, source_id=9, at=None, seen_at=0.0, news=int(row == 0))) for row in (0, 1)]
        table.policy_state.load_announcements([one], said)
        values[name] = table.policy_state.values(NOW + 3.0) / quiet
    assert values["good"][0] > 3
    assert values["good"][1] < 0.6
    assert values["good"][2:].tolist() == pytest.approx([1.0] * 6, rel=1e-3)
    assert values["liar"][0] < 1.5
    assert values["liar"][1] > 0.9


def test_a_list_is_worth_what_it_would_reveal() -> None:
    """A list is worth more the longer it was not read; without recall, or if all is announced, it is worth nothing."""
    table = table_of(8)
    said = [(row, Announcement(page_id=0, source_id=9, at=None, seen_at=0.0)) for row in range(8)]

    def worth(one: SignalSource, news: int, days: float) -> float:
        told = [(row, Announcement(page_id=0, source_id=9, at=None, seen_at=0.0, news=news)) for row, _ in said]
        table.policy_state.load_announcements([one], told)
        return table.policy_state.source_values(NOW + days, 0.01)[one.url]

    good = source(30, 0, 30, 1, read_at=NOW * DAY_S)
    assert 0 < worth(good, 0, 1.0) < worth(good, 0, 10.0)
    assert worth(source(30, 0, 0, 30, read_at=NOW * DAY_S), 0, 10.0) == pytest.approx(0.0, abs=1e-6)
    assert worth(good, 1, 10.0) == 0.0


@pytest.mark.parametrize("name", budgeted_names())
def test_the_crossing_is_where_the_value_passes_the_price(name: str) -> None:
    """Before the crossing a page is worth less than the price, after it more; a higher price is passed later."""
    table = table_of(8, name)
    rows = np.arange(8)
    table.learn(rows[:4], np.full(4, NOW + 2), np.array([True, True, False, False]))
    ones = np.ones(8, dtype=np.float32)
    price = float(table.policy.value(table.policy_state.state, rows, NOW + 9.0).mean())
    low, high = (crossing_days(table.policy_state, rows, NOW + 2, factor * price, ones) for factor in (0.5, 1.0))
    assert (low <= high).all()
    assert (low < high).any()
    if table.policy_state.siblings is None:
        for row in rows[np.isfinite(high)].tolist():
            before, after = (
                float(table.policy.value(table.policy_state.state, np.array([row]), NOW + 2 + high[row] * share)[0])
                for share in (0.8, 1.25)
            )
            assert before <= price * 1.001
            assert after >= price * 0.999


def test_overrides_become_columns() -> None:
    """Boosts apply in their time; a page's own limit precedes those of its tags."""
    policy = budgeted_policy("value", LIVE)
    table = PageTable(policy)
    pages = [
        PageSummary(id=1, url="http://a.test/1", host="a.test", tags=("news",)),
        PageSummary(id=2, url="http://a.test/2", host="a.test", tags=("news", "other")),
        PageSummary(id=3, url="http://a.test/3", host="a.test", weight=float("nan")),
    ]
    table.add(pages, [None] * 3, NOW)
    overrides = Overrides(
        boosts={"news": Boost(tag="news", factor=3.0, since=10.0, until=20.0)},
        pages={"http://a.test/2": IntervalLimit(kind="page", name="http://a.test/2", max_s=DAY_S)},
        tags={"news": IntervalLimit(kind="tag", name="news", min_s=2 * DAY_S)},
    )
    for now, factor in ((9.0, 1.0), (10.0, 3.0), (19.9, 3.0), (20.0, 1.0)):
        table.apply_overrides(overrides, LIMITS, {2: "http://a.test/2"}, now)
        assert table.factor.tolist() == [factor, factor, 1.0]
    assert table.min_days.tolist() == pytest.approx([2.0, 1 / 288, 1 / 288])
    assert table.max_days.tolist() == [180.0, 1.0, 180.0]
    assert table.weight.tolist() == [1.0, 1.0, 1.0]


def test_a_log_is_learned_as_if_it_had_been_lived() -> None:
    """The state computed from a log equals the state after the same visits one by one."""
    policy = budgeted_policy("value", LIVE)
    log = [(1, 10 * DAY_S, False), (1, 12 * DAY_S, True), (1, 20 * DAY_S, False), (2, 11 * DAY_S, False)]
    made = replayed(policy, log)
    lived = policy.start(1, 10.0)
    one = np.array([0])
    policy.learn(lived, one, np.array([2.0]), np.array([True]))
    policy.learn(lived, one, np.array([8.0]), np.array([False]))
    assert made == {1: lived[0].tobytes(), 2: policy.start(1, 11.0)[0].tobytes()}
    assert replayed(policy, []) == {}
