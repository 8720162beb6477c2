"""`PoliteClient` and its visits: every request waits for a permit, and uses the permit at once.

The permit gate (pure) decides. The client does what the gate requires: it waits on the clock, resolves host names, and
fetches robots.txt once per origin, however many pages wait for it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, Protocol

from webstrata import urls
from webstrata.detect.response_class import StatusClass, status_class
from webstrata.permit.gate import PermitGate
from webstrata.permit.robots_cache import RobotsResponse, robots_step, robots_url
from webstrata.ports import Clock, Handler, Web
from webstrata.records import (
    Exchange,
    Failure,
    FailureKind,
    FetchResult,
    NeedRobots,
    Page,
    Permit,
    PostBody,
    Refusal,
    RobotsState,
    Validators,
    Wait,
)

ChooseHandler = Callable[[Page], Handler]
"""Returns the handler of a page."""

_ACCEPT_ROBOTS = "text/plain, */*;q=0.5"
_CANCELLED = Failure(kind=FailureKind.INTERNAL, detail="cancelled before the response arrived")
_METHOD_KEPT = (307, 308)
"""Redirects that are followed with the method and body of the request."""
_GAP_MARGIN_S = 1.0
"""Added to a host's gap: other hosts at the same address may delay the request."""


class RobotsLog(Protocol):
    """Receives the exchanges of robots.txt requests, which belong to no visit, for the archive."""

    def add_robots(self, exchange: Exchange) -> None: ...


class PoliteClient:
    """Sends all requests of a round. Its visits share the permits, the robots.txt files and the limit on open requests.

    At most `max_requests` requests are open at a time. The gate is asked only when a request can be sent: a permit that
    had to wait for another request to end would be used later than granted, and too soon before the next one.
    """

    def __init__(
        self,
        web: Web,
        gate: PermitGate,
        clock: Clock,
        *,
        robots_log: RobotsLog | None = None,
        max_redirects: int = 10,
        max_requests: int = 64,
    ) -> None:
        """Without a `robots_log` the exchanges of robots.txt requests are dropped."""
        self._web = web
        self._gate = gate
        self._clock = clock
        self._robots_log = robots_log
        self.max_redirects = max_redirects
        self._free_requests = asyncio.Semaphore(max_requests)
        self._robots_tasks: dict[str, asyncio.Task[Wait | None]] = {}

    def now(self) -> float:
        return self._clock.now()

    def gap_s(self, url: str) -> float:
        """The time that the host of `url` requires between two requests."""
        return self._gate.gap_s(url)

    async def close(self) -> None:
        """Cancel requests for robots.txt for which no visit waits any more."""
        tasks = list(self._robots_tasks.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def permit(
        self, url: str, patience_until: float, *, robots_of: str | None = None
    ) -> Permit | Failure | Wait | Refusal:
        """Wait for a permit; use it at once with `send`. Returns a `Wait` if it would come after `patience_until`.

        `robots_of`: the origin whose robots.txt is requested from `url`; the request needs no robots.txt itself.
        """
        resolved = await self._web.resolve(urls.host_of(url), urls.port_of(url))
        if isinstance(resolved, Failure):
            return resolved
        while True:
            await self._free_requests.acquire()
            now = self._clock.now()
            if robots_of is None:
                decision = self._gate.request(url, *resolved, now)
            else:
                decision = self._gate.request_robots(robots_of, *resolved, now, url=url)
            if isinstance(decision, Permit):
                return decision
            self._free_requests.release()
            if isinstance(decision, NeedRobots):
                wait = await self._fetch_robots_once(decision.origin, patience_until)
                if wait is not None:
                    return wait
            elif isinstance(decision, Wait) and decision.until <= patience_until:
                await self._clock.sleep_until(decision.until)
            else:
                return decision

    async def send(
        self, permit: Permit, *, accept: str, validators: Validators | None = None, posted: PostBody | None = None
    ) -> Exchange:
        """Send the request of a permit. The gate learns of its end, even if the request is cancelled."""
        exchange = Exchange(url=permit.url, at=self._clock.now(), duration_s=0.0, request_head=b"", failure=_CANCELLED)
        try:
            exchange = await self._web.fetch(permit, accept=accept, validators=validators, posted=posted)
        finally:
            self._free_requests.release()
            self._gate.finished(permit, exchange, self._clock.now())
        return exchange

    # ── robots.txt ──────────────────────────────────────────────────────────────────────────────────────────────

    async def learn_robots(self, url: str, patience_until: float) -> None:
        """Fetch the robots.txt of the origin of `url` unless it is known."""
        _, is_needed, _ = self._gate.constraints(url, self._clock.now())
        if is_needed:
            await self._fetch_robots_once(urls.origin(url), patience_until)

    async def _fetch_robots_once(self, origin: str, patience_until: float) -> Wait | None:
        """Fetch robots.txt in a task that all visits of the origin await."""
        task = self._robots_tasks.get(origin)
        if task is None:
            task = asyncio.create_task(self._fetch_robots(origin, patience_until))
            self._robots_tasks[origin] = task
            task.add_done_callback(lambda _: self._robots_tasks.pop(origin, None))
        return await asyncio.shield(task)

    async def _fetch_robots(self, origin: str, patience_until: float) -> Wait | None:
        url, hops = robots_url(origin), 0
        while True:
            permit = await self.permit(url, patience_until, robots_of=origin)
            if isinstance(permit, Wait):
                return permit
            assert not isinstance(permit, Refusal)  # a request for robots.txt needs no rules
            exchange = permit if isinstance(permit, Failure) else await self._robots_exchange(permit)
            step = robots_step(exchange, url=url, hops=hops)
            if isinstance(step, RobotsResponse):
                break
            url, hops = step, hops + 1
        state = RobotsState(origin=origin, at=self._clock.now(), status=step.status, body=step.body)
        self._gate.learn_robots(origin, state)
        return None

    async def _robots_exchange(self, permit: Permit) -> Exchange:
        exchange = await self.send(permit, accept=_ACCEPT_ROBOTS)
        if self._robots_log is not None:
            self._robots_log.add_robots(exchange)
        return exchange


class PoliteVisit:
    """The client of one visit (`ports.VisitClient`): its requests wait for permits and follow redirects.

    Only the visit's first request may end as a `Wait`, when its permit would come after `patience_until`.
    """

    def __init__(self, client: PoliteClient, *, patience_until: float) -> None:
        self._client = client
        self._patience_until = patience_until
        self._has_sent = False

    def now(self) -> float:
        return self._client.now()

    def get(
        self, url: str, *, accept: str, validators: Validators | None = None
    ) -> Coroutine[Any, Any, FetchResult | Wait]:
        """Send a GET request and follow its redirects."""
        return self._request(url, accept, validators, None)

    def post(self, url: str, posted: PostBody, *, accept: str) -> Coroutine[Any, Any, FetchResult | Wait]:
        """Send a query that is too long for a URL. Redirects that keep the method (307, 308) are followed with it."""
        return self._request(url, accept, None, posted)

    def redirect_problem(self, target: str) -> str:
        """Why a redirect to `target` is not followed; empty if it is. For subclasses."""
        return ""

    async def _request(
        self, url: str, accept: str, validators: Validators | None, posted: PostBody | None
    ) -> FetchResult | Wait:
        requested = {url}
        exchanges: list[Exchange] = []
        while True:
            permit = await self._permit(url)
            if isinstance(permit, Wait):
                return permit
            if isinstance(permit, FetchResult):
                return FetchResult(exchanges=tuple(exchanges), failure=permit.failure, again_at=permit.again_at)
            exchange = await self._client.send(permit, accept=accept, validators=validators, posted=posted)
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

    async def _permit(self, url: str) -> Permit | Wait | FetchResult:
        """A permit; a `Wait` only before the visit's first request; otherwise the failure of the visit."""
        # After the first request, the host's usual gap is waited for even past the end of the round.
        patience_until = self._patience_until
        if self._has_sent:
            patience_until = max(patience_until, self.now() + self._client.gap_s(url) + _GAP_MARGIN_S)
        decision = await self._client.permit(url, patience_until)
        if isinstance(decision, Permit):
            self._has_sent = True
            return decision
        if isinstance(decision, Failure):
            return FetchResult(failure=decision)
        if isinstance(decision, Refusal):
            return FetchResult(failure=Failure(kind=FailureKind.ROBOTS, detail=decision.why), again_at=decision.until)
        if not self._has_sent:
            return decision
        detail = f"redirected to {url}, whose host requires a longer wait: {decision.why}"
        return FetchResult(failure=Failure(kind=FailureKind.BACKOFF, detail=detail))

    def _redirect_problem(self, target: str | None, requested: set[str], hops: int) -> str:
        if target is None:
            return "redirected to something that is not an http or https address"
        if target in requested:
            return f"redirect loop at {target}"
        if hops > self._client.max_redirects:
            return f"more than {self._client.max_redirects} redirects"
        return self.redirect_problem(target)
