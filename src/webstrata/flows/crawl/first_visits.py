"""First visits of pages that are known from copies in archives: their contents are compared with the last copy."""

from __future__ import annotations

from collections.abc import Sequence

from webstrata.flows.crawl.judge import JudgedVisit
from webstrata.flows.learn_copies import copy_changed
from webstrata.ports import Store
from webstrata.records import CopyRow
from webstrata.schedule.schedule import Schedule


async def copies_changed(judged: Sequence[JudgedVisit], store: Store, schedule: Schedule) -> dict[int, bool]:
    """By page id: whether the content of a first visit differs from the last copy, of pages whose copies were learned.
    Contents that cannot be compared are left out."""
    first = [
        verdict
        for verdict in judged
        if verdict.parsed is not None and verdict.change is not None and schedule.is_learned(verdict.result.page)
    ]
    if not first:
        return {}
    latest = await store.copies.latest([verdict.result.page.id for verdict in first])
    found = {id_: _differs(verdict, latest[id_]) for verdict in first if (id_ := verdict.result.page.id) in latest}
    return {id_: differs for id_, differs in found.items() if differs is not None}


def _differs(verdict: JudgedVisit, copy: CopyRow) -> bool | None:
    """Whether the content of a visit differs from a copy; None if they cannot be compared."""
    parsed, response = verdict.parsed, verdict.result.answer
    if parsed is None or response is None:
        return None
    coding = "" if verdict.result.content is not None else response.header("content-encoding") or ""
    return copy_changed(copy, parsed.fingerprint.text or "", parsed.payload, coding)
