"""No form of a URL, redirect or name server leads to a connection to an address that is not public."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.conformance.runner import EXTRACT
from tests.fetch.namespace import run_inside, unshare_command

pytestmark = pytest.mark.skipif(
    unshare_command() is None, reason="needs network namespaces (`unshare -rn`, or `unshare -n` as root)"
)


@pytest.fixture(scope="module")
def counted() -> Any:
    """The connections that were counted in the namespace."""
    return json.loads(run_inside("tests.conformance.families.ssrf", str(EXTRACT / "ssrf")))


def test_no_form_reaches_a_forbidden_address(counted: Any) -> None:
    """No form, watched or redirected to, opens a forbidden connection, and every allowed control connects."""
    assert counted["guarded"]["failed"] == []
    assert counted["guarded"]["passed"] > 20


def test_the_counter_detects_connections(counted: Any) -> None:
    """Without the guard the same forms open forbidden connections, and the counter records them."""
    assert len(counted["unguarded"]["failed"]) > 10


def test_dns_rebinding(counted: Any) -> None:
    """A name that resolves first to a public and then to a private address is only visited at the public one."""
    assert counted["rebinding"] == {"opened": 20, "forbidden": []}
