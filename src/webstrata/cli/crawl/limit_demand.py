"""The warning that limits ask for more visits than the budget pays for, in `interval`, `watch`, `status` and `plan`."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from webstrata.cli.output import counted, printable
from webstrata.clock import span

if TYPE_CHECKING:
    from webstrata.flows.limit_demand import LimitDemand
    from webstrata.node import Node
    from webstrata.ports import Store

_NAMED_HOSTS = 3


async def limit_demand_of(node: Node, store: Store) -> LimitDemand | None:
    """What the longest intervals of pages ask for; None without limits or without a budget."""
    from webstrata.flows.limit_demand import HostRoom, limit_demand

    async def host_room() -> HostRoom:
        delay_s = node.settings.polite.delay
        return HostRoom(gate=await node.gate(store), delay_s=delay_s, budgets=node.budget().hosts)

    return await limit_demand(store, node.total_rate(), node.clock.now(), host_room=host_room)


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
        "hosts": [
            {
                "host": one.host,
                "visits_per_day": round(one.visits_per_day, 3),
                "possible_per_day": round(one.possible_per_day, 3),
                "limited_by": one.limited_by,
            }
            for one in demand.hosts
        ],
    }


def limit_demand_lines(demand: dict[str, Any] | None) -> list[str]:
    """The result of `limit_demand_json` as warnings: limits that the budget or a host does not allow to keep."""
    if demand is None:
        return []
    return [*(_budget_lines(demand) if demand["is_too_much"] else ()), *_host_lines(demand["hosts"])]


def _budget_lines(demand: dict[str, Any]) -> list[str]:
    needed = math.ceil(demand["visits_per_day"])
    seen = "they are not visited"
    if demand["budget_per_day"] > 0:
        seen = f"they are seen about every {span(demand['seen_every_s'])} instead of {span(demand['shortest_s'])}"
    return [
        f"the limits of {counted(demand['pages'], 'page')} need {counted(needed, 'visit')} a day; the budget pays for "
        f"{demand['budget_per_day']:.0f}: {seen}, and pages without limits hardly ever",
        f'raise the budget ([budget] total = "{needed}/day" or more in webstrata.toml), or lengthen the limits '
        "(`webstrata interval`)",
    ]


def _host_lines(hosts: list[dict[str, Any]]) -> list[str]:
    lines = []
    for one in hosts[:_NAMED_HOSTS]:
        needed, possible = math.ceil(one["visits_per_day"]), one["possible_per_day"]
        if one["limited_by"] == "budget":
            why = f"its budget pays for {possible:.0f}: raise it in [budget.hosts], or lengthen the limits"
        else:
            why = f"the delay between requests allows {possible:.0f}: lengthen the limits"
        lines.append(
            f"the limits of pages of {printable(one['host'])} need {counted(needed, 'visit')} a day; {why} (`webstrata interval`)"
        )
    if len(hosts) > _NAMED_HOSTS:
        lines.append(f"the same is true of {counted(len(hosts) - _NAMED_HOSTS, 'more host')}")
    return lines
