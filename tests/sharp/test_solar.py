"""SOLAR, Hottest-middle and the trees that pages are found by."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from webstrata.errors import UsageError
from webstrata.sharp.solar import breadth_first
from webstrata.sharp.solar import hottest_middle
from webstrata.sharp.link_tree import link_tree, paper_tree, read_tree
from webstrata.sharp.rates import checked_ids
from webstrata.sharp.schedule import (
    SharpSchedule,
    checked_tau,
    expected_sharp,
    interval_of,
    lengths_of,
    rates_of,
    whole_lengths_of,
)
from webstrata.sharp.solar import shrink, solar_offline, solar_online
from webstrata.sharp.survival import believed

LENGTHS = st.lists(st.integers(0, 60), min_size=1, max_size=40)


@settings(max_examples=80, deadline=None)
@given(LENGTHS)
def test_hopeful_pages_fit_their_lengths(lengths: list[int]) -> None:
    """A hopeful page's visit and revisit are no further apart than its length, but for the one in the middle."""
    schedule = solar_offline(lengths)
    for page, (visit, revisit) in enumerate(zip(schedule.visits, schedule.revisits, strict=True)):
        assert page in schedule.hopeless or visit + revisit <= lengths[page] or visit == revisit == 0


@settings(max_examples=80, deadline=None)
@given(LENGTHS)
def test_shrinking_keeps_order(lengths: list[int]) -> None:
    """Shrinking leaves hopeful pages in their order on both sides, and none of them further out."""
    before = solar_offline(lengths)
    after = shrink(before)
    hopeful = [page for page in range(len(lengths)) if page not in before.hopeless]
    for old, new in ((before.visits, after.visits), (before.revisits, after.revisits)):
        assert sorted(hopeful, key=lambda page: old[page]) == sorted(hopeful, key=lambda page: new[page])
        assert all(new[page] <= old[page] for page in hopeful)


@settings(max_examples=60, deadline=None)
@given(LENGTHS, st.data())
def test_online_visits_only_what_is_found(lengths: list[int], data: st.DataObject) -> None:
    """On any tree every page is visited after the page that it is found on."""
    parents = [data.draw(st.integers(0, page - 1)) for page in range(1, len(lengths))]
    links: dict[int, list[int]] = {}
    for page, parent in enumerate(parents, start=1):
        links.setdefault(parent, []).append(page)
    schedule = solar_online(lengths, link_tree(links, len(lengths)))
    assert all(schedule.visits[parent] > schedule.visits[page] for page, parent in enumerate(parents, start=1))


def test_the_papers_tree() -> None:
    """20 pages on the first, 10 on each of the next 98, the last of them at depth 3; none lost, none twice."""
    tree = paper_tree()
    assert [len(tree.children[page]) for page in (0, 1, 98, 99)] == [20, 10, 9, 0]
    assert sorted(breadth_first(tree).tolist()) == list(range(1000))
    assert max(tree.depths()) == 3


@pytest.mark.parametrize(
    ("text", "count", "says"),
    [
        ("0->1;1->0", 2, "ring"),
        ("0->1;2->3;3->2", 4, "ring"),
        ("0->1;2->1", 3, "found on page 0 and on page 2"),
        ("0->1,1", 2, "found on page 0 and on page 0"),
        ("0->0", 1, "ring"),
        ("0->7", 3, "page 7 is not one of the 3 pages"),
        ("0-1", 2, "write links as"),
        ("a->b", 2, "write links as"),
    ],
)
def test_bad_trees(text: str, count: int, says: str) -> None:
    """Rings, pages found twice or unknown, and what is no tree at all are refused in words."""
    with pytest.raises(UsageError, match=says):
        read_tree(text, count)


def test_a_seed_is_not_found() -> None:
    """A page is a seed or found on another, not both; a tree must be of the site's pages."""
    with pytest.raises(UsageError, match="seed"):
        link_tree({0: [1]}, 2, seeds=[0, 1])
    with pytest.raises(UsageError, match="same pages"):
        solar_online([1, 2, 3], link_tree({0: [1]}, 2))


@pytest.mark.parametrize("lengths", [[], [float("nan")], [-1], ["x"]])
def test_bad_lengths(lengths: list[float]) -> None:
    """What is no length is refused."""
    with pytest.raises(UsageError):
        solar_offline(lengths)


def test_no_rate_has_length_zero() -> None:
    """A length of 0 has no finite rate; a rate of 0 has an endless length and is always hopeful."""
    with pytest.raises(UsageError, match="length 0"):
        rates_of([1, 0])
    assert lengths_of([0.0])[0] == float("inf")
    assert solar_offline(lengths_of([0.0, 1.0, 0.0])).hopeless == ()


@pytest.mark.parametrize("shape", [None, 0.2, 3.0])
def test_interval_of_a_belief(shape: float | None) -> None:
    """Over its confidence interval a page stays unchanged with probability tau, however little is known of its rate."""
    for tau in (0.3, 0.7, 0.9):
        survival = believed([0.01], [np.inf if shape is None else shape])
        over = np.array([interval_of(0.01, shape, tau)])
        assert survival.unchanged(np.arange(1), over)[0] == pytest.approx(tau)
    assert interval_of(0.0, shape, 0.9) == np.inf
    assert interval_of(0.01, 1e-4, 0.5) == np.inf, "it hardly ever changes, but nobody knows"


@pytest.mark.parametrize("tau", [0.0, 1.0, -1.0, float("nan")])
def test_bad_tau(tau: float) -> None:
    """A confidence lies between 0 and 1."""
    with pytest.raises(UsageError, match="between 0 and 1"):
        checked_tau(tau)


def test_confidence_intervals() -> None:
    """I = ln(1/tau) / rate: the page is unchanged over it with probability tau."""
    rates = [0.5, 0.01]
    for tau in (0.7, 0.9):
        assert rates_of(lengths_of(rates, tau), tau) == pytest.approx(rates)
    assert whole_lengths_of([0.5])[0] == 0.0


def test_schedules_are_checked() -> None:
    """Two pages in one slot, or rates for other pages, are no schedule."""
    with pytest.raises(UsageError, match="every slot"):
        SharpSchedule(hottest_middle([1, 2]).visits * 0, hottest_middle([1, 2]).visits)
    with pytest.raises(UsageError, match="3 rates"):
        expected_sharp(hottest_middle([1, 2]), [1, 2, 3])
    with pytest.raises(UsageError, match="twice"):
        checked_ids(["a", "b", "a"])
