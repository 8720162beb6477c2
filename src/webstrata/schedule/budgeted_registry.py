"""Budgeted policies by name: the place where forecasts meet the policies that use them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from webstrata.errors import BadSettings
from webstrata.predict.activity import Activity
from webstrata.predict.siblings import Siblings
from webstrata.schedule.policy import Bounds, ValuePolicy
from webstrata.schedule.policy_state import PolicyState
from webstrata.schedule.registry import own_value_policy, values_visits
from webstrata.schedule.textbook.budgeted import BASELINES, OwnRate
from webstrata.schedule.value import Value

Objective = Literal["capture", "freshness"]

_BASELINES: dict[str, Callable[..., ValuePolicy]] = {policy.name: policy for policy in BASELINES}


def budgeted_names() -> list[str]:
    """The policies that share a budget, the flagship first."""
    return [Value.name, *_BASELINES]


def is_budgeted(name: str) -> bool:
    """Whether a policy, ours or a user's own, shares a budget instead of giving intervals."""
    return name in budgeted_names() or values_visits(name)


def budgeted_policy(name: str, bounds: Bounds | None = None, freshness: float = 0.0) -> ValuePolicy:
    """The budgeted policy of that name with the forecast that belongs to it; BadSettings where there is none."""
    if name == Value.name:
        return Value(Activity(), bounds, freshness)
    if name in _BASELINES:
        return _BASELINES[name](OwnRate(), bounds)
    if values_visits(name):
        return own_value_policy(name, bounds or Bounds())
    raise BadSettings(f"no budgeted policy {name!r}. Known: {', '.join(budgeted_names())}.")


def population(
    name: str,
    site: NDArray[np.intp],
    *,
    now: float = 0.0,
    bounds: Bounds | None = None,
    freshness: float = 0.0,
    weights: NDArray[np.float64] | None = None,
) -> PolicyState:
    """Pages of these sites under a budgeted policy. Only the flagship looks at what happens on sibling pages."""
    siblings = Siblings() if name == Value.name else None
    return PolicyState(budgeted_policy(name, bounds, freshness), site, now=now, siblings=siblings, weights=weights)
