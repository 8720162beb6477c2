from __future__ import annotations

import sys
import types

import numpy as np
import pytest

from webstrata.errors import BadSettings
from webstrata.schedule.registry import names, oracle, policy
from webstrata.schedule.textbook.adaptive import Dyn


class Own(Dyn):
    name = "own"


class Fat(Dyn):
    dtype = np.dtype([("notes", "V300")])


@pytest.fixture
def own_module(monkeypatch: pytest.MonkeyPatch) -> str:
    module = types.ModuleType("own_policies")
    module.Own, module.Fat, module.Less, module.number = Own, Fat, object, 7  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "own_policies", module)
    return "own_policies"


OURS = (
    "bayesian brute-force dyn fix fixed historic last-obs nutch random state-1 state-1/L state-2 state-2/L "
    "stormcrawler threshold week window"
)


def test_ours_by_name() -> None:
    """The papers' timers and those of today's crawlers are there, with the bounds given."""
    assert set(OURS.split()) <= set(names("timer"))
    for name in names("timer"):
        made = policy(name, min_days=2, max_days=3, start_days=100)
        assert made.name == name
        assert 2 <= made.interval(made.start(1), np.array([0]))[0] <= 3


def test_oracles_are_for_the_lab() -> None:
    """An oracle is named apart, and no setting can run it."""
    assert names("oracle") == ["gold"]
    assert oracle("gold", max_days=9).bounds.max_days == 9
    with pytest.raises(BadSettings, match="only the lab"):
        policy("gold")
    with pytest.raises(BadSettings, match="no oracle"):
        oracle("dyn")


def test_a_users_own(own_module: str) -> None:
    """`module:Class` is imported and made with the bounds."""
    made = policy(f"{own_module}:Own", start_days=9)
    assert made.name == "own"
    assert made.interval(made.start(1), np.array([0]))[0] == 9


@pytest.mark.parametrize(
    "name",
    [
        "nonesuch",
        "",
        ":",
        "a:",
        ":b",
        "no_such_module:X",
        "own_policies:Absent",
        "own_policies:number",
        "own_policies:Fat",
    ],
)
def test_bad_names_are_told(own_module: str, name: str) -> None:
    """What cannot be loaded, or keeps too much, is a settings error with a reason."""
    with pytest.raises(BadSettings):
        policy(name)
