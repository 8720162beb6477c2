"""Payments from budgets: by memory where nobody else was, else by how the budgets stand."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from webstrata.clock import DAY_S
from webstrata.records import BudgetState, Page, PageRole, PageState
from webstrata.schedule.budget import BudgetAccount, DailyRate
from webstrata.schedule.reservations import BudgetPositions, Payment, payment, resumed

PAGES = [
    Page(
        id=n, url=f"http://a.test/{n}", host="a.test", weight=1.0, tags=(), role=PageRole.PAGE, state=PageState.ACTIVE,
        added_at=0.0,
    )
    for n in range(5)
]  # fmt: skip


def purse(credit: float, unit: str = "visits") -> BudgetAccount:
    state = BudgetState(name="all", price=0.5, credit=credit, at=DAY_S)
    rate = DailyRate(amount=10.0, unit="bytes" if unit == "bytes" else "visits")
    return BudgetAccount("all", rate, saved_days=1.0, now=DAY_S, state=state)


def paid(
    one: BudgetAccount, stands: BudgetState | None, own: float, written: BudgetState | None, wanted: Sequence[int]
) -> Payment:
    standing = BudgetPositions(
        stands={} if stands is None else {"all": stands},
        own={"all": own},
        written={} if written is None else {"all": written},
        now=DAY_S,
    )
    return payment(
        {"all": one},
        standing,
        PAGES,
        names=lambda page: ["all"],
        room=lambda one: one.room(DAY_S, 0, 2.0),
        visit_bytes=2,
        wanted=wanted,
    )


def state(credit: float) -> BudgetState:
    return BudgetState(name="all", price=0.25, credit=credit, at=DAY_S)


@pytest.mark.parametrize(
    ("stands", "own", "written", "wanted", "ids", "left"),
    [
        # nobody was there, or nothing is kept yet: what memory says, all are paid
        (None, 0.0, None, (), [0, 1, 2, 3, 4], 4.0),
        (3.0, 7.0, 3.0, (), [0, 1, 2, 3, 4], 4.0),
        # somebody was: as far as it goes, with what is left of the own portion
        (2.0, 0.0, 3.0, (), [0, 1], 0.0),
        (2.0, 1.0, 3.0, (), [0, 1, 2], 0.0),
        (-1.0, 0.0, None, (), [], -1.0),
        # wanted in any case, and owed
        (0.0, 0.0, 3.0, (3,), [3], -1.0),
    ],
)
def test_what_is_paid_for(
    stands: float | None, own: float, written: float | None, wanted: tuple[int, ...], ids: list[int], left: float
) -> None:
    """As many pages as there is budget for, in order; the purse that was given stays as it is."""
    given = purse(9.0)
    done = paid(
        given, None if stands is None else state(stands), own, None if written is None else state(written), wanted
    )

    assert [page.id for page in done.paid] == ids
    assert done.purses["all"].credit == left
    assert done.taken == {"all": float(len(ids))}
    assert given.credit == 9.0


def test_bytes_are_taken_in_bytes() -> None:
    """A budget of bytes gives a portion of bytes: what visits cost lately."""
    assert paid(purse(100.0, "bytes"), None, 0.0, None, ()).taken == {"all": 10.0}


def test_only_what_others_changed_is_read_anew() -> None:
    """A purse that the store shows as it was written is the same object still, to the last bit."""
    one = purse(9.0)
    same = BudgetPositions(stands={"all": state(1.0)}, own={}, written={"all": state(1.0)}, now=DAY_S)
    other = BudgetPositions(stands={"all": state(1.0)}, own={"all": 0.5}, written={"all": state(2.0)}, now=DAY_S)

    assert resumed({"all": one}, same)["all"] is one
    assert (resumed({"all": one}, other)["all"].credit, resumed({"all": one}, other)["all"].price) == (1.5, 0.25)
