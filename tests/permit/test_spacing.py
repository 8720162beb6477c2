"""The memory of hosts and addresses."""

from __future__ import annotations

import pytest

from webstrata.permit import spacing
from webstrata.permit.spacing import HostSpacing
from webstrata.records import AddressState, HostState


def test_memory_stays_flat(monkeypatch: pytest.MonkeyPatch) -> None:
    """Above the limit, hosts and addresses that no promise binds are dropped; bound, open and unsaved ones stay."""
    monkeypatch.setattr(spacing, "_FORGET_ABOVE", 2)
    known = HostSpacing()
    known.recall(
        [
            HostState(host="idle", next_at=5.0, last_duration_s=1.0),
            HostState(host="bound", next_at=50.0),
            HostState(host="resting", backoff_until=50.0),
            HostState(host="failing", backoff_count=2, next_at=5.0),
            HostState(host="open", next_at=5.0),
            HostState(host="unsaved", next_at=5.0),
        ],
        [AddressState(address=name, next_at=at) for name, at in (("a", 5.0), ("b", 50.0), ("c", 5.0))],
    )
    known.host_to_change("open").open_requests = 1
    known.drain()
    known.host_to_change("unsaved")
    known.hold_address("c", 6.0)
    known.forget_idle(now=10.0)

    assert known.host("idle").last_duration_s == 0.0
    assert known.host("open").open_requests == 1
    assert known.host("bound").next_at == known.host("resting").backoff_until == 50.0
    assert known.host("failing").backoff_count == 2
    assert [known.address_free_at(name) for name in "abc"] == [0.0, 50.0, 6.0]
    assert [state.host for state in known.drain()[0]] == ["unsaved"]


def test_the_later_promise_to_an_address_holds() -> None:
    """Recalling an older state never shortens a wait."""
    known = HostSpacing()
    known.hold_address("a", 9.0)
    known.recall([], [AddressState(address="a", next_at=5.0)])

    assert known.address_free_at("a") == 9.0
