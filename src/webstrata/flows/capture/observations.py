"""`visit_observations`: everything that one visit of a capture observed, as observations of the URLs that it requested.

Every exchange is an observation of its own URL: redirects on the way, files that a browser loaded, failures. A request
that was refused before it was sent (by robots.txt, or because there was no connection) is an observation as well.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from msgspec import Struct
from msgspec.structs import replace

from webstrata import urls
from webstrata.detect.response_class import StatusClass, status_class
from webstrata.flows.crawl.archive_entries import VisitPositions, is_conditional
from webstrata.flows.crawl.parse import ParsedContent, payload_digest
from webstrata.observe.visible import is_html
from webstrata.permit.backoff import parse_http_date
from webstrata.records import Exchange, Failure, FailureKind, Visit, VisitResult
from webstrata.sharp.proof.certificate import ObservedUrl
from webstrata.sharp.proof.page_observation import PageObservation

CACHE_HEADERS = ("X-Cache", "X-Cache-Status", "CF-Cache-Status", "X-Varnish-Cache", "X-Proxy-Cache", "Cache-Status")
"""Headers in which caches say whether they sent a stored copy."""
_AGE = re.compile(r"[0-9]{1,10}")


class ObservedVisit(Struct, frozen=True, kw_only=True):
    """A visit of a capture after it was archived."""

    result: VisitResult
    row: Visit
    positions: VisitPositions
    parsed: ParsedContent | None
    """The content of the visited page."""
    others: Mapping[int, ParsedContent] = {}
    """Exchange -> its content, for responses that are not the content of the visited page."""
    unanswered: tuple[Exchange, ...] = ()
    """Requests on kept connections that the server closed without an answer; they were sent once more."""
    previous: PageObservation | None = None
    """The observation of the same page to which a 304 response refers."""
    not_followed: bool = False
    """The last redirect leads to another page of the capture."""

    @property
    def answer(self) -> int | None:
        """The index of the exchange with the page's response."""
        return self.result.main % len(self.result.exchanges) if self.result.exchanges else None

    @property
    def is_rendered(self) -> bool:
        content = self.result.content
        return content is not None and content.url.startswith("urn:dom:")


def needs_layers(result: VisitResult) -> list[int]:
    """The exchanges with a content of their own, which is not that of the visited page."""
    has_own = result.content is None or result.content.url.startswith("urn:dom:")
    answer = result.main % len(result.exchanges) if result.exchanges and has_own else None
    return [
        index
        for index, exchange in enumerate(result.exchanges)
        if index != answer and _is_complete(exchange) and status_class(exchange.status or 0) is StatusClass.CONTENT
    ]


def visit_observations(visit: ObservedVisit) -> tuple[ObservedUrl, ...]:
    """The observations of a visit, in the order of its requests."""
    result = visit.result
    seen = [_of_url(exchange.url, _no_response(exchange, exchange.failure)) for exchange in visit.unanswered]
    seen += [_observed(visit, index) for index in range(len(result.exchanges))]
    last = result.exchanges[-1] if result.exchanges else None
    if result.failure is not None and (last is None or _leads_on(visit, last)):
        # The request that failed has no exchange: it was refused, or there was no connection.
        target = _target(last) if last is not None else result.page.url
        at = _rounded(last.at + last.duration_s if last is not None else result.at)
        if target is not None and result.failure.kind is not FailureKind.LOCAL:
            why = failure_text(result.failure)
            seen.append(_of_url(target, PageObservation(started=at, ended=at, kind="failure", why=why)))
    return tuple(seen)


def failure_text(failure: Failure) -> str:
    return f"{failure.kind}: {failure.detail}" if failure.detail else str(failure.kind)


def _leads_on(visit: ObservedVisit, last: Exchange) -> bool:
    """Whether the visit failed after this redirect, at its target."""
    failure = visit.result.failure
    is_redirect = last.failure is None and status_class(last.status or 0) is StatusClass.REDIRECT
    return is_redirect and failure is not None and failure.kind is not FailureKind.REDIRECTS


def _observed(visit: ObservedVisit, index: int) -> ObservedUrl:
    exchange = visit.result.exchanges[index]
    if not exchange.response_head or exchange.status is None:
        return _of_url(exchange.url, _no_response(exchange, exchange.failure or visit.result.failure))
    if status_class(exchange.status) is StatusClass.REDIRECT:
        return _of_url(exchange.url, _redirect(visit, index))
    if status_class(exchange.status) is StatusClass.GONE:
        return _of_url(exchange.url, _response(visit, index, kind="absent"))
    return _of_url(exchange.url, _content(visit, index))


def _no_response(exchange: Exchange, failure: Failure | None) -> PageObservation:
    why = failure_text(failure) if failure is not None else "no response"
    return _with_times(exchange, PageObservation(started=0, ended=0, kind="failure", why=why))


def _redirect(visit: ObservedVisit, index: int) -> PageObservation:
    exchange, failure = visit.result.exchanges[index], visit.result.failure
    target = _target(exchange)
    if exchange.failure is not None:
        return _response(visit, index, kind="error", why=failure_text(exchange.failure))
    if target is None or target == exchange.url:
        why = "it redirects to itself" if target else "it redirects without an http or https address"
        return _response(visit, index, kind="error", why=why)
    if failure is not None and failure.kind is FailureKind.REDIRECTS and not visit.not_followed:
        return _response(visit, index, kind="error", why=failure_text(failure))
    return _response(visit, index, kind="redirect", target=target)


def _content(visit: ObservedVisit, index: int) -> PageObservation:
    """The observation of a response that should be a content."""
    exchange, is_answer = visit.result.exchanges[index], index == visit.answer
    failure = exchange.failure or (visit.row.failure if is_answer else None)
    if failure is not None:
        return _response(visit, index, kind="error", why=failure_text(failure))
    if exchange.truncated is not None:
        why = f"the response was truncated ({exchange.truncated}), so its content is unknown"
        return _response(visit, index, kind="error", why=why)
    if exchange.status == 304 and is_answer and visit.previous is not None and is_conditional(exchange):
        return _unchanged(visit, index, visit.previous)
    if status_class(exchange.status or 0) is not StatusClass.CONTENT:
        return _response(visit, index, kind="error", why=f"status {exchange.status}")
    parsed = visit.others.get(index, visit.parsed if is_answer else None)
    layers = _layers(visit, index, parsed)
    if not layers:
        problem = parsed.problem if parsed is not None else "it was not parsed"
        return _response(visit, index, kind="error", why=f"the content cannot be compared: {problem}")
    shell = parsed is not None and parsed.layers.script_shell
    return _response(visit, index, kind="content", layers=layers, script_shell=shell)


def _layers(visit: ObservedVisit, index: int, parsed: ParsedContent | None) -> dict[str, str]:
    """The digests of the layers; none if the content could not be decoded or, being HTML, could not be parsed."""
    exchange, page = visit.result.exchanges[index], visit.result.page
    if parsed is None:
        return {}
    layers = dict(parsed.layers.digests)
    if not layers and not exchange.header("content-encoding") and not is_html(exchange.header("content-type") or ""):
        return {"raw": parsed.fingerprint.raw}
    if exchange.url != page.url and page.page_rules is not None:
        # The rules are those of the page that redirects here.
        layers = {name: digest for name, digest in layers.items() if name not in ("selected", "data")}
    return layers


def _unchanged(visit: ObservedVisit, index: int, previous: PageObservation) -> PageObservation:
    """The observation of a 304 response: the layers and the type are those of the original."""
    return _response(
        visit,
        index,
        kind="content",
        payload=previous.payload,
        content_type=previous.content_type,
        layers=dict(previous.layers),
        script_shell=previous.script_shell,
    )


def _response(visit: ObservedVisit, index: int, **fields: object) -> PageObservation:
    """An observation with what the response says about itself, and the given fields."""
    exchange = visit.result.exchanges[index]
    position = visit.positions.exchanges[index]
    rendered = visit.positions.content if visit.is_rendered and index == visit.answer else None
    views = visit.positions.extras if rendered is not None else ()
    parsed = visit.parsed if index == visit.answer and visit.result.content is None else None
    plain: dict[str, object] = {
        "status": exchange.status or 0,
        "record": position.record_id if position is not None else "",
        "payload": parsed.payload if parsed is not None else payload_digest(exchange.body),
        "content_type": exchange.header("content-type") or "",
        "rendered": rendered.record_id if rendered is not None else "",
        "view": views[0].record_id if views else "",
        "age_s": _age_s(exchange),
        "cache": _cache(exchange),
        "last_modified": _last_modified(exchange),
    }
    observation = PageObservation(started=0, ended=0, **(plain | fields))  # type: ignore[arg-type]
    return _with_times(exchange, observation, until=_rendered_until(visit) if rendered is not None else 0.0)


def _with_times(exchange: Exchange, observation: PageObservation, *, until: float = 0.0) -> PageObservation:
    ended = max(exchange.at + max(0.0, exchange.duration_s), until)
    return replace(observation, started=_rounded(exchange.at), ended=_rounded(ended))


def _rendered_until(visit: ObservedVisit) -> float:
    """The end of the last request of the browser: the DOM shows what was loaded up to then."""
    return max(exchange.at + exchange.duration_s for exchange in visit.result.exchanges)


def _rounded(at: float) -> float:
    """To microseconds, as in the certificate."""
    return round(at, 6)


def _of_url(url: str, observation: PageObservation) -> ObservedUrl:
    return ObservedUrl(url=url, observations=(observation,))


def _target(exchange: Exchange) -> str | None:
    location = exchange.header("location")
    return urls.join(exchange.url, location) if location else None


def _is_complete(exchange: Exchange) -> bool:
    return exchange.failure is None and exchange.truncated is None and bool(exchange.response_head)


def _age_s(exchange: Exchange) -> int | None:
    value = (exchange.header("age") or "").strip()
    return int(value) if _AGE.fullmatch(value) else None


def _cache(exchange: Exchange) -> str:
    """What caches say, in the order of `CACHE_HEADERS`."""
    found = [f"{name}: {value}" for name in CACHE_HEADERS for key, value in exchange.headers if key == name.lower()]
    return "; ".join(found)


def _last_modified(exchange: Exchange) -> float | None:
    value = exchange.header("last-modified")
    return parse_http_date(value) if value is not None else None
