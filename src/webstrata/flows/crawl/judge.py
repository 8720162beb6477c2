"""The verdict on a visit: a change (be it 'same'), or the reason why there is nothing to compare.

The log row of a judged visit, and the page as it is after it.
"""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

from webstrata.detect.memory import pack, remember, unpack
from webstrata.detect.response_class import StatusClass
from webstrata.detect.response_class import status_class
from webstrata.detect.verdict import judge
from webstrata.flows.crawl.parse import ParsedContent
from webstrata.records import (
    Change,
    ChangeKind,
    Exchange,
    Failure,
    FailureKind,
    Fingerprint,
    FinishedVisit,
    Hop,
    Observation,
    Outcome,
    Page,
    Position,
    Visit,
    VisitResult,
)
from webstrata.schedule.timer_schedule import NextVisit

_FAILED = {
    StatusClass.DENIED: FailureKind.DENIED,
    StatusClass.SERVER_ERROR: FailureKind.SERVER,
    StatusClass.BACKOFF: FailureKind.BACKOFF,
}
_LONGEST = 100
"""Characters of a list of languages."""
_CUT_SHORT = {"disconnect": FailureKind.RESET, "time": FailureKind.TIMEOUT_TOTAL}


class JudgedVisit(Struct, frozen=True, kw_only=True):
    """A visit with its verdict: either a change (be it 'same') or a failure."""

    visited: VisitResult
    found: ParsedContent | None = None
    change: Change | None = None
    failure: Failure | None = None
    memory: bytes = b""
    """What detection remembers of the page from now on."""


def is_conditional(exchange: Exchange) -> bool:
    """Whether the request let the server answer 304; one that comes unasked stands for nothing."""
    return b"\r\nIf-" in exchange.request_head


def judge_visit(visited: VisitResult, found: ParsedContent | None) -> JudgedVisit:
    page = visited.page
    failure = _failure(visited, found)
    if failure is not None:
        return JudgedVisit(visited=visited, failure=failure, memory=page.memory)
    answer = visited.answer
    assert answer is not None  # else there would be a failure
    assert answer.status is not None
    fingerprint = found.fingerprint if found is not None else None
    if status_class(answer.status) is StatusClass.NOT_MODIFIED:
        fingerprint = page.fingerprint
    return _compared(visited, answer, found, fingerprint)


def _compared(
    visited: VisitResult, answer: Exchange, found: ParsedContent | None, fingerprint: Fingerprint | None
) -> JudgedVisit:
    page = visited.page
    memory = unpack(page.memory, page.counted)
    if found is not None and found.past_lines:
        memory = replace(memory, runs=found.past_lines, at=page.last_seen_at or 0.0)
    seen = Observation(
        url=page.url,
        at=visited.at,
        status=answer.status or 0,
        fingerprint=fingerprint,
        lines=found.lines if found is not None else b"",
        link_hashes=found.link_hashes if found is not None else b"",
        excerpts=found.excerpts if found is not None else {},
        address=answer.url if answer.url != page.url and visited.content is None else "",
        negotiated=visited.content is not None or _varies(answer, "accept"),
        language=_language(answer),
    )
    change = judge(page.fingerprint, page.gone, seen, page_rules=page.page_rules, memory=memory)
    kept = remember(memory, page.fingerprint, seen, change)
    return JudgedVisit(
        visited=visited, found=found, change=change, memory=page.memory if kept is memory else pack(kept)
    )


def _varies(answer: Exchange, header: str) -> bool:
    """The server says that it would have answered another such header of ours with something else."""
    return any(name in (header, "*") for name in _listed(answer, "vary"))


def _language(answer: Exchange) -> str:
    """What the server chose among several languages."""
    return (
        ",".join(sorted(_listed(answer, "content-language")))[:_LONGEST] if _varies(answer, "accept-language") else ""
    )


def _listed(answer: Exchange, header: str) -> list[str]:
    values = ",".join(value for name, value in answer.headers if name == header).lower()
    return [one.strip() for one in values.split(",") if one.strip()]


def _failure(visited: VisitResult, found: ParsedContent | None) -> Failure | None:
    """Why there is nothing to compare."""
    answer = visited.answer
    if visited.failure is not None:
        return visited.failure
    if answer is None or answer.status is None:
        return Failure(kind=FailureKind.INTERNAL, detail="no answer and no reason")
    if answer.truncated in _CUT_SHORT and visited.content is None:
        # Half a page is no version of it: kept in the archive, not compared.
        return Failure(kind=_CUT_SHORT[answer.truncated], detail="the answer broke off")
    if found is not None and found.torn:
        return Failure(kind=FailureKind.MALFORMED, detail=f"the content cannot be decoded: {found.problem}")
    if found is not None and found.error_page is not None:
        return found.error_page
    kind = status_class(answer.status)
    if kind is StatusClass.NOT_MODIFIED:
        return _without_copy(visited.page, answer)
    if kind not in (StatusClass.CONTENT, StatusClass.GONE):
        return Failure(kind=_FAILED.get(kind, FailureKind.DENIED), detail=f"status {answer.status}")
    return None


def _without_copy(page: Page, answer: Exchange) -> Failure | None:
    if page.fingerprint is not None and page.payload is not None and is_conditional(answer):
        return None
    return Failure(kind=FailureKind.NO_ORIGINAL, detail="304, but no copy is held; asking in full next time")


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
