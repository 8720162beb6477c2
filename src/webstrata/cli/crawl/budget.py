"""The budget in the output of `status`: rates, spending of today, credit, price, boosts, and what it costs hosts."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from webstrata.cli.crawl.limit_demand import limit_demand_json, limit_demand_lines, limit_demand_of
from webstrata.cli.output import counted, iso_or_none, printable, size
from webstrata.clock import DAY_S, span

if TYPE_CHECKING:
    from webstrata.node import Node
    from webstrata.ports import Store
    from webstrata.records import BudgetState
    from webstrata.schedule.budget import DailyRate

_SHOWN_HOSTS = 3
_MOST_PAGES = 100_000
"""With more pages, counting the visits of each host takes longer than people wait for a status."""


async def budget_json(node: Node, store: Store, pages: int, now: float) -> dict[str, Any] | None:
    """The budget as JSON; None if none is set and the policy needs none."""
    from webstrata.schedule.registry import is_budgeted

    budget = node.budget()
    needs_budget = is_budgeted(node.settings.schedule.policy)
    if not needs_budget and not budget.is_set:
        return None
    total = node.total_rate()
    states = {state.name: state for state in await store.budgets.states()}
    today = await store.maintenance.host_days(since_day=int(now // DAY_S))
    boosts = [boost for boost in await store.budgets.boosts() if boost.until > now]
    demand = await limit_demand_of(node, store)
    parts = [("all", total), *((f"tag:{tag}", rate) for tag, rate in budget.tags.items())]
    parts += [(f"host:{host}", rate) for host, rate in budget.hosts.items()]
    spent = {"visits": sum(day.visits for day in today), "bytes": sum(day.bytes for day in today)}
    return {
        "is_default": budget.total is None,
        "pages": pages,
        "spent_today": spent,
        "left_today": None if total is None else max(0.0, total.per_day(pages) - spent[total.unit]),
        "budgets": [_budget(name, rate, pages, states) for name, rate in parts if rate is not None],
        "price": states["all"].price if "all" in states else None,
        "boosts": [{"tag": boost.tag, "factor": boost.factor, "until": iso_or_none(boost.until)} for boost in boosts],
        "limit_demand": limit_demand_json(demand),
        "busiest_hosts": await _busiest_hosts(store, _visits_a_day(total, pages)) if pages <= _MOST_PAGES else [],
    }


def _visits_a_day(total: DailyRate | None, pages: int) -> float:
    """What the total budget pays for; infinite without one, or if it is in bytes."""
    return total.per_day(pages) if total is not None and total.unit == "visits" else math.inf


def within_budget(visits_per_day: float, status: dict[str, Any] | None) -> float:
    """The visits a day of the present intervals, as far as the total budget (of `budget_json`) pays for them."""
    totals = (
        [] if status is None else [one for one in status["budgets"] if (one["name"], one["unit"]) == ("all", "visits")]
    )
    return min([visits_per_day, *(float(one["per_day"]) for one in totals)])


async def _busiest_hosts(store: Store, most: float) -> list[dict[str, Any]]:
    """The hosts with most visits a day at the present intervals, and the mean time between two visits. If the intervals
    ask for more than `most` visits of all hosts, each gets its share of these."""
    demand = await store.visit_log.demand()
    share = min(1.0, most / max(sum(per_day for _, _, _, per_day in demand), 1e-9))
    return [
        {"host": host, "visits_per_day": round(share * per_day, 2), "gap_s": round(DAY_S / (share * per_day), 1)}
        for host, _, _, per_day in sorted(demand, key=lambda host: -host[3])[:_SHOWN_HOSTS]
        if share * per_day > 0
    ]


def _budget(name: str, rate: DailyRate, pages: int, states: dict[str, BudgetState]) -> dict[str, Any]:
    whole = name == "all" or not rate.per_page
    return {
        "name": name,
        "unit": rate.unit,
        "per_page": rate.per_page,
        "per_day": rate.per_day(pages) if whole else rate.amount,
        "saved": round(states[name].credit, 3) if name in states else None,
    }


def budget_lines(status: dict[str, Any]) -> list[str]:
    """The result of `budget_json` as lines of text."""
    lines = []
    for budget in status["budgets"]:
        amount = size(budget["per_day"]) if budget["unit"] == "bytes" else counted(f"{budget['per_day']:g}", "visit")
        of = "" if budget["name"] == "all" else f" for {printable(budget['name'])}"
        each = " of each page" if budget["per_page"] and budget["name"] != "all" else ""
        why = (
            f", {_default(status['pages'], budget['per_day'])}"
            if budget["name"] == "all" and status["is_default"]
            else ""
        )
        lines.append(f"{amount} a day{of}{each}{why}{_saved(budget)}")
    spent, left = status["spent_today"], status["left_today"]
    line = f"{counted(spent['visits'], 'visit')} and {size(spent['bytes'])} today"
    total = next((budget for budget in status["budgets"] if budget["name"] == "all"), None)
    if left is not None and total is not None:
        line += f", {size(left) if total['unit'] == 'bytes' else counted(f'{left:.0f}', 'visit')} left"
    if status["price"] is not None:
        line += f"; pages are visited from a value of {status['price']:.2g} on"
    lines.append(line)
    lines += [
        f"{printable(boost['tag'])} boosted {counted(format(boost['factor'], 'g'), 'time')} until {boost['until']}"
        for boost in status["boosts"]
    ]
    for host in status["busiest_hosts"]:
        visits = f"{counted(format(host['visits_per_day'], '.3g'), 'visit')} a day, one every {span(host['gap_s'])}"
        lines.append(f"{printable(host['host'])}: {visits}")
    lines += limit_demand_lines(status["limit_demand"])
    return lines


def _default(pages: int, per_day: float) -> str:
    """What the default buys."""
    return f"the default for {counted(pages, 'page')} ({per_day / max(pages, 1):.3g} a day of each on average)"


def _saved(budget: dict[str, Any]) -> str:
    if budget["saved"] is None:
        return ""
    amount = size(abs(budget["saved"])) if budget["unit"] == "bytes" else f"{abs(budget['saved']):.1f} visits"
    return f", {amount} {'saved' if budget['saved'] >= 0 else 'owed'}"
