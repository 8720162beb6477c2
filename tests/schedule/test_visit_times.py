"""Rhythms, windows and snoozes of pages."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from webstrata.clock import parse_instant
from webstrata.records import Page
from webstrata.schedule.next_visit import NextVisit
from webstrata.schedule.visit_times import allowed_at, rhythm_at, shown_next_at, with_visit_times

NOON = parse_instant("2026-11-13T12:00:00Z")  # a Friday
HOUR_S = 3600.0
WORK = "Mon-Fri 9-17 UTC"


def page(**fields: object) -> Page:
    return Page(id=1, url="http://a.example/", host="a.example", added_at=NOON - 100 * HOUR_S, **fields)  # type: ignore[arg-type]


def next_visit(at: float) -> NextVisit:
    return NextVisit(next_at=at, interval_s=60.0, policy="p", policy_state=b"", reason="because")


@given(st.floats(60, 1e7), st.floats(0, 1e9), st.floats(0, 1e8))
def test_the_rhythm_is_a_grid(every_s: float, added_at: float, later_s: float) -> None:
    """The next visit is on the grid, between half an interval and one and a half intervals after the last."""
    visited_at = added_at + later_s
    found = rhythm_at(added_at, every_s, visited_at)
    steps = (found - added_at) / every_s
    assert abs(steps - round(steps)) < 1e-6
    assert 0.5 - 1e-6 <= (found - visited_at) / every_s <= 1.5 + 1e-6


def test_late_visits_do_not_shift_the_rhythm() -> None:
    """Visits that are a few minutes late, or made on request, keep the times of the following ones."""
    at = 1000.0
    for late_s in (30.0, 600.0, 0.0, 7000.0, 1.0):
        at = rhythm_at(1000.0, 6 * HOUR_S, at + late_s)
    assert at == 1000.0 + 5 * 6 * HOUR_S
    assert rhythm_at(1000.0, 6 * HOUR_S, at - 5 * HOUR_S) == at


def test_allowed_times() -> None:
    """Windows and snoozes move a visit to the first time at which both allow it."""
    saturday, monday_9 = NOON + 24 * HOUR_S, parse_instant("2026-11-16T09:00:00Z")
    assert allowed_at(page(), NOON) == NOON
    assert allowed_at(page(windows=WORK), NOON) == NOON
    assert allowed_at(page(windows=WORK), saturday) == monday_9
    assert allowed_at(page(snoozed_until=saturday), NOON) == saturday
    assert allowed_at(page(snoozed_until=saturday), saturday + 1) == saturday + 1
    assert allowed_at(page(snoozed_until=saturday, windows=WORK), NOON) == monday_9
    assert allowed_at(page(windows="Mon 9-17 Nowhere/Else"), saturday) == saturday, "an unknown zone is no obstacle"


def test_shown_times() -> None:
    """A due page that may not be visited now shows when it may be; one that may shows since when it is due."""
    saturday, monday_9 = NOON + 24 * HOUR_S, parse_instant("2026-11-16T09:00:00Z")
    assert shown_next_at(page(next_at=saturday, windows=WORK), NOON) == monday_9
    assert shown_next_at(page(next_at=NOON - 5, windows=WORK), saturday) == monday_9
    assert shown_next_at(page(next_at=NOON - 5, windows=WORK), NOON) == NOON - 5
    assert shown_next_at(page(next_at=NOON + 5), NOON) == NOON + 5
    assert shown_next_at(page(windows=WORK), NOON) is None


def test_the_next_visit_after_a_visit() -> None:
    """A rhythm replaces the interval of the policy; a retry keeps its time; both wait for the window."""
    late = NOON + 6 * HOUR_S
    plain = next_visit(late)
    assert with_visit_times(page(), NOON, plain, failed=False) is plain
    fixed = with_visit_times(page(every_s=2 * HOUR_S), NOON, plain, failed=False)
    assert (fixed.next_at, fixed.interval_s, fixed.reason) == (NOON + 2 * HOUR_S, 2 * HOUR_S, "fixed rhythm: every 2h")
    assert with_visit_times(page(every_s=2 * HOUR_S), NOON, plain, failed=True) is plain
    moved = with_visit_times(page(windows=WORK), NOON, plain, failed=True)
    assert moved.next_at == parse_instant("2026-11-16T09:00:00Z")
    assert moved.reason == "because; moved to the next window (Mon-Fri 9-17 UTC)"
    snoozed = with_visit_times(page(snoozed_until=late + 5), NOON, plain, failed=False)
    assert (snoozed.next_at, snoozed.reason) == (late + 5, "because; moved to the end of its snooze")
