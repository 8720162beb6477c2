"""What the budget buys, in plain words, for `status`, `why` and `plan`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from webstrata.cli.output import counted, size
from webstrata.clock import DAY_S, span

if TYPE_CHECKING:
    from webstrata.flows.budget_whatif import BudgetWhatIf
    from webstrata.node import Node
    from webstrata.ports import Store


async def budget_whatifs(node: Node, store: Store) -> list[BudgetWhatIf]:
    """The expected yield of the present budget, and of a fifth less and more; empty if no page was seen yet."""
    from webstrata.flows.budget_whatif import budget_whatif
    from webstrata.schedule.policy import Bounds

    schedule = node.settings.schedule
    bounds = Bounds(min_days=schedule.min_interval / DAY_S, max_days=schedule.max_interval / DAY_S)
    return await budget_whatif(store, node.schedule(), node.total_rate(), node.clock.now(), bounds)


def budget_buys(what_ifs: list[BudgetWhatIf]) -> dict[str, Any] | None:
    """The present budget: its yield as numbers, and as a sentence; None if no page was seen yet."""
    now = next((one for one in what_ifs if one.share == 1.0), None)
    if now is None:
        return None
    return {
        "pages": now.pages,
        "visits_per_day": round(now.visits_per_day, 3),
        "example_change_days": now.example_change_days,
        "example_seen_days": now.example_days,
        "median_interval_days": now.median_days,
        "captured_share": round(now.captured_per_day / max(now.changes_per_day, 1e-12), 4),
        "copies_up_to_date": round(now.freshness, 4),
        "text": _sentence(now),
    }


_OFTEN = {1.0: "daily", 7.0: "weekly", 30.0: "monthly", 365.0: "yearly"}


def _sentence(now: BudgetWhatIf) -> str:
    pages = f"{counted(now.pages, 'page')}"
    if now.visits_per_day <= 0:
        return f"no visits for {pages}: no change is captured. Set budget.total to more than 0"
    visits = f"{counted(_number(now.visits_per_day), 'visit')} a day for {pages}"
    if now.bytes_per_day is not None:
        visits = f"{size(now.bytes_per_day)} a day, about {visits}"
    if now.visits_per_day < 0.95 * now.budget_per_day:
        visits += f" (limits of intervals allow no more; the budget pays for {_number(now.budget_per_day)})"
    if now.example_days is not None:
        often = _OFTEN[now.example_change_days]
        seen = f"a page that changes {often} is seen about every {_days(now.example_days)}"
    else:
        seen = f"half of the pages are seen at least every {_days(now.median_days)}"
    captured = now.captured_per_day / max(now.changes_per_day, 1e-12)
    return f"{visits}: {seen}; about {captured:.0%} of changes are captured"


def _number(value: float) -> str:
    return f"{value:,.1f}" if value < 100 else f"{value:,.0f}"


def _days(days: float) -> str:
    if days >= 1.5:
        return f"{days:.0f} days"
    return span(round(days * 24) * 3600) if days >= 1 / 12 else span(max(round(days * DAY_S / 60), 1) * 60)
