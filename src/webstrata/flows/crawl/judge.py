"""The verdict on a visit (a change, or the reason why nothing can be compared), its log row, and the page after it."""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

from webstrata.detect.error_pages.blocks import blocked_by
from webstrata.detect.layers import deciding_layer
from webstrata.detect.learned_phrases import learned_phrases
from webstrata.detect.memory import PageMemory, memory_under_other_rules, pack, remember, unpack
from webstrata.detect.response_class import StatusClass, status_class
from webstrata.detect.template import SiteTemplate, TemplateOfPage, after_visit
from webstrata.detect.verdict import judge
from webstrata.flows.crawl.archive_entries import VisitPositions, is_conditional
from webstrata.flows.crawl.parse import ParsedContent
from webstrata.flows.crawl.previous_version import has_edited_rules
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
    requested_by,
    sendable_validator,
)
from webstrata.schedule.next_visit import NextVisit

_FAILED = {
    StatusClass.DENIED: FailureKind.DENIED,
    StatusClass.SERVER_ERROR: FailureKind.SERVER,
    StatusClass.BACKOFF: FailureKind.BACKOFF,
}
_MAX_LANGUAGES = 100
"""Characters of a list of languages."""
_TRUNCATED = {"disconnect": FailureKind.RESET, "time": FailureKind.TIMEOUT_TOTAL}


class JudgedVisit(Struct, frozen=True, kw_only=True):
    """A visit with its verdict: either a change (which may be "same") or a failure."""

    result: VisitResult
    parsed: ParsedContent | None = None
    change: Change | None = None
    failure: Failure | None = None
    memory: bytes = b""
    """What detection remembers of the page after this visit."""
    template: SiteTemplate | None = None
    """The template of the page's host after this visit; None if the visit says nothing about it."""
    learned: tuple[str, ...] = ()
    """What the visit taught about the page's noise."""


def judge_visit(
    result: VisitResult, parsed: ParsedContent | None, template: SiteTemplate, *, teaches: bool = False
) -> JudgedVisit:
    """Compare a visit with the page's last version; `template` is that of its host.

    `teaches`: the page's first version is added to the template.
    """
    page, response = result.page, result.answer
    failure = _failure(result, parsed)
    if failure is not None or response is None or response.status is None:
        return JudgedVisit(result=result, failure=failure, memory=page.memory)
    fingerprint = parsed.fingerprint if parsed is not None else None
    if status_class(response.status) is StatusClass.NOT_MODIFIED:
        fingerprint = page.fingerprint
    return _compare(result, response, parsed, fingerprint, template, teaches=teaches)


def _compare(
    result: VisitResult,
    response: Exchange,
    parsed: ParsedContent | None,
    fingerprint: Fingerprint | None,
    template: SiteTemplate,
    *,
    teaches: bool,
) -> JudgedVisit:
    page = result.page
    stored = unpack(page.memory, page.counted)
    before, memory, incomparable = _compared(page, parsed, stored)
    observation = Observation(
        url=page.url,
        at=result.at,
        status=response.status or 0,
        fingerprint=fingerprint,
        lines=parsed.lines if parsed is not None else b"",
        link_hashes=parsed.link_hashes if parsed is not None else b"",
        excerpts=parsed.excerpts if parsed is not None else {},
        products=parsed.products if parsed is not None else {},
        address=response.url if response.url != page.url and result.content is None else "",
        negotiated=result.content is not None or _varies(response, "accept"),
        language=_language(response),
    )
    has_runs = bool(memory.runs and observation.lines)
    view = TemplateOfPage(template, page.id, is_taught=memory.taught) if template.is_usable and has_runs else None
    change = judge(
        before,
        page.gone,
        observation,
        page_rules=page.page_rules,
        memory=memory,
        template=view,
        incomparable=incomparable,
    )
    after = remember(memory, before, observation, change)
    if parsed is not None and after.request != (request := requested_by(page.page_rules)):
        after = replace(after, request=request)
    if fingerprint is not None and fingerprint.parts is not None and fingerprint.selected is None and not incomparable:
        template = after_visit(template, page.id, memory, observation.lines, result.at)
    after = replace(after, taught=True) if teaches else after
    packed = page.memory if after is stored else pack(after)
    has_layer = page.page_rules is not None and page.page_rules.has_layer
    learned = learned_phrases(memory.noise, after.noise, page.url, with_stamps=has_layer) if after.noise else ()
    return JudgedVisit(result=result, parsed=parsed, change=change, memory=packed, template=template, learned=learned)


_OTHER_REQUEST = "the rules of the page request another content than before; the next visit is compared with it"
_UNREADABLE = (
    "the rules of the page were edited, and its last version cannot be read to compare it under the new rules; "
    "the next visit is compared with this one"
)


def _compared(
    page: Page, parsed: ParsedContent | None, memory: PageMemory
) -> tuple[Fingerprint | None, PageMemory, str]:
    """(Fingerprint and memory of the last version under the present rules; why it cannot be compared, or empty)."""
    before = page.fingerprint
    if before is None or parsed is None:
        return before, memory, ""
    incomparable = _OTHER_REQUEST if memory.request != requested_by(page.page_rules) else ""
    past = parsed.past
    if has_edited_rules(page):
        if before.raw == parsed.fingerprint.raw:
            before = parsed.fingerprint
        elif past is not None:
            before = past.fingerprint
        else:
            return before, memory_under_other_rules(memory, None), incomparable or _UNREADABLE
        memory = memory_under_other_rules(memory, before, deciding_layer(before, page.page_rules))
    if past is not None:
        at = page.last_seen_at or 0.0
        memory = replace(memory, runs=past.lines, products=past.products, at=at)
    return before, memory, incomparable


def _varies(response: Exchange, header: str) -> bool:
    """Whether the response depends on this request header."""
    return any(name in (header, "*") for name in _list_values(response, "vary"))


def _language(response: Exchange) -> str:
    """The language of the response, if the server chose it by the Accept-Language header."""
    if not _varies(response, "accept-language"):
        return ""
    return ",".join(sorted(_list_values(response, "content-language")))[:_MAX_LANGUAGES]


def _list_values(response: Exchange, header: str) -> list[str]:
    values = ",".join(value for name, value in response.headers if name == header).lower()
    return [value.strip() for value in values.split(",") if value.strip()]


def _failure(result: VisitResult, parsed: ParsedContent | None) -> Failure | None:
    """Why there is nothing to compare; none if there is something."""
    response = result.answer
    if result.failure is not None:
        return result.failure
    if response is None or response.status is None:
        return Failure(kind=FailureKind.INTERNAL, detail="there is neither a response nor a failure")
    if response.truncated in _TRUNCATED and result.content is None:
        # An incomplete page is archived, but is not a version to compare.
        return Failure(kind=_TRUNCATED[response.truncated], detail="the response is incomplete")
    if parsed is not None and parsed.torn:
        return Failure(kind=FailureKind.MALFORMED, detail=f"the content cannot be decoded: {parsed.problem}")
    if parsed is not None and parsed.error_page is not None:
        return parsed.error_page
    kind = status_class(response.status)
    if kind is StatusClass.NOT_MODIFIED:
        page = result.page
        if page.fingerprint is not None and page.payload is not None and is_conditional(response):
            return None
        detail = "304, but no copy is held; the next request is unconditional"
        return Failure(kind=FailureKind.NO_ORIGINAL, detail=detail)
    if kind not in (StatusClass.CONTENT, StatusClass.GONE):
        return Failure(kind=_FAILED.get(kind, FailureKind.DENIED), detail=_status_detail(response))
    return None


def _status_detail(response: Exchange) -> str:
    """The status, and the service that blocks crawlers if the headers name one."""
    service = blocked_by(dict(response.headers))
    return f"status {response.status}" if service is None else f"status {response.status}: {service}"


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


def finished_visit(judged: JudgedVisit, next_visit: NextVisit | None, positions: VisitPositions) -> FinishedVisit:
    """The log row of a visit, and the page after it."""
    result, parsed, change, response = judged.result, judged.parsed, judged.change, judged.result.answer
    fingerprint = parsed.fingerprint if parsed is not None else None
    if fingerprint is None and change is not None and response is not None and response.status == 304:
        fingerprint = result.page.fingerprint
    payload = parsed.payload if parsed is not None else None
    if payload is None and fingerprint is not None:
        payload = result.page.payload
    visit = Visit(
        page_id=result.page.id,
        url=result.page.url,
        at=result.at,
        outcome=change.outcome if change is not None else Outcome.ERROR,
        status=response.status if response is not None else None,
        failure=judged.failure,
        raw_changed=change.raw if change is not None else False,
        counts=change.counts if change is not None else False,
        kind=change.kind if change is not None else ChangeKind.ERROR,
        significance=change.significance if change is not None else 0.0,
        reasons=change.reasons if change is not None else (),
        product_values=change.product_values if change is not None else (),
        reverted=change.reverted if change is not None else False,
        new_links=change.new_links if change is not None else 0,
        learned=judged.learned,
        duration_s=sum(exchange.duration_s for exchange in result.exchanges),
        bytes=sum(exchange.body_bytes for exchange in result.exchanges),
        headers={name: value for name, value in response.headers if name in KEPT_HEADERS} if response else {},
        raw=fingerprint.raw if fingerprint is not None else None,
        text=fingerprint.text if fingerprint is not None else None,
        payload=payload,
        truncated=response.truncated if response is not None else None,
        position=_content_position(result, positions),
        hops=_hops(result, positions),
    )
    return FinishedVisit(visit=visit, page=_page_after(judged, visit, next_visit))


def _content_position(result: VisitResult, positions: VisitPositions) -> Position | None:
    if result.content is not None:
        return positions.content
    return positions.exchanges[result.main] if result.exchanges else None


def _hops(result: VisitResult, positions: VisitPositions) -> tuple[Hop, ...]:
    """The exchanges other than the one that is the page's content."""
    content_index = None if result.content is not None or not result.exchanges else result.main % len(result.exchanges)
    return tuple(
        Hop(url=exchange.url, status=exchange.status, position=position)
        for index, (exchange, position) in enumerate(zip(result.exchanges, positions.exchanges, strict=True))
        if index != content_index
    )


def download_size(judged: JudgedVisit) -> tuple[int | None, bool]:
    """`full_bytes` and `answers_304` of the page after the visit."""
    page, response = judged.result.page, judged.result.answer
    if judged.change is None or response is None:
        return page.full_bytes, page.answers_304
    if response.status == 304:
        return page.full_bytes, True
    if judged.parsed is None:
        return page.full_bytes, page.answers_304
    size = sum(exchange.body_bytes for exchange in judged.result.exchanges)
    # The same content in full, although the request was conditional: the server ignores conditions.
    ignored = page.validators is not None and not judged.change.raw
    return size, page.answers_304 and not ignored


def _page_after(judged: JudgedVisit, visit: Visit, next_visit: NextVisit | None) -> Page:
    page, parsed, change = judged.result.page, judged.parsed, judged.change
    page = replace(
        page,
        visits=page.visits + 1,
        last_visit_at=visit.at,
        last_outcome=visit.outcome,
        failures=page.failures + 1 if judged.failure is not None else 0,
        next_at=next_visit.next_at if next_visit is not None else None,
        interval_s=next_visit.interval_s if next_visit is not None else None,
        policy=next_visit.policy if next_visit is not None else None,
        policy_state=next_visit.policy_state if next_visit is not None else b"",
        reason=next_visit.reason if next_visit is not None else "visited with its page",
        memory=judged.memory,
    )
    if change is None:
        forget = judged.failure is not None and judged.failure.kind is FailureKind.NO_ORIGINAL
        return replace(page, etag=None, last_modified=None) if forget else page
    full_bytes, answers_304 = download_size(judged)
    page = replace(
        page,
        full_bytes=full_bytes,
        answers_304=answers_304,
        last_seen_at=visit.at,
        changes=page.changes + change.counts,
        last_change_at=visit.at if change.counts else page.last_change_at,
        gone=visit.outcome is Outcome.GONE or (page.gone and visit.raw is None),
    )
    if parsed is None:
        return page
    # Validators are kept only of a complete response of the page's own URL: a 304 response refers to that.
    is_direct = not visit.hops and visit.truncated is None
    return replace(
        page,
        fingerprint=parsed.fingerprint,
        payload=parsed.payload,
        etag=sendable_validator(visit.headers.get("etag")) if is_direct else None,
        last_modified=sendable_validator(visit.headers.get("last-modified")) if is_direct else None,
    )
