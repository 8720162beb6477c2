"""Reservations from budgets that several processes share: the stored state decides, not the one in memory."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from copy import deepcopy

from msgspec import Struct
from msgspec.structs import replace

from webstrata.records import BudgetState, Page
from webstrata.schedule.budget import BudgetAccount


class StoredBudgets(Struct, frozen=True, kw_only=True):
    """The budgets in the store, and what this process knows about them."""

    states: Mapping[str, BudgetState]
    own: Mapping[str, float]
    """The unspent rest of this process's reservations."""
    written: Mapping[str, BudgetState]
    """The states that this process wrote last. Where the store still has them, the accounts in memory are exact."""
    now: float


class Reservation(Struct, frozen=True, kw_only=True):
    """The pages whose visits are paid for, the accounts afterwards, and the amounts that are reserved."""

    pages: list[Page]
    accounts: dict[str, BudgetAccount]
    amounts: dict[str, float]


def resumed(accounts: Mapping[str, BudgetAccount], stored: StoredBudgets) -> dict[str, BudgetAccount]:
    """The accounts as they are in the store: copies of those that another process changed, the others themselves."""
    current = dict(accounts)
    for name, account in accounts.items():
        state = stored.states.get(name)
        if state is not None and state != stored.written.get(name):
            current[name] = deepcopy(account)
            current[name].resume(replace(state, credit=state.credit + stored.own.get(name, 0.0)), stored.now)
    return current


def reserve(
    accounts: Mapping[str, BudgetAccount],
    stored: StoredBudgets,
    pages: Sequence[Page],
    *,
    names: Callable[[Page], Sequence[str]],
    room: Callable[[BudgetAccount], int],
    visit_bytes: Callable[[Page], int],
    required: Collection[int] = (),
) -> Reservation:
    """Reserve visits of as many of the pages as the budgets pay for, in their order; of `required` pages in any case.

    `accounts` are not changed. `names` gives the budgets of a page, `room` the visits that an account pays for now,
    `visit_bytes` the expected size of a visit.
    """
    current = resumed(accounts, stored)
    # Accounts that no other process changed have enough room: the pages were chosen by it.
    changed = {name for name, account in accounts.items() if current[name] is not account}
    current = deepcopy(current)
    left = {name: room(current[name]) for name in changed} if pages else {}
    paid: list[Page] = []
    amounts = dict.fromkeys(current, 0.0)
    for page in pages:
        budgets = names(page)
        if page.id not in required and any(left.get(name, 1) < 1 for name in budgets):
            continue
        paid.append(page)
        size = visit_bytes(page)
        for name in budgets:
            current[name].spend(1, size)
            amounts[name] += current[name].cost(1, size)
            if name in left:
                left[name] -= 1
    return Reservation(pages=paid, accounts=current, amounts=amounts)
