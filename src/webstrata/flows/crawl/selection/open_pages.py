"""Due pages whose visit windows are open. The others are moved to their next window, with the reason for `why`.

Windows are also checked when a page is visited (`host_lanes`), since a long crawl may outlast them.
"""

from __future__ import annotations

from collections.abc import Sequence

from webstrata.ports import Store
from webstrata.records import DuePage, Page
from webstrata.schedule.visit_times import allowed_at, waits_for

Move = tuple[int, float, str]
"""(page id, new time of the visit, reason)"""


def open_pages(due: Sequence[DuePage], now: float) -> tuple[list[DuePage], list[Move]]:
    """Due pages that may be visited now, and moves of the others."""
    moves = [(page.id, at, waits_for(page, at)) for page in due if (at := allowed_at(page, now)) > now]
    closed = {id_ for id_, _, _ in moves}
    return [page for page in due if page.id not in closed], moves


async def claim_open(store: Store, now: float, limit: int, until: float, owner: str) -> list[Page]:
    """Lease the most overdue pages that may be visited now; at least one, if there is one."""
    while leased := await store.queue.claim(now, limit, until, owner):
        waiting = {page.id: at for page in leased if (at := allowed_at(page, now)) > now}
        if not waiting:
            return leased
        await store.queue.release(waiting.items())
        await store.queue.move(
            [(page.id, waiting[page.id], waits_for(page, waiting[page.id])) for page in leased if page.id in waiting]
        )
        if len(waiting) < len(leased):
            return [page for page in leased if page.id not in waiting]
    return []
