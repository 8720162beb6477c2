"""Policies by name: ours, or `module:Class` of a user's own."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Literal, cast

from webstrata.errors import BadSettings
from webstrata.schedule.policy import LARGEST_STATE, Bounds, TimerPolicy, ValuePolicy
from webstrata.schedule.textbook.adaptive import Dyn, Fix
from webstrata.schedule.textbook.baselines import LastObs, RandomTimes
from webstrata.schedule.textbook.budgeted import BASELINES
from webstrata.schedule.textbook.fixed import BruteForce, Fixed, Gold, Week
from webstrata.schedule.textbook.markov import State1, State1L, State2, State2L
from webstrata.schedule.textbook.nutch import Nutch
from webstrata.schedule.textbook.rate_groups import Bayesian, Historic
from webstrata.schedule.textbook.stormcrawler import StormCrawler
from webstrata.schedule.textbook.threshold import Threshold
from webstrata.schedule.textbook.window import Window
from webstrata.schedule.value import Value

Kind = Literal["timer", "oracle"]

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


def names(kind: Kind = "timer") -> list[str]:
    """The names that need no module: policies that give intervals, or oracles that only the lab can run."""
    return sorted(_ORACLES if kind == "oracle" else _TIMERS)


def policy(name: str, *, min_days: float = 1.0, max_days: float = 180.0, start_days: float = 7.0) -> TimerPolicy:
    """The policy of that name within these bounds; BadSettings where there is none."""
    bounds = Bounds(min_days=min_days, max_days=max_days, start_days=start_days)
    if name in _ORACLES:
        raise BadSettings(f"policy {name!r} knows what will happen: only the lab can run it.")
    made = (_TIMERS[name] if name in _TIMERS else cast(Callable[[Bounds], TimerPolicy], _imported(name)))(bounds)
    _require(name, made, ("name", "dtype", "start", "learn", "interval", "explain"), "TimerPolicy")
    return made


def values_visits(name: str) -> bool:
    """Whether a user's own policy (`module:Class`) values visits instead of giving intervals."""
    return ":" in name and hasattr(_imported(name), "value")


def own_value_policy(name: str, bounds: Bounds) -> ValuePolicy:
    """A user's own policy that values visits."""
    made = cast(Callable[[Bounds], ValuePolicy], _imported(name))(bounds)
    _require(name, made, ("name", "dtype", "bounds", "start", "learn", "age", "value", "explain"), "ValuePolicy")
    return made


def _require(name: str, made: TimerPolicy | ValuePolicy, parts: tuple[str, ...], kind: str) -> None:
    missing = [part for part in parts if not hasattr(made, part)]
    if missing:
        raise BadSettings(f"policy {name!r} lacks {', '.join(missing)}. See webstrata.schedule.policy.{kind}.")
    if made.dtype.itemsize > LARGEST_STATE:
        raise BadSettings(f"policy {name!r} keeps {made.dtype.itemsize} bytes a page; at most {LARGEST_STATE} may be.")


def oracle(name: str, *, min_days: float = 1.0, max_days: float = 180.0, start_days: float = 7.0) -> Gold:
    """The oracle of that name, for the lab, which alone has the truth that it must be told."""
    if name not in _ORACLES:
        raise BadSettings(f"no oracle {name!r}. Known: {', '.join(names('oracle'))}.")
    return _ORACLES[name](Bounds(min_days=min_days, max_days=max_days, start_days=start_days))


def _imported(name: str) -> Callable[[Bounds], object]:
    module_name, colon, class_name = name.partition(":")
    if not colon or not module_name or not class_name:
        shared = ", ".join([Value.name, *(one.name for one in BASELINES)])
        raise BadSettings(
            f"no policy {name!r}. Known: {', '.join(names())}; with a budget in common {shared}; your own is written "
            "module:Class."
        )
    try:
        found = getattr(importlib.import_module(module_name), class_name)
    except (ImportError, AttributeError, ValueError) as error:
        raise BadSettings(f"policy {name!r} cannot be loaded: {error}.") from error
    if not callable(found):
        raise BadSettings(f"policy {name!r} is not a class.")
    return cast(Callable[[Bounds], object], found)
