"""The verdict on a visit: a change (be it 'same'), or the reason why there is nothing to compare."""

from __future__ import annotations

from msgspec import Struct

from webstrata.detect.answer import Answer, read_answer
from webstrata.detect.verdict import judge
from webstrata.flows.look import Look
from webstrata.flows.visit import Visited
from webstrata.records import Change, Exchange, Failure, FailureKind, Observation

_FAILED = {
    Answer.DENIED: FailureKind.DENIED,
    Answer.SERVER_ERROR: FailureKind.SERVER,
    Answer.BACKOFF: FailureKind.BACKOFF,
}
_CUT_SHORT = {"disconnect": FailureKind.RESET, "time": FailureKind.TIMEOUT_TOTAL}


class Judged(Struct, frozen=True, kw_only=True):
    """A visit with its verdict: either a change (be it 'same') or a failure."""

    visited: Visited
    found: Look | None
    change: Change | None
    failure: Failure | None


def is_conditional(exchange: Exchange) -> bool:
    """Whether the request let the server answer 304; one that comes unasked stands for nothing."""
    return b"\r\nIf-" in exchange.request_head


def judged(visited: Visited, found: Look | None) -> Judged:
    page = visited.page
    failure = visited.failure
    answer = visited.exchanges[-1] if visited.exchanges else None
    if failure is not None or answer is None or answer.status is None:
        failure = failure or Failure(kind=FailureKind.INTERNAL, detail="no answer and no reason")
        return Judged(visited=visited, found=None, change=None, failure=failure)
    if answer.truncated in _CUT_SHORT:
        # Half a page is no version of it: kept in the archive, not compared.
        failure = Failure(kind=_CUT_SHORT[answer.truncated], detail="the answer broke off")
        return Judged(visited=visited, found=None, change=None, failure=failure)
    if found is not None and found.torn:
        failure = Failure(kind=FailureKind.MALFORMED, detail=f"the content cannot be decoded: {found.problem}")
        return Judged(visited=visited, found=None, change=None, failure=failure)
    kind = read_answer(answer.status)
    fingerprint = found.fingerprint if found is not None else None
    if kind is Answer.NOT_MODIFIED:
        if page.fingerprint is None or page.payload is None or not is_conditional(answer):
            failure = Failure(kind=FailureKind.NO_ORIGINAL, detail="304, but no copy is held; asking in full next time")
            return Judged(visited=visited, found=None, change=None, failure=failure)
        fingerprint = page.fingerprint
    elif kind not in (Answer.CONTENT, Answer.GONE):
        failure = Failure(kind=_FAILED.get(kind, FailureKind.DENIED), detail=f"status {answer.status}")
        return Judged(visited=visited, found=None, change=None, failure=failure)
    seen = Observation(url=page.url, at=visited.at, status=answer.status, fingerprint=fingerprint)
    change = judge(page.fingerprint, page.gone, seen)
    return Judged(visited=visited, found=found, change=change, failure=None)
