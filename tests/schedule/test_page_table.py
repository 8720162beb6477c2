"""Pages in memory: found by their ids, small, with overrides as columns."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from msgspec.structs import replace

from tests.schedule.tables import LIMITS, LIVE, NOW, summaries, table_of
from webstrata.clock import DAY_S
from webstrata.records import Boost, IntervalLimit, PageSummary
from webstrata.schedule.announcements import SourceTable
from webstrata.schedule.overrides import Overrides
from webstrata.schedule.page_table import PageTable, replayed
from webstrata.schedule.registry import budgeted_policy


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
    other.policy_state.signals(rows, NOW + 5)
    other.load_sites(sites)
    assert other.policy_state.site_state is not None
    kept = other.policy_state.site_state[other.policy_state.site[0]]
    assert kept["day"] == int(NOW + 5)
    other.load_sites({"h0.test": b"nonsense", "strange.test": sites["h0.test"]})


def test_a_page_takes_little_memory() -> None:
    """All columns of a page together take at most 256 bytes, those of the policy and of sources among them."""
    n = 4000
    table = table_of(n)
    table.policy_state.lists = SourceTable(np.full(n, -1, dtype=np.intp), now=NOW)
    table.policy_state.values(NOW + 1.0)
    parts = [table, table.policy_state, table.policy_state.lists, table.policy_state._forecasts]
    arrays = {id(value): value for part in parts for value in _values(part) if isinstance(value, np.ndarray)}
    size = sum(array.nbytes for array in arrays.values() if len(array) >= n)
    assert size <= 256 * n, size / n


def _values(part: object) -> Iterator[object]:
    names = getattr(part, "__struct_fields__", None) or vars(part)
    return (getattr(part, name) for name in names)


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


def test_a_clock_that_was_ahead_leaves_no_trace_in_memory() -> None:
    """A page is as old as the store says, not as its packed state says; events of days to come are not restored."""
    ahead = table_of(3)
    rows = np.arange(3)
    ahead.learn(rows, np.full(3, NOW + 40), rows < 0)
    states: list[bytes | None] = [state.tobytes() for state in ahead.policy_state.state]
    table = PageTable(ahead.policy)
    table.add([replace(one, last_seen_at=(NOW - 2) * DAY_S) for one in summaries(3)], states, NOW)
    assert table.policy_state.age(NOW) == pytest.approx([2.0] * 3)
    table.load_sites(dict(ahead.changed_sites()))
    assert table.policy_state.site_state is not None
    assert table.policy_state.site_state["day"].tolist() == [int(NOW)] * len(table.policy_state.site_state)


def test_a_log_with_times_out_of_order_is_learned() -> None:
    """After a step back, visits lie between earlier ones; no interval is negative."""
    policy = budgeted_policy("value", LIVE)
    log = [(1, at * DAY_S, at == 12.0) for at in (10.0, 12.0, 12.0, 11.0, 13.0)]
    state = np.frombuffer(replayed(policy, log)[1], dtype=policy.dtype)
    assert np.isfinite(state["seen_at"]).all()
    assert float(policy.age(state, np.zeros(1, dtype=np.intp), 13.0)[0]) >= 0.0
