"""A payment from budgets that other processes may spend too: how they stand decides, not what memory says."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from copy import deepcopy

from msgspec import Struct
from msgspec.structs import replace

from webstrata.records import BudgetState, Page
from webstrata.schedule.budget import BudgetAccount


class BudgetPositions(Struct, frozen=True, kw_only=True):
    """How budgets stand in the store, and what is known here of them."""

    stands: Mapping[str, BudgetState]
    own: Mapping[str, float]
    """What is left of the portions taken last."""
    written: Mapping[str, BudgetState]
    """As it was written last from here: where the store still says so, memory is right to the last bit."""
    now: float


class Payment(Struct, frozen=True, kw_only=True):
    """Which visits were paid for, how the budgets stand after it, and the portions taken for it."""

    paid: list[Page]
    purses: dict[str, BudgetAccount]
    taken: dict[str, float]


def resumed(purses: Mapping[str, BudgetAccount], standing: BudgetPositions) -> dict[str, BudgetAccount]:
    """The purses as they stand: copies of those that somebody else changed, the others themselves."""
    found = dict(purses)
    for name, purse in purses.items():
        state = standing.stands.get(name)
        if state is not None and state != standing.written.get(name):
            found[name] = deepcopy(purse)
            found[name].resume(replace(state, credit=state.credit + standing.own.get(name, 0.0)), standing.now)
    return found


def payment(
    purses: Mapping[str, BudgetAccount],
    standing: BudgetPositions,
    pages: Sequence[Page],
    *,
    names: Callable[[Page], Sequence[str]],
    room: Callable[[BudgetAccount], int],
    visit_bytes: int,
    wanted: Collection[int] = (),
) -> Payment:
    """Pay for as many of the pages as can be, in their order; for those that are `wanted` in any case.

    `purses` stay as they are. `names`: the budgets that a visit counts for; `room`: the visits that one pays for now.
    """
    found = resumed(purses, standing)
    current = deepcopy(found)
    # Where nobody else was, the pages were chosen within the room that there is.
    others = {name for name, purse in purses.items() if found[name] is not purse}
    left = {name: room(current[name]) for name in others} if pages else {}
    paid: list[Page] = []
    taken = dict.fromkeys(current, 0.0)
    for page in pages:
        counted = names(page)
        if page.id not in wanted and any(left.get(name, 1) < 1 for name in counted):
            continue
        paid.append(page)
        for name in counted:
            current[name].spend(1, visit_bytes)
            taken[name] += current[name].cost(1, visit_bytes)
            if name in left:
                left[name] -= 1
    return Payment(paid=paid, purses=current, taken=taken)
