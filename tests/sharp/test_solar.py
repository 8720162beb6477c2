"""Properties of the SOLAR schedules."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from webstrata.errors import UsageError
from webstrata.sharp.link_tree import link_tree
from webstrata.sharp.solar import shrink, solar_offline, solar_online

LENGTHS = st.lists(st.integers(0, 60), min_size=1, max_size=40)


@settings(max_examples=80, deadline=None)
@given(LENGTHS)
def test_hopeful_pages_fit_their_lengths(lengths: list[int]) -> None:
    """The span of a page that is not hopeless is at most its length, except for the page at the instant."""
    schedule = solar_offline(lengths)
    for page, (visit, revisit) in enumerate(zip(schedule.visits, schedule.revisits, strict=True)):
        assert page in schedule.hopeless or visit + revisit <= lengths[page] or visit == revisit == 0


@settings(max_examples=80, deadline=None)
@given(LENGTHS)
def test_shrinking_keeps_order(lengths: list[int]) -> None:
    """Shrinking keeps the order of hopeful pages on both sides and moves none of them outwards."""
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


@pytest.mark.parametrize("lengths", [[], [float("nan")], [-1], ["x"]])
def test_bad_lengths(lengths: list[float]) -> None:
    """Invalid lengths raise an error."""
    with pytest.raises(UsageError):
        solar_offline(lengths)
