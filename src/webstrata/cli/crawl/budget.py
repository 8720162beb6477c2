"""The budget in the output of `status`: rates, spending of today, credit, price and boosts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from webstrata.cli.output import iso_or_none, printable, size
from webstrata.clock import DAY_S

if TYPE_CHECKING:
    from webstrata.node import Node
    from webstrata.ports import Store
    from webstrata.records import BudgetState
    from webstrata.schedule.budget import DailyRate


async def budget_json(node: Node, store: Store, pages: int, now: float) -> dict[str, Any] | None:
    """The budget as JSON; None if none is set and the policy needs none."""
    from webstrata.schedule.budget import ONE_A_DAY
    from webstrata.schedule.registry import is_budgeted

    budget = node.budget()
    needs_budget = is_budgeted(node.settings.schedule.policy)
    if not needs_budget and not budget.is_set:
        return None
    total = budget.total or (ONE_A_DAY if needs_budget else None)
    states = {state.name: state for state in await store.budgets.states()}
    today = await store.maintenance.host_days(since_day=int(now // DAY_S))
    boosts = [boost for boost in await store.budgets.boosts() if boost.until > now]
    parts = [("all", total), *((f"tag:{tag}", rate) for tag, rate in budget.tags.items())]
    parts += [(f"host:{host}", rate) for host, rate in budget.hosts.items()]
    spent = {"visits": sum(day.visits for day in today), "bytes": sum(day.bytes for day in today)}
    return {
        "is_default": budget.total is None,
        "spent_today": spent,
        "left_today": None if total is None else max(0.0, total.per_day(pages) - spent[total.unit]),
        "budgets": [_budget(name, rate, pages, states) for name, rate in parts if rate is not None],
        "price": states["all"].price if "all" in states else None,
        "boosts": [{"tag": boost.tag, "factor": boost.factor, "until": iso_or_none(boost.until)} for boost in boosts],
    }


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
        amount = size(budget["per_day"]) if budget["unit"] == "bytes" else f"{budget['per_day']:g} visits"
        of = "" if budget["name"] == "all" else f" for {printable(budget['name'])}"
        each = " of each page" if budget["per_page"] and budget["name"] != "all" else ""
        why = ", one per page: no budget is set" if budget["name"] == "all" and status["is_default"] else ""
        lines.append(f"{amount} a day{of}{each}{why}{_saved(budget)}")
    spent, left = status["spent_today"], status["left_today"]
    line = f"{spent['visits']} visits and {size(spent['bytes'])} today"
    total = next((budget for budget in status["budgets"] if budget["name"] == "all"), None)
    if left is not None and total is not None:
        line += f", {size(left) if total['unit'] == 'bytes' else f'{left:.0f} visits'} left"
    if status["price"] is not None:
        line += f"; pages are visited from a value of {status['price']:.2g} on"
    lines.append(line)
    lines += [
        f"{printable(boost['tag'])} boosted {boost['factor']:g} times until {boost['until']}"
        for boost in status["boosts"]
    ]
    return lines


def _saved(budget: dict[str, Any]) -> str:
    if budget["saved"] is None:
        return ""
    amount = size(abs(budget["saved"])) if budget["unit"] == "bytes" else f"{abs(budget['saved']):.1f} visits"
    return f", {amount} {'saved' if budget['saved'] >= 0 else 'owed'}"
