"""Contracts of the `Store` port: the checks that any store must pass, by role.

    check_store(make_store)                                  # all roles, each check on a store of its own
    check_store(make_store, "queue")                         # one role
    @pytest.mark.parametrize("check", store_checks())        # one test for each check

`make_store(clock)` returns a new, empty store.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from inspect import iscoroutinefunction
from types import ModuleType
from typing import Literal

from webstrata.clock import ManualClock
from webstrata.ports import Clock, Store
from webstrata.testing.store import (
    budgets,
    copies,
    hosts,
    learned_copies,
    maintenance,
    page_facts,
    pages,
    queue,
    signals,
    visit_log,
)
from webstrata.testing.store.examples import NOW, Check

MakeStore = Callable[[Clock], Store]
StoreRole = Literal[
    "pages", "queue", "hosts", "visit_log", "budgets", "signals", "copies", "learned_copies", "facts", "maintenance"
]  # fmt: skip


def _checks(contract: ModuleType) -> tuple[Check, ...]:
    """The checks of a contract: the public coroutine functions of its module, in the order of the file."""
    functions = [value for name, value in vars(contract).items() if not name.startswith("_")]
    return tuple(f for f in functions if iscoroutinefunction(f) and f.__module__ == contract.__name__)


CONTRACTS: dict[StoreRole, tuple[Check, ...]] = {
    "pages": _checks(pages),
    "queue": _checks(queue),
    "hosts": _checks(hosts),
    "visit_log": _checks(visit_log),
    "budgets": _checks(budgets),
    "signals": _checks(signals),
    "copies": _checks(copies),
    "learned_copies": _checks(learned_copies),
    "facts": _checks(page_facts),
    "maintenance": _checks(maintenance),
}
"""The checks of each role."""


def store_checks(*roles: StoreRole) -> list[Check]:
    """The checks of these roles (default: all)."""
    return [check for role in roles or CONTRACTS for check in CONTRACTS[role]]


def check_store(make_store: MakeStore, *roles: StoreRole) -> None:
    """Run the checks of these roles (default: all); the first failed check raises `AssertionError`."""
    for check in store_checks(*roles):
        run_check(check, make_store)


def run_check(check: Check, make_store: MakeStore) -> None:
    """Run one check on a new store."""

    async def run() -> None:
        store = make_store(ManualClock(NOW))
        try:
            await check(store)
        finally:
            await store.close()

    asyncio.run(run())
