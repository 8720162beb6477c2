"""One visit: permit, request, and again for every redirect, until there is an answer or a reason why not."""

from __future__ import annotations

from msgspec import Struct

from webstrata import urls
from webstrata.detect.answer import Answer, read_answer
from webstrata.flows.doorkeeper import Doorkeeper
from webstrata.ports import Clock
from webstrata.records import Exchange, Failure, FailureKind, Page, Refusal, Validators, Wait

ACCEPT = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"
_MARGIN_S = 1.0
"""For what other hosts at the address may take of the gap."""


class Visited(Struct, frozen=True, kw_only=True):
    """What came of a visit, not yet archived or judged."""

    page: Page
    at: float
    """Start of the visit's first request (or of its failure)."""
    exchanges: tuple[Exchange, ...] = ()
    """Redirects in order, then the answer."""
    failure: Failure | None = None
    again_at: float | None = None
    """When it makes sense to try again, where the host's owner said so."""


async def visit(
    page: Page, *, door: Doorkeeper, clock: Clock, max_redirects: int, patience_until: float
) -> Visited | Wait:
    """Visit a page, hop by hop; a `Wait` when its host cannot be visited before `patience_until`."""
    url = page.url
    seen = {url}
    exchanges: list[Exchange] = []
    while True:
        # Once the host was asked, the usual gap is waited for even past the end of the round.
        patience = max(patience_until, clock.now() + door.gap_s(url) + _MARGIN_S) if exchanges else patience_until
        permit = await door.permit(url, patience)
        if isinstance(permit, Wait):
            if not exchanges:
                return permit
            failure = Failure(kind=FailureKind.BACKOFF, detail=f"redirected to {url}, which asks to wait: {permit.why}")
            return _visited(page, exchanges, clock, failure)
        if isinstance(permit, Failure):
            return _visited(page, exchanges, clock, permit)
        if isinstance(permit, Refusal):
            refused = Failure(kind=FailureKind.ROBOTS, detail=permit.why)
            return _visited(page, exchanges, clock, refused, again_at=permit.until)
        # Validators belong to the page's own URL: a redirect's target may be another resource.
        validators = _validators(page) if not exchanges else None
        exchange = await door.fetch(permit, accept=ACCEPT, validators=validators)
        exchanges.append(exchange)
        if exchange.failure is not None or read_answer(exchange.status or 0) is not Answer.REDIRECT:
            return _visited(page, exchanges, clock, exchange.failure)
        target = urls.join(url, exchange.header("location") or "")
        problem = _redirect_problem(target, seen, len(exchanges), max_redirects)
        if target is None or problem:
            return _visited(page, exchanges, clock, Failure(kind=FailureKind.REDIRECTS, detail=problem))
        url = target
        seen.add(url)


def _visited(
    page: Page, exchanges: list[Exchange], clock: Clock, failure: Failure | None, again_at: float | None = None
) -> Visited:
    at = exchanges[0].at if exchanges else clock.now()
    return Visited(page=page, at=at, exchanges=tuple(exchanges), failure=failure, again_at=again_at)


def _validators(page: Page) -> Validators | None:
    """Only for content that we hold: a 304 must stand for something."""
    if page.payload is None or page.gone or not (page.etag or page.last_modified):
        return None
    return Validators(etag=page.etag, last_modified=page.last_modified)


def _redirect_problem(target: str | None, seen: set[str], hops: int, max_redirects: int) -> str:
    if target is None:
        return "redirected to something that is not an http or https address"
    if target in seen:
        return f"redirect loop at {target}"
    if hops > max_redirects:
        return f"more than {max_redirects} redirects"
    return ""
