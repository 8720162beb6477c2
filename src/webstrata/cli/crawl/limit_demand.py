"""The warning that limits ask for more visits than the budget pays for, in `interval`, `watch`, `status` and `plan`."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from webstrata.cli.output import counted
from webstrata.clock import span

if TYPE_CHECKING:
    from webstrata.flows.limit_demand import LimitDemand
    from webstrata.node import Node
    from webstrata.ports import Store


async def limit_demand_of(node: Node, store: Store) -> LimitDemand | None:
    """What the longest intervals of pages ask for; None without limits or without a budget."""
    from webstrata.flows.limit_demand import limit_demand

    return await limit_demand(store, node.total_rate(), node.clock.now())


def limit_demand_json(demand: LimitDemand | None) -> dict[str, Any] | None:
    if demand is None:
        return None
    return {
        "pages": demand.pages,
        "visits_per_day": round(demand.visits_per_day, 3),
        "budget_per_day": round(demand.budget_per_day, 3),
        "is_too_much": demand.is_too_much,
        "shortest_s": demand.shortest_s,
        "seen_every_s": round(demand.shortest_s * demand.stretch, 3),
    }


def limit_demand_lines(demand: dict[str, Any] | None) -> list[str]:
    """The result of `limit_demand_json` as a warning, if the limits ask for more than the budget pays for."""
    if demand is None or not demand["is_too_much"]:
        return []
    needed = math.ceil(demand["visits_per_day"])
    seen = "they are not visited"
    if demand["budget_per_day"] > 0:
        seen = f"they are seen about every {span(demand['seen_every_s'])} instead of {span(demand['shortest_s'])}"
    return [
        f"the limits of {counted(demand['pages'], 'page')} need {needed} visits a day; the budget pays for "
        f"{demand['budget_per_day']:.0f}: {seen}, and pages without limits hardly ever",
        f'raise the budget ([budget] total = "{needed}/day" or more in webstrata.toml), or lengthen the limits '
        "(`webstrata interval`)",
    ]
