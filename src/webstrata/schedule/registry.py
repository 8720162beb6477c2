"""Policies by name: the built-in ones, or `module:Class` for a user's own.

Timer policies give intervals, oracles know the future and run only in the lab, budgeted policies (value policies) share
a budget. This module is the only one that distinguishes policy classes.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Literal, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from webstrata.errors import BadSettings
from webstrata.predict.siblings import Siblings
from webstrata.schedule.policy import LARGEST_STATE, Bounds, TimerPolicy, ValuePolicy
from webstrata.schedule.policy_state import PolicyState
from webstrata.schedule.textbook.adaptive import Dyn, Fix, Window
from webstrata.schedule.textbook.baselines import LastObs, RandomTimes
from webstrata.schedule.textbook.budgeted import BASELINES
from webstrata.schedule.textbook.crawlers import Nutch, StormCrawler
from webstrata.schedule.textbook.fixed import BruteForce, Fixed, Gold, Week
from webstrata.schedule.textbook.markov import State1, State1L, State2, State2L
from webstrata.schedule.textbook.rate_groups import Bayesian, Historic
from webstrata.schedule.textbook.threshold import Threshold
from webstrata.schedule.value import Value

Kind = Literal["timer", "oracle"]
_P = TypeVar("_P")

_TIMERS: dict[str, Callable[[Bounds], TimerPolicy]] = {
    policy.name: policy
    for policy in (
        *(Week, Fixed, Fix, Dyn, Window, State1, State2, State1L, State2L),
        *(Historic, Bayesian),
        *(Threshold, LastObs, RandomTimes, BruteForce),
        *(Nutch, StormCrawler),
    )
}
_ORACLES: dict[str, Callable[[Bounds], Gold]] = {Gold.name: Gold}
_BASELINES: dict[str, Callable[[Bounds | None], ValuePolicy]] = {policy.name: policy for policy in BASELINES}

_TIMER_MEMBERS = ("name", "dtype", "start", "learn", "interval", "explain")
_VALUE_MEMBERS = (
    *("name", "dtype", "bounds", "start", "learn", "age", "value", "explain"),
    *("has_forecast", "forecast", "worth", "siblings", "first_price"),
)

# ── timer policies and oracles ──────────────────────────────────────────────────────────────────────────────


def names(kind: Kind = "timer") -> list[str]:
    """Names of the built-in timer policies or oracles."""
    return sorted(_ORACLES if kind == "oracle" else _TIMERS)


def policy(name: str, bounds: Bounds | None = None) -> TimerPolicy:
    """The timer policy of that name. Raises BadSettings if there is none."""
    require_known(name)
    make = _TIMERS[name] if name in _TIMERS else cast(Callable[[Bounds], TimerPolicy], _imported(name))
    made = _made(name, make, bounds or Bounds())
    _require(name, made, _TIMER_MEMBERS, "See webstrata.schedule.policy.TimerPolicy.")
    return made


def oracle(name: str, bounds: Bounds | None = None) -> Gold:
    """The oracle of that name, for the lab, which knows the true changes."""
    if name not in _ORACLES:
        raise BadSettings(f"no oracle {name!r}. Known: {', '.join(names('oracle'))}.")
    return _ORACLES[name](bounds or Bounds())


# ── budgeted policies ───────────────────────────────────────────────────────────────────────────────────────


def budgeted_names() -> list[str]:
    """Names of the built-in policies that share a budget, the default policy first."""
    return [Value.name, *_BASELINES]


def is_budgeted(name: str) -> bool:
    """Whether a policy, built-in or a user's own, shares a budget instead of giving intervals."""
    return name in budgeted_names() or (":" in name and hasattr(_imported(name), "value"))


def budgeted_policy(name: str, bounds: Bounds | None = None, freshness: float = 0.0) -> ValuePolicy:
    """The budgeted policy of that name. Raises BadSettings if there is none."""
    if name == Value.name:
        return Value(bounds=bounds, freshness=freshness, siblings=Siblings())
    if name in _BASELINES:
        return _BASELINES[name](bounds)
    if is_budgeted(name):
        made = _made(name, cast(Callable[[Bounds], ValuePolicy], _imported(name)), bounds or Bounds())
        _require(name, made, _VALUE_MEMBERS, "Derive it from webstrata.schedule.policy.ValuePolicyBase.")
        return made
    raise BadSettings(f"no budgeted policy {name!r}. Known: {', '.join(budgeted_names())}.")


def policy_state(
    name: str, site: NDArray[np.intp], *, now: float = 0.0, bounds: Bounds | None = None, freshness: float = 0.0
) -> PolicyState:
    """Pages of these sites under the budgeted policy of that name."""
    return PolicyState(budgeted_policy(name, bounds, freshness), site, now=now)


def require_known(name: str) -> None:
    """Raise BadSettings unless this is a policy that can run, or the form `module:Class`; imports no user's module."""
    if name in _ORACLES:
        raise BadSettings(f"policy {name!r} knows what will happen: only the lab can run it.")
    if name not in _TIMERS and name not in budgeted_names():
        _module_and_class(name)


# ── a user's own class ──────────────────────────────────────────────────────────────────────────────────────


def _made(name: str, make: Callable[[Bounds], _P], bounds: Bounds) -> _P:
    try:
        return make(bounds)
    except TypeError as error:
        raise BadSettings(f"policy {name!r} cannot be made from Bounds: {error}.") from error


def _require(name: str, made: TimerPolicy | ValuePolicy, members: tuple[str, ...], advice: str) -> None:
    missing = [member for member in members if not hasattr(made, member)]
    if missing:
        raise BadSettings(f"policy {name!r} lacks {', '.join(missing)}. {advice}")
    if made.dtype.itemsize > LARGEST_STATE:
        raise BadSettings(f"policy {name!r} keeps {made.dtype.itemsize} bytes a page; at most {LARGEST_STATE} may be.")


def _module_and_class(name: str) -> tuple[str, str]:
    """The parts of `module:Class`. Raises BadSettings if the name is not written like this."""
    module_name, colon, class_name = name.partition(":")
    if not colon or not class_name.isidentifier() or not all(map(str.isidentifier, module_name.split("."))):
        raise BadSettings(
            f"no policy {name[:100]!r}. Known: {', '.join(names())}; with a common budget "
            f"{', '.join(budgeted_names())}; your own is written module:Class."
        )
    return module_name, class_name


def _imported(name: str) -> Callable[[Bounds], object]:
    module_name, class_name = _module_and_class(name)
    try:
        policy_class = getattr(importlib.import_module(module_name), class_name)
    except (ImportError, AttributeError, ValueError, SyntaxError) as error:
        raise BadSettings(f"policy {name!r} cannot be loaded: {error}.") from error
    if not callable(policy_class):
        raise BadSettings(f"policy {name!r} is not a class.")
    return cast(Callable[[Bounds], object], policy_class)
