"""The log row of a judged visit, and the page as it is after it."""

from __future__ import annotations

from msgspec.structs import replace

from webstrata.flows.judged import JudgedVisit
from webstrata.flows.timetable import NextVisit
from webstrata.records import ChangeKind, FailureKind, FinishedVisit, Hop, Outcome, Page, Position, Visit, VisitResult

KEPT_HEADERS = frozenset(
    [
        "content-type",
        "content-length",
        "content-encoding",
        "content-language",
        "etag",
        "last-modified",
        "cache-control",
        "expires",
        "age",
        "date",
        "vary",
        "server",
        "link",
        "location",
        "retry-after",
        "x-robots-tag",
        "content-location",
    ]
)


def finished_visit(one: JudgedVisit, turn: NextVisit | None, positions: dict[int, Position]) -> FinishedVisit:
    """`positions` are those of exchanges and made contents, by their identity."""
    visited, change = one.visited, one.change
    answer = visited.answer
    fingerprint = one.found.fingerprint if one.found is not None else None
    if fingerprint is None and change is not None and answer is not None and answer.status == 304:
        fingerprint = visited.page.fingerprint
    payload = one.found.payload if one.found is not None else None
    if payload is None and fingerprint is not None:
        payload = visited.page.payload
    visit = Visit(
        page_id=visited.page.id,
        url=visited.page.url,
        at=visited.at,
        outcome=change.outcome if change is not None else Outcome.ERROR,
        status=answer.status if answer is not None else None,
        failure=one.failure,
        raw_changed=change.raw if change is not None else False,
        counts=change.counts if change is not None else False,
        kind=change.kind if change is not None else ChangeKind.ERROR,
        significance=change.significance if change is not None else 0.0,
        reasons=change.reasons if change is not None else (),
        reverted=change.reverted if change is not None else False,
        new_links=change.new_links if change is not None else 0,
        duration_s=sum(exchange.duration_s for exchange in visited.exchanges),
        bytes=sum(len(exchange.body) for exchange in visited.exchanges),
        headers={name: value for name, value in answer.headers if name in KEPT_HEADERS} if answer is not None else {},
        raw=fingerprint.raw if fingerprint is not None else None,
        text=fingerprint.text if fingerprint is not None else None,
        payload=payload,
        truncated=answer.truncated if answer is not None else None,
        position=positions.get(id(visited.content if visited.content is not None else answer)),
        hops=tuple(
            Hop(url=exchange.url, status=exchange.status, position=positions.get(id(exchange)))
            for exchange in visited.exchanges
            if exchange is not answer or visited.content is not None
        ),
    )
    return FinishedVisit(visit=visit, page=_page_after(visited, visit, one, turn))


def _page_after(visited: VisitResult, visit: Visit, one: JudgedVisit, turn: NextVisit | None) -> Page:
    page, change = visited.page, one.change
    page = replace(
        page,
        visits=page.visits + 1,
        last_visit_at=visit.at,
        last_outcome=visit.outcome,
        failures=page.failures + 1 if one.failure is not None else 0,
        next_at=turn.next_at if turn is not None else None,
        interval_s=turn.interval_s if turn is not None else None,
        policy=turn.policy if turn is not None else None,
        policy_state=turn.policy_state if turn is not None else b"",
        reason=turn.reason if turn is not None else "visited with its page",
        memory=one.memory,
    )
    if change is None:
        forget = one.failure is not None and one.failure.kind is FailureKind.NO_ORIGINAL
        return replace(page, etag=None, last_modified=None) if forget else page
    page = replace(
        page,
        last_seen_at=visit.at,
        changes=page.changes + change.counts,
        last_change_at=visit.at if change.counts else page.last_change_at,
        gone=visit.outcome is Outcome.GONE or (page.gone and visit.raw is None),
    )
    if one.found is None:
        return page
    # Only what a 304 may stand for: the page's own answer, held as a whole.
    direct = not visit.hops and visit.truncated is None
    return replace(
        page,
        fingerprint=one.found.fingerprint,
        payload=one.found.payload,
        etag=visit.headers.get("etag") if direct else None,
        last_modified=visit.headers.get("last-modified") if direct else None,
    )
