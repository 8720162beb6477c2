"""The SQL store keeps the store's contract on both engines."""

from __future__ import annotations

import pytest

from webstrata.remember.engine import open_store
from webstrata.testing.store import run_check, store_checks
from webstrata.testing.store.examples import Check


@pytest.mark.parametrize("check", store_checks(), ids=lambda check: check.__name__)
def test_contract(check: Check, store_url: str) -> None:
    """Every promise of the Store port holds on a new database."""
    run_check(check, lambda clock: open_store(store_url, clock))
