"""No spelling, redirect or name server reaches an address that is not public: counted where connections arrive."""

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
    """What was counted inside the namespace."""
    return json.loads(run_inside("tests.conformance.families.ssrf", str(EXTRACT / "ssrf")))


def test_no_form_reaches_a_forbidden_address(counted: Any) -> None:
    """Every form, watched or redirected to, opens no forbidden connection, and every control gets through."""
    assert counted["guarded"]["failed"] == []
    assert counted["guarded"]["passed"] > 20


def test_holes_would_be_counted(counted: Any) -> None:
    """The same forms without the guard do open forbidden connections: the counter sees them."""
    assert len(counted["unguarded"]["failed"]) > 10


def test_name_servers_that_change_their_mind(counted: Any) -> None:
    """A name that is public when asked and private when asked again is only ever visited at its public address."""
    assert counted["rebinding"] == {"opened": 20, "forbidden": []}
