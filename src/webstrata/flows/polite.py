"""Asking politely, as often as one visit needs: permit, request, and again for every redirect."""

from __future__ import annotations

from webstrata import urls
from webstrata.detect.answer import StatusClass, status_class
from webstrata.flows.doorkeeper import PoliteClient
from webstrata.ports import Clock
from webstrata.records import Exchange, Failure, FailureKind, FetchResult, Permit, PostBody, Refusal, Validators, Wait

_MARGIN_S = 1.0
"""For what other hosts at the address may take of the gap."""
_KEEPS_METHOD = (307, 308)


class PoliteVisit:
    """The `Polite` of one visit."""

    def __init__(self, door: PoliteClient, clock: Clock, *, max_redirects: int, patience_until: float) -> None:
        self._door = door
        self._clock = clock
        self._max_redirects = max_redirects
        self._patience_until = patience_until
        self._asked = False

    def now(self) -> float:
        return self._clock.now()

    async def get(self, url: str, *, accept: str, validators: Validators | None = None) -> FetchResult | Wait:
        """Ask for a URL and follow its redirects."""
        return await self._follow(url, accept, validators, None)

    async def post(self, url: str, posted: PostBody, *, accept: str) -> FetchResult | Wait:
        """Ask a question that is too long for a URL. A redirect that keeps the method is followed with it."""
        return await self._follow(url, accept, None, posted)

    async def _follow(
        self, url: str, accept: str, validators: Validators | None, posted: PostBody | None
    ) -> FetchResult | Wait:
        seen = {url}
        exchanges: list[Exchange] = []
        while True:
            permit = await self._permit(url)
            if not isinstance(permit, Permit):
                return permit if isinstance(permit, Wait) else _ended(exchanges, permit)
            exchange = await self._door.fetch(permit, accept=accept, validators=validators, posted=posted)
            exchanges.append(exchange)
            if exchange.failure is not None or status_class(exchange.status or 0) is not StatusClass.REDIRECT:
                return FetchResult(exchanges=tuple(exchanges), failure=exchange.failure)
            target = urls.join(url, exchange.header("location") or "")
            problem = _redirect_problem(target, seen, len(exchanges), self._max_redirects)
            if target is None or problem:
                return _ended(exchanges, FetchResult(failure=Failure(kind=FailureKind.REDIRECTS, detail=problem)))
            # Validators belong to the URL that was asked for: a redirect's target may be another resource.
            validators = None
            if exchange.status not in _KEEPS_METHOD:
                posted = None
            url = target
            seen.add(url)

    async def _permit(self, url: str) -> Permit | Wait | FetchResult:
        """Leave to ask; a `Wait` only before the visit's first request."""
        # Once the page's host was asked, the usual gap is waited for even past the end of the round.
        patience = self._patience_until
        if self._asked:
            patience = max(patience, self._clock.now() + self._door.gap_s(url) + _MARGIN_S)
        permit = await self._door.permit(url, patience)
        if isinstance(permit, Permit):
            self._asked = True
            return permit
        if isinstance(permit, Failure):
            return FetchResult(failure=permit)
        if isinstance(permit, Refusal):
            return FetchResult(failure=Failure(kind=FailureKind.ROBOTS, detail=permit.why), again_at=permit.until)
        if not self._asked:
            return permit
        detail = f"led to {url}, which asks to wait: {permit.why}"
        return FetchResult(failure=Failure(kind=FailureKind.BACKOFF, detail=detail))


def _ended(exchanges: list[Exchange], why: FetchResult) -> FetchResult:
    return FetchResult(exchanges=tuple(exchanges), failure=why.failure, again_at=why.again_at)


def _redirect_problem(target: str | None, seen: set[str], hops: int, max_redirects: int) -> str:
    if target is None:
        return "redirected to something that is not an http or https address"
    if target in seen:
        return f"redirect loop at {target}"
    if hops > max_redirects:
        return f"more than {max_redirects} redirects"
    return ""
