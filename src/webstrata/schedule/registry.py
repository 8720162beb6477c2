"""Policies by name: ours, or `module:Class` of a user's own."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import cast

from webstrata.errors import BadSettings
from webstrata.schedule.adaptive import Dyn, Fix
from webstrata.schedule.policy import LARGEST_STATE, Bounds, TimerPolicy
from webstrata.schedule.weekly import Week

_OURS: dict[str, Callable[[Bounds], TimerPolicy]] = {policy.name: policy for policy in (Dyn, Fix, Week)}


def names() -> list[str]:
    """The names that need no module."""
    return sorted(_OURS)


def policy(name: str, *, min_days: float = 1.0, max_days: float = 180.0, start_days: float = 7.0) -> TimerPolicy:
    """The policy of that name within these bounds; BadSettings where there is none."""
    bounds = Bounds(min_days=min_days, max_days=max_days, start_days=start_days)
    made = (_OURS[name] if name in _OURS else _imported(name))(bounds)
    missing = [part for part in ("name", "dtype", "start", "learn", "interval", "explain") if not hasattr(made, part)]
    if missing:
        raise BadSettings(f"policy {name!r} lacks {', '.join(missing)}. See webstrata.schedule.policy.TimerPolicy.")
    if made.dtype.itemsize > LARGEST_STATE:
        raise BadSettings(f"policy {name!r} keeps {made.dtype.itemsize} bytes a page; at most {LARGEST_STATE} may be.")
    return made


def _imported(name: str) -> Callable[[Bounds], TimerPolicy]:
    module_name, colon, class_name = name.partition(":")
    if not colon or not module_name or not class_name:
        raise BadSettings(f"no policy {name!r}. Known: {', '.join(names())}; your own is written module:Class.")
    try:
        found = getattr(importlib.import_module(module_name), class_name)
    except (ImportError, AttributeError, ValueError) as error:
        raise BadSettings(f"policy {name!r} cannot be loaded: {error}.") from error
    if not callable(found):
        raise BadSettings(f"policy {name!r} is not a class.")
    return cast(Callable[[Bounds], TimerPolicy], found)
