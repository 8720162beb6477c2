"""`PoliteVisit`: the requests of one visit, within its limits of time and number."""

from __future__ import annotations

import math
from collections.abc import Coroutine
from typing import Any

from webstrata import urls
from webstrata.detect.response_class import StatusClass, status_class
from webstrata.flows.crawl.requests.polite_client import PoliteClient
from webstrata.flows.crawl.requests.request_time import RequestTime
from webstrata.records import Exchange, Failure, FailureKind, FetchResult, PostBody, Refusal, Validators, Wait

_METHOD_KEPT = (307, 308)
"""Redirects that are followed with the method and body of the request."""
_GAP_MARGIN_S = 1.0
"""Added to a host's gap: other hosts at the same address may delay the request."""


class PoliteVisit:
    """The client of one visit (`ports.VisitClient`): its requests wait for permits and follow redirects.

    Only the visit's first request may end as a `Wait`, when its permit would come after `patience_until`.
    """

    def __init__(
        self,
        client: PoliteClient,
        *,
        patience_until: float,
        max_requests: float = math.inf,
        ends_at: float = math.inf,
        total_s: float = math.inf,
        large_bodies: bool = False,
    ) -> None:
        """The limits of the visit: `max_requests` in all, redirects included; no request waits or starts after
        `ends_at` (of the clock); the exchanges of one request and its redirects take `total_s` real seconds together.
        `large_bodies`: the caller can use bodies that are not in memory.
        """
        self._client = client
        self._patience_until = min(patience_until, ends_at)
        self._max_requests = max_requests
        self._ends_at = ends_at
        self._total_s = total_s
        self._large_bodies = large_bodies
        self._began_at = client.now()
        self._requests = 0
        self._open: RequestTime | None = None
        """Of the request that is waiting or open."""
        self.shifted_s = 0.0
        """By how much the clock was set during the visit."""

    def shift(self, seconds: float) -> None:
        """The clock was set by so much."""
        self.shifted_s += seconds
        self._patience_until += seconds
        self._ends_at += seconds
        self._began_at += seconds
        if self._open is not None:
            self._open.shift(seconds)

    @property
    def has_sent(self) -> bool:
        """A request of the visit left this machine."""
        return self._requests > 0 or (self._open is not None and self._open.has_sent)

    def now(self) -> float:
        return self._client.now()

    def get(
        self, url: str, *, accept: str, validators: Validators | None = None, large_body: bool = False
    ) -> Coroutine[Any, Any, FetchResult | Wait]:
        """Send a GET request and follow its redirects."""
        return self._request(url, accept, validators, None, large_body=large_body and self._large_bodies)

    def post(self, url: str, posted: PostBody, *, accept: str) -> Coroutine[Any, Any, FetchResult | Wait]:
        """Send a query that is too long for a URL. Redirects that keep the method (307, 308) are followed with it."""
        return self._request(url, accept, None, posted)

    def redirect_problem(self, target: str) -> str:
        """Why a redirect to `target` is not followed; empty if it is. For subclasses."""
        return ""

    async def _request(
        self,
        url: str,
        accept: str,
        validators: Validators | None,
        posted: PostBody | None,
        *,
        large_body: bool = False,
    ) -> FetchResult | Wait:
        requested = {url}
        exchanges: list[Exchange] = []
        time = RequestTime(began_at=self._began_at, total_s=self._total_s, ends_at=self._ends_at)
        self._open = time
        while True:
            result = await self._exchange(url, accept, validators, posted, time, large_body=large_body)
            if isinstance(result, Wait):
                return result
            if isinstance(result, FetchResult):
                return FetchResult(exchanges=tuple(exchanges), failure=result.failure, again_at=result.again_at)
            exchange = result
            exchanges.append(exchange)
            if exchange.failure is not None or status_class(exchange.status or 0) is not StatusClass.REDIRECT:
                return FetchResult(exchanges=tuple(exchanges), failure=exchange.failure)
            target = urls.join(url, exchange.header("location") or "")
            problem = self._redirect_problem(target, requested, len(exchanges))
            if target is None or problem:
                failure = Failure(kind=FailureKind.REDIRECTS, detail=problem)
                return FetchResult(exchanges=tuple(exchanges), failure=failure)
            # Validators belong to the requested URL: the target of a redirect may be another resource.
            validators = None
            if exchange.status not in _METHOD_KEPT:
                posted = None
            url = target
            requested.add(url)

    async def _exchange(
        self,
        url: str,
        accept: str,
        validators: Validators | None,
        posted: PostBody | None,
        time: RequestTime,
        *,
        large_body: bool,
    ) -> Exchange | Wait | FetchResult:
        """One exchange; a `Wait` only before the visit's first request; otherwise the failure of the visit."""
        if self._requests >= self._max_requests:
            return _failed(FailureKind.TIMEOUT_TOTAL, f"more than {self._max_requests:.0f} requests in one visit")
        if problem := time.problem(self.now()):
            return FetchResult(failure=problem)
        # After the first request, the host's usual gap is waited for even past the end of the round.
        patience_until = self._patience_until
        if self._requests:
            gap_ends_at = self.now() + self._client.gap_s(url) + _GAP_MARGIN_S
            patience_until = min(max(patience_until, gap_ends_at), self._ends_at)
        decision = await self._client.request(
            url,
            patience_until,
            accept=accept,
            validators=validators,
            posted=posted,
            time=time,
            large_body=large_body,
        )
        if isinstance(decision, Exchange):
            self._requests += 1
            return decision
        if isinstance(decision, Failure):
            return FetchResult(failure=decision)
        if isinstance(decision, Refusal):
            return FetchResult(failure=Failure(kind=FailureKind.ROBOTS, detail=decision.why), again_at=decision.until)
        if not self._requests:
            return decision
        if problem := time.problem(decision.until):
            return FetchResult(failure=problem)
        return _failed(FailureKind.BACKOFF, f"redirected to {url}, whose host requires a longer wait: {decision.why}")

    def _redirect_problem(self, target: str | None, requested: set[str], hops: int) -> str:
        if target is None:
            return "redirected to something that is not an http or https address"
        if target in requested:
            return f"redirect loop at {target}"
        if hops > self._client.max_redirects:
            return f"more than {self._client.max_redirects} redirects"
        return self.redirect_problem(target)


def _failed(kind: FailureKind, detail: str) -> FetchResult:
    return FetchResult(failure=Failure(kind=kind, detail=detail))
