"""One visit: the page's handler gets its content, asking politely, until there is an answer or a reason why not."""

from __future__ import annotations

from collections.abc import Callable

from webstrata.flows.doorkeeper import PoliteClient
from webstrata.flows.polite import PoliteVisit
from webstrata.ports import Clock, Handler
from webstrata.records import Page, VisitResult, Wait

Choose = Callable[[Page], Handler]


async def visit(
    page: Page,
    *,
    door: PoliteClient,
    clock: Clock,
    max_redirects: int,
    patience_until: float,
    choose: Choose,
) -> VisitResult | Wait:
    """Visit a page by its handler; a `Wait` when its host cannot be visited before `patience_until`."""
    polite = PoliteVisit(door, clock, max_redirects=max_redirects, patience_until=patience_until)
    return await choose(page).visit(page, polite)
