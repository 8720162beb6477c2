"""How `status` tells of the budget: what is set, spent today, saved, and from which value on pages are visited."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from webstrata.cli.output import iso_or_none, printable, size
from webstrata.clock import DAY_S

if TYPE_CHECKING:
    from webstrata.node import Node
    from webstrata.ports import Store
    from webstrata.schedule.budget import DailyRate


async def budget_json(node: Node, store: Store, pages: int, now: float) -> dict[str, Any] | None:
    """None: no budget is set, and the policy needs none."""
    from webstrata.schedule.budget import ONE_A_DAY
    from webstrata.schedule.registry import is_budgeted

    budget = node.budget()
    shares = is_budgeted(node.settings.schedule.policy)
    if not shares and not budget.is_set:
        return None
    total = budget.total or (ONE_A_DAY if shares else None)
    paces = {pace.name: pace for pace in await store.budgets.states()}
    today = await store.maintenance.host_days(since_day=int(now // DAY_S))
    boosts = [boost for boost in await store.budgets.boosts() if boost.until > now]
    parts = [("all", total), *((f"tag:{tag}", rate) for tag, rate in budget.tags.items())]
    parts += [(f"host:{host}", rate) for host, rate in budget.hosts.items()]
    spent = {"visits": sum(day.visits for day in today), "bytes": sum(day.bytes for day in today)}
    return {
        "is_default": budget.total is None,
        "spent_today": spent,
        "left_today": None if total is None else max(0.0, total.per_day(pages) - spent[total.unit]),
        "budgets": [_one(name, rate, pages, paces) for name, rate in parts if rate is not None],
        "price": paces["threshold"].price if "threshold" in paces else None,
        "boosts": [{"tag": one.tag, "factor": one.factor, "until": iso_or_none(one.until)} for one in boosts],
    }


def _one(name: str, rate: DailyRate, pages: int, paces: dict[str, Any]) -> dict[str, Any]:
    whole = name == "all" or not rate.per_page
    return {
        "name": name,
        "unit": rate.unit,
        "per_page": rate.per_page,
        "per_day": rate.per_day(pages) if whole else rate.amount,
        "saved": round(paces[name].credit, 3) if name in paces else None,
    }


def spoken_budget(told: dict[str, Any]) -> list[str]:
    """For people, a line each."""
    lines = []
    for one in told["budgets"]:
        amount = size(one["per_day"]) if one["unit"] == "bytes" else f"{one['per_day']:g} visits"
        of = "" if one["name"] == "all" else f" for {printable(one['name'])}"
        each = " of each page" if one["per_page"] and one["name"] != "all" else ""
        why = ", one per page: no budget is set" if one["name"] == "all" and told["is_default"] else ""
        lines.append(f"{amount} a day{of}{each}{why}{_saved(one)}")
    spent, left = told["spent_today"], told["left_today"]
    said = f"{spent['visits']} visits and {size(spent['bytes'])} today"
    total = next((one for one in told["budgets"] if one["name"] == "all"), None)
    if left is not None and total is not None:
        said += f", {size(left) if total['unit'] == 'bytes' else f'{left:.0f} visits'} left"
    if told["price"] is not None:
        said += f"; pages are visited from a value of {told['price']:.2g} on"
    lines.append(said)
    lines += [f"{printable(one['tag'])} boosted {one['factor']:g} times until {one['until']}" for one in told["boosts"]]
    return lines


def _saved(one: dict[str, Any]) -> str:
    if one["saved"] is None:
        return ""
    amount = size(abs(one["saved"])) if one["unit"] == "bytes" else f"{abs(one['saved']):.1f} visits"
    return f", {amount} {'saved' if one['saved'] >= 0 else 'owed'}"
