"""The purse that several processes spend: each takes a portion, pays its visits from it and gives the rest back.

What lies in `paces` is there for all; what lies in `portions` is one owner's until it is spent or its time is over.
A visit is paid in the transaction that logs it, so that a crash returns exactly what was not spent.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec.structs import replace
from sqlalchemy import Connection, bindparam, delete, select, update

from webstrata.ports import ReservationPlan
from webstrata.records import BudgetState
from webstrata.remember import statements
from webstrata.remember.tables import paces, portions

# Whoever trades is alone: also the first one, who finds no row that could be locked.
_ALONE = "LOCK TABLE paces IN SHARE ROW EXCLUSIVE MODE"

_PAY = (
    update(portions)
    .where(portions.c.owner == bindparam("payer"), portions.c.name == bindparam("budget"))
    .values(amount=portions.c.amount - bindparam("cost"))
)
_ALL = select(portions.c.owner, portions.c.name, portions.c.amount, portions.c.until)
_OWE = update(paces).where(paces.c.name == bindparam("budget")).values(credit=paces.c.credit - bindparam("cost"))


def purse(connection: Connection, owner: str, now: float) -> tuple[dict[str, BudgetState], dict[str, float]]:
    """How budgets stand, with what others let run out; and what is left of the owner's portions."""
    stands = {one.name: one for one in standing(connection)}
    own, run_out = _portions(connection, owner, now)
    return {**stands, **_put_back(stands, run_out)}, own


def trade(connection: Connection, owner: str, now: float, until: float, deal: ReservationPlan) -> None:
    if connection.dialect.name == "postgresql":
        connection.exec_driver_sql(_ALONE)
    before = {one.name: one for one in standing(connection)}
    own, run_out = _portions(connection, owner, now)
    stands = {**before, **_put_back(before, run_out)}
    changed = list(deal(stands, own))
    # What a budget that is set no more had given comes back all the same.
    forgotten = {name: amount for name, amount in own.items() if name not in {state.name for state, _ in changed}}
    after = {**stands, **_put_back(stands, forgotten), **{state.name: state for state, _ in changed}}
    save(connection, [state for name, state in after.items() if state != before.get(name)])
    if own or run_out:
        connection.execute(delete(portions).where((portions.c.owner == owner) | (portions.c.until <= now)))
    taken = [
        {"owner": owner, "name": state.name, "amount": amount, "until": until} for state, amount in changed if amount
    ]
    if taken:
        connection.execute(portions.insert(), taken)


def _portions(connection: Connection, owner: str, now: float) -> tuple[dict[str, float], dict[str, float]]:
    """What is left of the owner's, and of those of others whose time is over."""
    own: dict[str, float] = {}
    run_out: dict[str, float] = {}
    for whose, name, amount, until in connection.execute(_ALL):
        if whose == owner:
            own[name] = amount
        elif until <= now:
            run_out[name] = run_out.get(name, 0.0) + amount
    return own, run_out


def _put_back(stands: Mapping[str, BudgetState], amounts: Mapping[str, float]) -> dict[str, BudgetState]:
    return {
        name: replace(stands[name], credit=stands[name].credit + amount)
        for name, amount in amounts.items()
        if name in stands
    }


def pay(connection: Connection, payer: str, costs: Sequence[tuple[str, float]]) -> None:
    """Take what visits cost from the payer's portions; from the purse itself if these were put back meanwhile."""
    for name, cost in sorted(costs):
        values = {"payer": payer, "budget": name, "cost": cost}
        if not connection.execute(_PAY, values).rowcount:
            connection.execute(_OWE, values)


def standing(connection: Connection) -> list[BudgetState]:
    found = connection.execute(select(paces.c.name, paces.c.price, paces.c.credit, paces.c.at).order_by(paces.c.name))
    return [BudgetState(name=name, price=price, credit=credit, at=at) for name, price, credit, at in found]


def save(connection: Connection, states: Sequence[BudgetState]) -> None:
    values = [{"name": one.name, "price": one.price, "credit": one.credit, "at": one.at} for one in states]
    statements.put(connection, paces, "name", values)
