"""The contract of the `Store` port: what any store must pass.

    check_store(make_store)            # runs all, each on a store of its own
    @pytest.mark.parametrize("check", STORE_CHECKS)

`make_store(clock)` gives a new, empty store each time.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from webstrata.clock import ManualClock
from webstrata.ports import Clock, Store
from webstrata.testing.store import budgets, commits, leases, page_rules, showing, signals, watching
from webstrata.testing.store.material import NOW, Check

MakeStore = Callable[[Clock], Store]

STORE_CHECKS: tuple[Check, ...] = (
    *watching.CHECKS,
    *leases.CHECKS,
    *commits.CHECKS,
    *page_rules.CHECKS,
    *signals.CHECKS,
    *showing.CHECKS,
    *budgets.CHECKS,
)


def check_store(make_store: MakeStore) -> None:
    """Run every check; the first broken promise is an `AssertionError`."""
    for check in STORE_CHECKS:
        run_check(check, make_store)


def run_check(check: Check, make_store: MakeStore) -> None:
    async def run() -> None:
        store = make_store(ManualClock(NOW))
        try:
            await check(store)
        finally:
            await store.close()

    asyncio.run(run())
