"""A machine without a network is not a fault of the hosts; an address family that it lacks is not a fault for all."""

from __future__ import annotations

import json

import pytest

from tests.fetch.namespace import run_inside, unshare_command


@pytest.mark.skipif(
    unshare_command() is None, reason="needs network namespaces (`unshare -rn`, or `unshare -n` as root)"
)
def test_no_network() -> None:
    """Without routes, IPv4 and names fail as faults of this machine. A host that has only IPv6 is unreachable."""
    kinds = json.loads(run_inside("tests.fetch.no_network"))
    assert kinds == {"93.184.216.34": "local", "2606:2800:220:1::1": "connect", "a.test": "local"}
