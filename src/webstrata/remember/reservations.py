"""Budget state and reservations that several processes share.

`budgets` holds what any process may reserve; a row of `reservations` belongs to one owner until it is spent or expires.
A visit is paid in the transaction that logs it, so a crash returns exactly the unspent amount.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec.structs import asdict, replace
from sqlalchemy import Connection, bindparam, delete, select, update

from webstrata.ports import ReservationPlan
from webstrata.records import BudgetState
from webstrata.remember import statements
from webstrata.remember.tables import budgets, reservations

# A row lock is not enough: the first process to reserve finds no row.
_LOCK = "LOCK TABLE budgets IN SHARE ROW EXCLUSIVE MODE"

_PAY_FROM_RESERVATION = (
    update(reservations)
    .where(reservations.c.owner == bindparam("payer"), reservations.c.name == bindparam("budget"))
    .values(amount=reservations.c.amount - bindparam("cost"))
)
_PAY_FROM_BUDGET = (
    update(budgets).where(budgets.c.name == bindparam("budget")).values(credit=budgets.c.credit - bindparam("cost"))
)
_ALL = select(reservations.c.owner, reservations.c.name, reservations.c.amount, reservations.c.until)


def reserved(connection: Connection, owner: str, now: float) -> tuple[dict[str, BudgetState], dict[str, float]]:
    """The budget states, including expired reservations of other owners, and the owner's unspent reservations."""
    states = {state.name: state for state in budget_states(connection)}
    own, expired = _reservations(connection, owner, now)
    return {**states, **_returned(states, expired)}, own


def reserve(connection: Connection, owner: str, now: float, until: float, plan: ReservationPlan) -> None:
    """See `ports.BudgetStore.reserve`."""
    if connection.dialect.name == "postgresql":
        connection.exec_driver_sql(_LOCK)
    before = {state.name: state for state in budget_states(connection)}
    own, expired = _reservations(connection, owner, now)
    states = {**before, **_returned(before, expired)}
    changed = list(plan(states, own))
    # Reservations of budgets that are no longer configured are returned too.
    removed = {name: amount for name, amount in own.items() if name not in {state.name for state, _ in changed}}
    after = {**states, **_returned(states, removed), **{state.name: state for state, _ in changed}}
    saved = [asdict(state) for name, state in after.items() if state != before.get(name)]
    statements.put(connection, budgets, "name", saved)
    if own or expired:
        connection.execute(delete(reservations).where((reservations.c.owner == owner) | (reservations.c.until <= now)))
    rows = [
        {"owner": owner, "name": state.name, "amount": amount, "until": until} for state, amount in changed if amount
    ]
    if rows:
        connection.execute(reservations.insert(), rows)


def _reservations(connection: Connection, owner: str, now: float) -> tuple[dict[str, float], dict[str, float]]:
    """The owner's unspent amounts, and the expired amounts of other owners, by budget."""
    own: dict[str, float] = {}
    expired: dict[str, float] = {}
    for holder, name, amount, until in connection.execute(_ALL):
        if holder == owner:
            own[name] = amount
        elif until <= now:
            expired[name] = expired.get(name, 0.0) + amount
    return own, expired


def _returned(states: Mapping[str, BudgetState], amounts: Mapping[str, float]) -> dict[str, BudgetState]:
    """The states of these budgets after the amounts were returned to them."""
    return {
        name: replace(states[name], credit=states[name].credit + amount)
        for name, amount in amounts.items()
        if name in states
    }


def pay(connection: Connection, payer: str, costs: Sequence[tuple[str, float]]) -> None:
    """Take the cost of visits from the payer's reservations, or from the budget if these were returned meanwhile."""
    for name, cost in sorted(costs):
        values = {"payer": payer, "budget": name, "cost": cost}
        if not connection.execute(_PAY_FROM_RESERVATION, values).rowcount:
            connection.execute(_PAY_FROM_BUDGET, values)


def budget_states(connection: Connection) -> list[BudgetState]:
    return [BudgetState(**row._mapping) for row in connection.execute(select(budgets).order_by(budgets.c.name))]
