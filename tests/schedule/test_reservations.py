"""Reservations: by the account in memory if no other process changed it, else by the stored state."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from webstrata.clock import DAY_S
from webstrata.records import BudgetState, Page, PageRole, PageState
from webstrata.schedule.budget import BudgetAccount, DailyRate
from webstrata.schedule.reservations import Reservation, StoredBudgets, reserve, resumed

PAGES = [
    Page(
        id=n, url=f"http://a.test/{n}", host="a.test", weight=1.0, tags=(), role=PageRole.PAGE, state=PageState.ACTIVE,
        added_at=0.0,
    )
    for n in range(5)
]  # fmt: skip


def account(credit: float, unit: str = "visits") -> BudgetAccount:
    state = BudgetState(name="all", price=0.5, credit=credit, at=DAY_S)
    rate = DailyRate(amount=10.0, unit="bytes" if unit == "bytes" else "visits")
    return BudgetAccount("all", rate, saved_days=1.0, now=DAY_S, state=state)


def reserved(
    given: BudgetAccount, stored: BudgetState | None, own: float, written: BudgetState | None, required: Sequence[int]
) -> Reservation:
    budgets = StoredBudgets(
        states={} if stored is None else {"all": stored},
        own={"all": own},
        written={} if written is None else {"all": written},
        now=DAY_S,
    )
    return reserve(
        {"all": given},
        budgets,
        PAGES,
        names=lambda page: ["all"],
        room=lambda account: account.room(DAY_S, 0, 2.0),
        visit_bytes=lambda page: 2,
        required=required,
    )


def state(credit: float) -> BudgetState:
    return BudgetState(name="all", price=0.25, credit=credit, at=DAY_S)


@pytest.mark.parametrize(
    ("stored", "own", "written", "required", "ids", "left"),
    [
        # no other process changed it, or nothing is stored yet: all pages are paid for
        (None, 0.0, None, (), [0, 1, 2, 3, 4], 4.0),
        (3.0, 7.0, 3.0, (), [0, 1, 2, 3, 4], 4.0),
        # another process changed it: the stored credit and the rest of the own reservation pay
        (2.0, 0.0, 3.0, (), [0, 1], 0.0),
        (2.0, 1.0, 3.0, (), [0, 1, 2], 0.0),
        (-1.0, 0.0, None, (), [], -1.0),
        # required pages are paid for in any case
        (0.0, 0.0, 3.0, (3,), [3], -1.0),
    ],
)
def test_reserved_pages(
    stored: float | None, own: float, written: float | None, required: tuple[int, ...], ids: list[int], left: float
) -> None:
    """As many pages as the budget pays for, in order; the given account is not changed."""
    given = account(9.0)
    done = reserved(
        given, None if stored is None else state(stored), own, None if written is None else state(written), required
    )

    assert [page.id for page in done.pages] == ids
    assert done.accounts["all"].credit == left
    assert done.amounts == {"all": float(len(ids))}
    assert given.credit == 9.0


def test_bytes() -> None:
    """A budget of bytes reserves the average size of visits."""
    assert reserved(account(100.0, "bytes"), None, 0.0, None, ()).amounts == {"all": 10.0}


def test_only_changed_accounts_are_resumed() -> None:
    """An account whose stored state is the one written last stays the same object."""
    one = account(9.0)
    same = StoredBudgets(states={"all": state(1.0)}, own={}, written={"all": state(1.0)}, now=DAY_S)
    other = StoredBudgets(states={"all": state(1.0)}, own={"all": 0.5}, written={"all": state(2.0)}, now=DAY_S)

    assert resumed({"all": one}, same)["all"] is one
    assert (resumed({"all": one}, other)["all"].credit, resumed({"all": one}, other)["all"].price) == (1.5, 0.25)
