from __future__ import annotations

import sys
import types

import numpy as np
import pytest

from webstrata.errors import BadSettings
from webstrata.schedule.policy import Bounds
from webstrata.schedule.registry import budgeted_names, budgeted_policy, names, oracle, policy
from webstrata.schedule.textbook.adaptive import Dyn
from webstrata.testing.policy import check_policy


class Own(Dyn):
    name = "own"


class Fat(Dyn):
    dtype = np.dtype([("notes", "V300")])


class Half:
    """A value policy without most of its members."""

    name = "half"

    def __init__(self, bounds: Bounds) -> None:
        self.bounds = bounds

    def value(self) -> None:
        """Makes it a value policy."""


@pytest.fixture
def own_module(monkeypatch: pytest.MonkeyPatch) -> str:
    module = types.ModuleType("own_policies")
    module.Own, module.Fat, module.Half, module.number = Own, Fat, Half, 7  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "own_policies", module)
    return "own_policies"


TIMERS = (
    "bayesian brute-force dyn fix fixed historic last-obs nutch random state-1 state-1/L state-2 state-2/L "
    "stormcrawler threshold week window"
)


def test_built_in_timers() -> None:
    """The timers of the papers and of other crawlers exist, and keep the bounds."""
    assert set(TIMERS.split()) <= set(names("timer"))
    for name in names("timer"):
        made = policy(name, Bounds(min_days=2, max_days=3, start_days=100))
        assert made.name == name
        assert 2 <= made.interval(made.start(1), np.array([0]))[0] <= 3


def test_oracles_are_for_the_lab() -> None:
    """Oracles have a list of their own, and no setting can run one."""
    assert names("oracle") == ["gold"]
    assert oracle("gold", Bounds(max_days=9)).bounds.max_days == 9
    with pytest.raises(BadSettings, match="only the lab"):
        policy("gold")
    with pytest.raises(BadSettings, match="no oracle"):
        oracle("dyn")


def test_a_users_own(own_module: str) -> None:
    """`module:Class` is imported and constructed with the bounds."""
    made = policy(f"{own_module}:Own", Bounds(start_days=9))
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
def test_bad_names(own_module: str, name: str) -> None:
    """A class that cannot be loaded, or whose state is too large, is a settings error."""
    with pytest.raises(BadSettings):
        policy(name)


@pytest.mark.parametrize("name", budgeted_names())
def test_built_in_value_policies_keep_the_contract(name: str) -> None:
    """Every budgeted policy passes the contract for users' policies."""
    check_policy(budgeted_policy(name))


def test_missing_members_are_named(own_module: str) -> None:
    """An incomplete value policy is refused; the error names the missing members and the base class."""
    with pytest.raises(BadSettings, match=r"lacks dtype, start, learn, age, explain, .*ValuePolicyBase"):
        budgeted_policy(f"{own_module}:Half")
