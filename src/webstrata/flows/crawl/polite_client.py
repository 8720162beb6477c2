"""Waits at the host's door: turns a URL into a `Permit` through robots.txt, spacing and back-off.

The gate (pure) decides; this flow does what the gate asks for: sleeps on the clock, resolves names, fetches
robots.txt once however many pages wait for it.

Asking politely, as often as one visit needs: permit, request, and again for every redirect.

One visit: the page's handler gets its content, asking politely, until there is an answer or a reason why not.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import TypeVar

from webstrata import urls
from webstrata.detect.response_class import StatusClass
from webstrata.detect.response_class import status_class
from webstrata.permit.gate import PermitGate
from webstrata.permit.robots import Robots
from webstrata.permit.robots_cache import RobotsAnswer, robots_step, robots_url
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
    VisitResult,
    Wait,
)

Decision = TypeVar("Decision")

_GIVEN_UP = Failure(kind=FailureKind.INTERNAL, detail="given up before an answer came")


class PoliteClient:
    """Asks for permits on behalf of visits.

    `keep` is handed every robots.txt exchange (for the archive), `listed` the sitemaps that an origin names.

    At most `requests` are on their way at a time. Who has no place for a request gets no permit: a permit that waited
    for a place would be used later than it was granted for, and too soon before the next one.
    """

    def __init__(
        self,
        web: Web,
        gate: PermitGate,
        clock: Clock,
        *,
        keep: Callable[[Exchange], None],
        listed: Callable[[str, Sequence[str]], None],
        requests: int = 64,
    ) -> None:
        self._web = web
        self._gate = gate
        self._clock = clock
        self._keep = keep
        self._listed = listed
        self._places = asyncio.Semaphore(requests)
        self._fetching: dict[str, asyncio.Task[Wait | None]] = {}

    async def permit(self, url: str, patience_until: float) -> Permit | Failure | Wait | Refusal:
        """Leave to fetch `url` now, which must be used at once; a `Wait` where it would take past `patience_until`."""
        found = await self._web.resolve(urls.host_of(url), urls.port_of(url))
        if isinstance(found, Failure):
            return found
        address, port = found
        while True:
            match await self._with_a_place(lambda: self._gate.ask(url, address, port, self._clock.now())):
                case Permit() | Refusal() as decided:
                    return decided
                case NeedRobots(origin=origin):
                    wait = await self._learn_robots(origin, patience_until)
                    if wait is not None:
                        return wait
                case Wait(until=until) as wait:
                    if until > patience_until:
                        return wait
                    await self._clock.sleep_until(until)

    async def _with_a_place(self, ask: Callable[[], Decision]) -> Decision:
        """Ask the gate when there is a place for a request; a permit keeps the place until `fetch` is done with it."""
        await self._places.acquire()
        answer = ask()
        if not isinstance(answer, Permit):
            self._places.release()
        return answer

    async def fetch(
        self, permit: Permit, *, accept: str, validators: Validators | None = None, posted: PostBody | None = None
    ) -> Exchange:
        """Make the request of a permit. Its host is free again after it, even if the request is given up half-way."""
        exchange = Exchange(url=permit.url, at=self._clock.now(), duration_s=0.0, request_head=b"", failure=_GIVEN_UP)
        try:
            if posted is None:
                exchange = await self._web.fetch(permit, accept=accept, validators=validators)
            else:
                exchange = await self._web.fetch(permit, accept=accept, posted=posted)
        finally:
            self._places.release()
            self._gate.finished(permit, exchange, self._clock.now())
        return exchange

    async def meet(self, url: str, patience_until: float) -> None:
        """Learn what the origin of `url` asks of visitors, where that is not known yet."""
        if self._gate.outlook(url, self._clock.now())[1]:
            await self._learn_robots(urls.origin(url), patience_until)

    def gap_s(self, url: str) -> float:
        """How long the host of `url` wants between two requests."""
        return self._gate.gap_s(url)

    async def close(self) -> None:
        """Give up requests for robots.txt that nobody waits for any more."""
        tasks = list(self._fetching.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _learn_robots(self, origin: str, patience_until: float) -> Wait | None:
        task = self._fetching.get(origin)
        if task is None:
            task = asyncio.create_task(self._fetch_robots(origin, patience_until))
            self._fetching[origin] = task
            task.add_done_callback(lambda _: self._fetching.pop(origin, None))
        return await asyncio.shield(task)

    async def _fetch_robots(self, origin: str, patience_until: float) -> Wait | None:
        url, hops = robots_url(origin), 0
        while True:
            exchange = await self._robots_exchange(origin, url, patience_until)
            if isinstance(exchange, Wait):
                return exchange
            step = robots_step(exchange, url=url, hops=hops)
            if isinstance(step, RobotsAnswer):
                break
            url, hops = step, hops + 1
        self._gate.learn_robots(
            origin, RobotsState(origin=origin, at=self._clock.now(), status=step.status, body=step.body)
        )
        if sitemaps := Robots.parse(step.body, step.status).sitemaps:
            self._listed(origin, sitemaps)
        return None

    async def _robots_exchange(self, origin: str, url: str, patience_until: float) -> Exchange | Failure | Wait:
        found = await self._web.resolve(urls.host_of(url), urls.port_of(url))
        if isinstance(found, Failure):
            return found
        address, port = found
        while True:
            asked = await self._with_a_place(
                lambda: self._gate.ask_robots(origin, address, port, self._clock.now(), url=url)
            )
            if isinstance(asked, Permit):
                break
            if asked.until > patience_until:
                return asked
            await self._clock.sleep_until(asked.until)
        exchange = await self.fetch(asked, accept="text/plain, */*;q=0.5")
        self._keep(exchange)
        return exchange


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


Choose = Callable[[Page], Handler]


async def visit(
    page: Page,
    *,
    door: PoliteClient,
    clock: Clock,
    max_redirects: int,
    patience_until: float,
    choose: Choose,
) -> VisitResult | Wait:
    """Visit a page by its handler; a `Wait` when its host cannot be visited before `patience_until`."""
    polite = PoliteVisit(door, clock, max_redirects=max_redirects, patience_until=patience_until)
    return await choose(page).visit(page, polite)
