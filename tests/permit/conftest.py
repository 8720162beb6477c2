"""Exchanges and gates for the tests of politeness."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from webstrata.permit.gate import PermitGate, Rules
from webstrata.records import Exchange, Failure, FailureKind, RobotsState

NOW = 1_700_000_000.0


@pytest.fixture
def now() -> float:
    return NOW


@pytest.fixture
def make_gate() -> Callable[..., PermitGate]:
    """A gate that knows the robots.txt of example.org (and of its two neighbours), with rules to vary."""

    def make(robots: bytes = b"", **rules: object) -> PermitGate:
        gate = PermitGate(Rules(**{"agent": "webstrata/1 (+mailto:a@example.org)", "token": "webstrata", **rules}))
        for name in ("example.org", "one.example", "two.example"):
            origin = f"http://{name}"
            gate.recall([], [], [RobotsState(origin=origin, at=NOW, status=200, body=robots)])
        return gate

    return make


@pytest.fixture
def answer() -> Callable[..., Exchange]:
    """An exchange as `fetch` would hand it back."""

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
