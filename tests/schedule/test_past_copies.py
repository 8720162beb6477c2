"""Learning from sightings of the past: order of time, what can be compared, sites, timers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from webstrata.clock import DAY_S
from webstrata.records import Page
from webstrata.schedule.next_visit import SeenPage
from webstrata.schedule.past_copies import (
    CHANGED,
    SAME,
    UNKNOWN,
    PastPages,
    PastSightings,
    joined_sightings,
    learn_sightings,
    timer_states,
)
from webstrata.schedule.policy import Bounds
from webstrata.schedule.policy_state import PolicyState
from webstrata.schedule.registry import budgeted_names, budgeted_policy, names, policy, policy_state
from webstrata.schedule.value_schedule import ValueSchedule

Row = tuple[int, float, int]


def sightings(rows: list[Row]) -> PastSightings:
    ordered = sorted(rows)
    return PastSightings(
        page=np.array([page for page, _, _ in ordered], dtype=np.intp),
        at=np.array([at for _, at, _ in ordered]),
        result=np.array([result for _, _, result in ordered], dtype=np.int8),
    )


def rows_of(past: PastSightings) -> list[Row]:
    return list(zip(past.page.tolist(), past.at.tolist(), past.result.tolist(), strict=True))


@pytest.mark.parametrize(
    ("copies", "visits", "expected"),
    [
        # Copies before the first visit, which is compared with the last of them.
        ([(0, 1, SAME), (0, 2, CHANGED)], [(0, 3, CHANGED)], [(0, 1, SAME), (0, 2, CHANGED), (0, 3, CHANGED)]),
        # A copy between two visits that says nothing new.
        ([(0, 2, SAME)], [(0, 1, SAME), (0, 3, CHANGED)], [(0, 1, SAME), (0, 3, CHANGED)]),
        # Copies that tell of a further change between two visits.
        (
            [(0, 2, SAME), (0, 3, CHANGED)],
            [(0, 1, SAME), (0, 4, CHANGED)],
            [(0, 1, SAME), (0, 2, UNKNOWN), (0, 3, CHANGED), (0, 4, UNKNOWN)],
        ),
        # The visit saw no change that counts: what the copies show does not count either.
        ([(0, 2, SAME), (0, 3, CHANGED)], [(0, 1, SAME), (0, 4, SAME)], [(0, 1, SAME), (0, 4, SAME)]),
        # Copies after the last visit wait for the next one.
        ([(0, 5, SAME), (0, 6, CHANGED)], [(0, 1, SAME), (0, 4, CHANGED)], [(0, 1, SAME), (0, 4, CHANGED)]),
        # Pages do not mix.
        (
            [(0, 1, SAME), (1, 2, SAME), (2, 1, SAME)],
            [(1, 1, SAME), (1, 3, SAME)],
            [(0, 1, SAME), (1, 1, SAME), (1, 3, SAME), (2, 1, SAME)],
        ),
        ([(0, 1, SAME)], [], [(0, 1, SAME)]),
        ([], [(0, 1, SAME), (0, 2, CHANGED)], [(0, 1, SAME), (0, 2, CHANGED)]),
        ([], [], []),
    ],
)
def test_copies_and_visits_in_one_order(copies: list[Row], visits: list[Row], expected: list[Row]) -> None:
    """Each visit is compared with the visit before it, and copies between two visits count if they add a change."""
    assert rows_of(joined_sightings(sightings(copies), sightings(visits))) == expected


@pytest.mark.parametrize("name", budgeted_names())
def test_sightings_teach_what_visits_teach(name: str) -> None:
    """The state after copies on different days is that of a table whose pages are visited on these days."""
    random = np.random.default_rng(5)
    rows = [(page, float(day), int(random.random() < 0.3)) for page in range(12) for day in range(page, 120, 1 + page)]
    site = np.arange(12) % 3
    learned, visited = (policy_state(name, site.astype(np.intp), now=-1.0) for _ in range(2))
    learn_sightings(learned, sightings(rows))
    if visited.site_state is not None:
        visited.site_state["day"] = [0, 1, 2]
    for day in range(120):
        today = np.array([page for page in range(12) if (day - page) % (1 + page) == 0 and day >= page], dtype=np.intp)
        begun = today[today == day]
        for page in begun.tolist():
            visited.state[page] = visited.policy.start(1, float(day))[0]
        visited.copied(begun, float(day))
        later = np.setdiff1d(today, begun)
        results = {(page, at): result for page, at, result in rows}
        if len(later):
            changed = np.array([results[int(page), float(day)] == CHANGED for page in later])
            visited.learn(later, float(day), changed)
    assert learned.state.tobytes() == visited.state.tobytes()
    assert (learned.age(130.0) == visited.age(130.0)).all()


def test_unknown_results_only_move_the_time() -> None:
    """A copy that cannot be compared changes no belief; the next comparison starts from it."""
    one, other = (policy_state("value", np.zeros(1, dtype=np.intp)) for _ in range(2))
    learn_sightings(one, sightings([(0, 0.0, SAME), (0, 50.0, UNKNOWN), (0, 60.0, CHANGED)]))
    learn_sightings(other, sightings([(0, 50.0, SAME), (0, 60.0, CHANGED)]))
    assert one.state["seen_at"].tolist() == [60.0]
    np.testing.assert_allclose(one.state["levels"], other.state["levels"], rtol=0.02)


def test_several_copies_on_a_day_are_learned_one_after_the_other() -> None:
    """Copies of one page within a day have their own times and results."""
    times = (0.0, 10.1, 10.4, 10.9)
    table = policy_state("value", np.zeros(1, dtype=np.intp))
    learn_sightings(table, sightings([(0, at, CHANGED) for at in times]))
    alone = table.policy.start(1, 0.0)
    for before, at in pairwise(times):
        table.policy.learn(alone, np.array([0]), np.array([at - before]), np.array([True]))
    assert table.state["seen_at"][0] == 10.9
    assert abs(table.state["levels"][0] - alone["levels"][0]).max() < 0.05  # site events explain a little


def test_days_before_the_first_copy_of_a_site_are_not_quiet() -> None:
    """A site of which copies begin later has counted no days before them."""
    table = policy_state("value", np.array([0, 1], dtype=np.intp))
    rows = [(page, float(day), SAME) for page, begin in ((0, 0), (1, 300)) for day in range(begin, 400, 2)]
    learn_sightings(table, sightings(rows))
    assert table.site_state is not None
    first, second = table.site_state["days"].tolist()
    assert first > 350
    assert second < 100


def test_pages_without_sightings_stay_as_they_are() -> None:
    """Only the rows of the sightings learn."""
    table = policy_state("value", np.zeros(3, dtype=np.intp))
    before = table.state.copy()
    learn_sightings(table, sightings([(1, 0.0, SAME), (1, 3.0, CHANGED)]))
    assert table.state[[0, 2]].tobytes() == before[[0, 2]].tobytes()
    learn_sightings(table, sightings([]))
    assert table.state[1].tobytes() != before[1].tobytes()


def test_a_timer_counts_copies_at_its_own_intervals() -> None:
    """Of daily copies a timer uses those that its own visits would have seen; a change in between counts for the next
    of them."""
    changes = {3, 16, 17}
    rows = [(0, float(day), CHANGED if day in changes else SAME) for day in range(60)]
    timer = policy("dyn", Bounds())
    alone, at = timer.start(1), 0
    row = np.array([0])
    while (due := at + int(np.ceil(timer.interval(alone, row)[0]))) < 60:
        has_changed = any(at < day <= due for day in changes)
        timer.learn(alone, row, np.array([float(due - at)]), np.array([has_changed]))
        at = due
    states = timer_states(timer, sightings(rows), 2)
    assert states[:1].tobytes() == alone.tobytes()
    assert states[1:].tobytes() == timer.start(1).tobytes()


@pytest.mark.parametrize("name", names())
def test_every_timer_learns(name: str) -> None:
    """Each built-in timer takes irregular copies; its intervals stay within the bounds."""
    random = np.random.default_rng(3)
    rows = [
        (page, float(at), int(random.choice([SAME, CHANGED, UNKNOWN])))
        for page in range(20)
        for at in np.cumsum(random.exponential(9.0, 30))
    ]
    timer = policy(name, Bounds())
    days = timer.interval(timer_states(timer, sightings(rows), 20), np.arange(20))
    assert ((days >= 1.0) & (days <= 180.0)).all()


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 4), st.integers(0, 900), st.sampled_from([SAME, CHANGED, UNKNOWN])), max_size=60),
    st.lists(st.tuples(st.integers(0, 4), st.integers(0, 900), st.sampled_from([SAME, CHANGED])), max_size=30),
)
def test_any_history_gives_beliefs(copies: list[tuple[int, int, int]], visits: list[tuple[int, int, int]]) -> None:
    """Whatever the times, beliefs are distributions, all visits are kept, and each page ends at its last sighting."""
    own = sightings([(p, at / 7, r) for (p, at), r in {(p, at): r for p, at, r in visits}.items()])
    seen = sightings([(p, at / 11 + 1e-3, r) for (p, at), r in {(p, at): r for p, at, r in copies}.items()])
    past = joined_sightings(seen, own)
    assert set(zip(own.page, own.at, strict=True)) <= set(zip(past.page, past.at, strict=True))
    table = PolicyState(policy_state("value", np.zeros(1, dtype=np.intp)).policy, np.array([0, 0, 1, 1, 2]), now=500.0)
    learn_sightings(table, past)
    np.testing.assert_allclose(table.state["levels"].sum(axis=1), 1.0, rtol=1e-4)
    for page in set(past.page.tolist()):
        assert table.state["seen_at"][page] == pytest.approx(past.at[past.page == page].max())


def guess(features: Sequence[Mapping[str, float]]) -> np.ndarray:
    """Pages with many links are on the fifth level, others on the second."""
    levels = np.zeros((len(features), 13), dtype=np.float32)
    levels[np.arange(len(features)), [5 if page.get("links", 0) > 9 else 2 for page in features]] = 1.0
    return levels


def levels_of(schedule: ValueSchedule, packed: bytes) -> list[float]:
    levels: list[float] = np.frombuffer(packed, dtype=schedule.policy.dtype)["levels"][0].tolist()
    return levels


def test_a_first_content_says_where_the_belief_begins() -> None:
    """What the first sight of a page tells is where its belief begins, at a first visit and with a first copy; other
    pages of its site count too."""
    schedule = ValueSchedule(budgeted_policy("value"))
    schedule.first_sight = guess
    past = PastPages(sightings=sightings([(0, 5.0, SAME)]), hosts=["a.test"], features=[{"links": 10.0}])
    packed, _ = schedule.learn_past(past, 9 * DAY_S)
    assert levels_of(schedule, packed[0])[5] == 1.0

    def visit(number: int, links: float) -> list[float]:
        page = Page(id=number, url=f"http://a.test/{number}", host="a.test")
        seen = SeenPage(page=page, at=10 * DAY_S, changed=False, features={"links": links})
        (after,) = schedule.after_seen([seen])
        return levels_of(schedule, after.policy_state)

    assert visit(1, 20.0)[5] == 1.0
    second = visit(2, 3.0)
    assert (second[2], second[5]) == (0.5, 0.5)


def test_without_a_guess_a_belief_begins_as_that_of_any_page() -> None:
    """Features do not matter if nothing was trained."""
    schedule = ValueSchedule(budgeted_policy("value"))
    past = PastPages(sightings=sightings([(0, 5.0, SAME)]), hosts=["a.test"], features=[{"links": 10.0}])
    packed, events = schedule.learn_past(past, 9 * DAY_S)
    assert levels_of(schedule, packed[0]) == schedule.policy.start(1)["levels"][0].tolist()
    assert [host for host, _ in events] == ["a.test"]
    assert not schedule.uses_features
