"""Exchanges and permit gates for the tests of politeness."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from webstrata.permit.gate import PermitGate
from webstrata.permit.spacing import PolitenessRules
from webstrata.records import Exchange, Failure, FailureKind, RobotsState

NOW = 1_700_000_000.0


@pytest.fixture
def now() -> float:
    return NOW


@pytest.fixture
def make_gate() -> Callable[..., PermitGate]:
    """Creates gates that know the robots.txt of three hosts; the rules can be varied."""

    def make(robots: bytes = b"", **rules: object) -> PermitGate:
        values: dict[str, Any] = {"agent": "webstrata/1 (+mailto:a@example.org)", "token": "webstrata", **rules}
        gate = PermitGate(PolitenessRules(**values))
        for name in ("example.org", "one.example", "two.example"):
            origin = f"http://{name}"
            gate.restore([], [], [RobotsState(origin=origin, at=NOW, status=200, body=robots)])
        return gate

    return make


@pytest.fixture
def answer() -> Callable[..., Exchange]:
    """Creates exchanges as `fetch` returns them."""

    def make(
        status: int | None = 200, duration_s: float = 0.1, failure: FailureKind | None = None, **headers: str
    ) -> Exchange:
        return Exchange(
            url="http://example.org/",
            at=NOW,
            duration_s=duration_s,
            request_head=b"",
            status=None if failure else status,
            headers=tuple((name.replace("_", "-"), value) for name, value in headers.items()),
            failure=None if failure is None else Failure(kind=failure),
        )

    return make
