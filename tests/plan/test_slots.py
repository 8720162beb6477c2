"""Moving visits between slots."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from webstrata.plan.slots import PlannedVisits, SlotCapacity, fit, moments

HOUR = 3600.0


def _visits(*rows: tuple[float, int, float, float]) -> PlannedVisits:
    """(hours, host, days between visits, weight)."""
    columns = np.array(rows, dtype=np.float64).reshape(-1, 4)
    return PlannedVisits(
        at=columns[:, 0] * HOUR,
        host=columns[:, 1].astype(np.intp),
        interval_s=columns[:, 2] * 86_400,
        weight=columns[:, 3],
    )


def _room(by_host: list[int], in_all: int = 10**6, slots: int = 3, start: float = 0.0) -> SlotCapacity:
    bounds = [start, *(float(n + 1) for n in range(slots))]
    return SlotCapacity(bounds=np.array(bounds) * HOUR, by_host=np.array(by_host), in_all=in_all, slot_s=HOUR)


CASES = [
    ("what fits stays", [(0.5, 0, 1, 1), (1.5, 0, 1, 1)], [1], 9, [0, 1]),
    ("what is too much goes on", [(0.5, 0, 1, 1)] * 3, [2], 9, [1, 0, 0]),
    ("into the slot before, where that is nearer", [(1.1, 0, 1, 1), (1.2, 0, 1, 1)], [1], 9, [0, 1]),
    ("weights stay", [(0.5, 0, 1, 5), (0.5, 0, 1, 1)], [1], 9, [0, 1]),
    ("rare visits move first", [(0.5, 0, 1, 1), (0.5, 0, 30, 1)], [1], 9, [0, 1]),
    ("overdue visits stay", [(-20, 0, 1, 1), (0.5, 0, 1, 1)], [1], 9, [0, 1]),
    ("too much goes on and on", [(0.5, 0, 1, 1)] * 5, [1], 9, [1, 2, 3, 3, 0]),
    ("other hosts are not touched", [(0.5, 0, 1, 1), (0.5, 0, 1, 1), (0.5, 1, 1, 1)], [1, 9], 9, [1, 0, 0]),
    ("all together may be too many", [(0.5, 0, 1, 1), (0.6, 1, 1, 1), (0.7, 2, 1, 1)], [9, 9, 9], 2, [0, 0, 1]),
    ("no number is no weight", [(0.5, 0, 1, 1), (0.5, 0, 1, math.nan)], [1], 9, [0, 1]),
    ("nothing", [], [1], 9, []),
]


@pytest.mark.parametrize(
    ("rows", "by_host", "in_all", "slots"), [case[1:] for case in CASES], ids=[case[0] for case in CASES]
)
def test_least_harm_first(
    rows: list[tuple[float, int, float, float]], by_host: list[int], in_all: int, slots: list[int]
) -> None:
    """Each slot keeps as many visits as fit; the visits with the least cost are moved."""
    found = fit(_visits(*rows), _room(by_host, in_all)).tolist()

    if rows and len(set(rows)) == 1:
        assert sorted(found) == sorted(slots)
    else:
        assert found == slots


def test_moved_visits_stand_a_gap_apart() -> None:
    """Visits moved later are at the start of their slot, visits moved earlier at its end; others keep their times."""
    visits = _visits(*[(0.5, 0, 1, 1)] * 4)
    room = _room([2])
    slot = fit(visits, room)

    at = np.sort(moments(visits, room, slot, [10.0]))

    assert at.tolist() == [1800, 1800, 3600, 3610]
    early = _visits((1.1, 0, 1, 1), (1.2, 0, 1, 1))
    room = _room([1])
    assert moments(early, room, fit(early, room), [10.0]).tolist() == [pytest.approx(3590), pytest.approx(1.2 * HOUR)]


def test_a_slot_that_has_begun_takes_less() -> None:
    """A slot with a quarter of its time left has a quarter of the capacity, and at least one visit."""
    visits = _visits(*[(0.8, 0, 1, 1)] * 8)

    assert (fit(visits, _room([8], start=0.75)) == 0).sum() == 2
    assert (fit(visits, _room([2], start=0.75)) == 0).sum() == 1


_ROWS = st.lists(st.tuples(st.floats(-5, 3.9), st.integers(0, 3), st.floats(0.01, 100), st.floats(0, 10)), max_size=40)


@given(_ROWS, st.lists(st.integers(1, 6), min_size=4, max_size=4), st.integers(1, 20))
def test_no_slot_is_overfull(rows: list[tuple[float, int, float, float]], by_host: list[int], in_all: int) -> None:
    """No slot exceeds the capacity of hosts and threads; nothing is moved if all visits fit."""
    visits, room = _visits(*rows), _room(by_host, in_all)

    slot = fit(visits, room)

    for n in range(room.slots):
        counts = np.bincount(visits.host[slot == n], minlength=4)
        assert np.all(counts <= room.by_host)
        assert counts.sum() <= in_all
    roomy = _room([100] * 4, 100)
    assert np.array_equal(moments(visits, roomy, fit(visits, roomy), [1.0] * 4), visits.at)
