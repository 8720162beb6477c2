"""State of hosts and addresses."""

from __future__ import annotations

import pytest

from webstrata.permit import spacing
from webstrata.permit.spacing import HostSpacing
from webstrata.records import AddressState, HostState


def test_idle_hosts_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    """Above the limit idle hosts and addresses are dropped; those in a delay, open or unsaved ones are kept."""
    monkeypatch.setattr(spacing, "_FORGET_ABOVE", 2)
    known = HostSpacing()
    known.restore(
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
    known.changing_host("open").open_requests = 1
    known.drain()
    known.changing_host("unsaved")
    known.reserve_address("c", 6.0)
    known.forget_idle(now=10.0)

    assert known.host("idle").last_duration_s == 0.0
    assert known.host("open").open_requests == 1
    assert known.host("bound").next_at == known.host("resting").backoff_until == 50.0
    assert known.host("failing").backoff_count == 2
    assert [known.address_free_at(name) for name in "abc"] == [0.0, 50.0, 6.0]
    assert [state.host for state in known.drain()[0]] == ["unsaved"]


def test_restore_never_shortens_a_delay() -> None:
    """If two times are known for an address, the later one applies."""
    known = HostSpacing()
    known.reserve_address("a", 9.0)
    known.restore([], [AddressState(address="a", next_at=5.0)])

    assert known.address_free_at("a") == 9.0
