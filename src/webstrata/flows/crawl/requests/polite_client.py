"""`PoliteClient`: every request waits for a permit, and is sent when the gap of its host has passed.

The permit gate (pure) decides. The client does what the gate requires: it waits on the clock, resolves host names, and
fetches robots.txt once per origin, however many pages wait for it. `HostLeases` assures that no other process sends
requests to the host meanwhile.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable
from typing import Protocol

from msgspec.structs import replace

from webstrata import urls
from webstrata.errors import StoreError
from webstrata.flows.crawl.requests.host_leases import HostLeases
from webstrata.flows.crawl.requests.request_slots import RequestSlot, RequestSlots
from webstrata.flows.crawl.requests.request_time import RequestTime
from webstrata.permit.gate import PermitGate
from webstrata.permit.robots_cache import RobotsResponse, robots_step, robots_url
from webstrata.ports import Clock, Handler, Web
from webstrata.records import (
    Exchange,
    Failure,
    FailureKind,
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
_TOO_SLOW = Failure(
    kind=FailureKind.TIMEOUT_TOTAL, detail="the response was slow while other hosts waited for a connection"
)
_LONGEST_HOLD_S = 5.0
"""How long a connection is held open until its request may be sent; for a longer wait it is closed."""
_OTHER_PROCESS_S = 5.0
"""When to ask again for a host that another process uses. It yields the host within a few seconds."""


class _Postponed(Exception):  # noqa: N818 - not an error
    """The request may not be sent soon: its connection is given up, and it needs another permit."""


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
        leases: HostLeases | None = None,
        robots_log: RobotsLog | None = None,
        on_unanswered: Callable[[Exchange], object] | None = None,
        from_origin: bool = False,
        max_redirects: int = 10,
        max_requests: int = 64,
        max_open: int | None = None,
    ) -> None:
        """`max_requests` and `max_open` are the limits of `RequestSlots`. Without `leases` no other process may send
        requests to the hosts, as with a simulated clock. Without a `robots_log` the exchanges of robots.txt requests
        are dropped. `on_unanswered` receives requests on kept connections that were closed without an answer, before
        they are sent once more. `from_origin`: caches are asked not to respond with copies."""
        self._web = web
        self._gate = gate
        self._clock = clock
        self._leases = leases
        self._robots_log = robots_log
        self._on_unanswered = on_unanswered
        self._from_origin = from_origin
        self.max_redirects = max_redirects
        self._slots = RequestSlots(max_requests, max_open)
        self._robots_tasks: dict[str, asyncio.Task[Wait | Failure | None]] = {}

    def now(self) -> float:
        return self._clock.now()

    def gap_s(self, url: str) -> float:
        """The time that the host of `url` requires between two requests."""
        return self._gate.gap_s(url)

    def required_gap(self, url: str) -> tuple[float, str]:
        """The time between two requests that rules require, without that for slow responses; and which rule."""
        return self._gate.required_gap(url)

    async def close(self) -> None:
        """Cancel requests for robots.txt for which no visit waits any more."""
        tasks = list(self._robots_tasks.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def request(
        self,
        url: str,
        patience_until: float,
        *,
        accept: str,
        validators: Validators | None = None,
        posted: PostBody | None = None,
        robots_of: str | None = None,
        time: RequestTime | None = None,
        large_body: bool = False,
    ) -> Exchange | Failure | Wait | Refusal:
        """Wait for a permit and send one request. Returns a `Wait` if it could be sent only after `patience_until`.

        A request on a kept connection that the server closed without an answer is sent once more, with a permit of its
        own. `robots_of`: the origin whose robots.txt is requested from `url`; the request needs no robots.txt itself.
        `large_body`: the body need not be in memory.
        """
        is_resent = False
        while True:
            granted = await self._permit(url, patience_until, robots_of=robots_of, time=time)
            if not isinstance(granted, tuple):
                return granted
            permit, slot = granted
            permit = replace(permit, from_origin=self._from_origin, large_body=large_body)
            exchange = await self._send(permit, slot, accept=accept, validators=validators, posted=posted, time=time)
            if exchange is not None and exchange.stale and not is_resent and self._on_unanswered is not None:
                self._on_unanswered(exchange)
            if exchange is None or (exchange.stale and not is_resent):
                is_resent = exchange is not None or is_resent
                continue
            return exchange

    async def _permit(
        self, url: str, patience_until: float, *, robots_of: str | None = None, time: RequestTime | None = None
    ) -> tuple[Permit, RequestSlot] | Failure | Wait | Refusal:
        """Wait for a permit, which must be used at once. Returns a `Wait` if it would come after `patience_until`."""
        host = urls.host_of(url)
        resolved = await self._web.resolve(host, urls.port_of(url))
        if isinstance(resolved, Failure):
            return resolved
        while True:
            elsewhere = await self._hold_host(url, patience_until)
            if elsewhere is not None:
                return elsewhere
            slot = await self._slots.take(host)
            slot.proves = robots_of is None
            now = self._clock.now()
            if robots_of is None:
                decision = self._gate.request(url, *resolved, now)
            else:
                decision = self._gate.request_robots(robots_of, *resolved, now, url=url)
            if isinstance(decision, Permit):
                return decision, slot
            slot.free()
            if isinstance(decision, NeedRobots):
                outcome = await self._fetch_robots_once(decision.origin, patience_until, time)
                if outcome is None and time is not None:
                    outcome = time.problem(self._clock.now())
                if outcome is not None:
                    return outcome
            elif isinstance(decision, Wait) and decision.until <= patience_until:
                await self._clock.sleep_until(decision.until)
            else:
                return decision

    async def _hold_host(self, url: str, patience_until: float) -> Wait | Failure | None:
        """Hold the lease of the host: None if it is held."""
        if self._leases is None:
            return None
        host = urls.host_of(url)
        try:
            while (retry_at := await self._leases.hold(host, self._gate.sending_gap_s(url))) is not None:
                if retry_at > patience_until:
                    until = self._clock.now() + _OTHER_PROCESS_S
                    return Wait(until=until, why=f"{host} is used by another process")
                await self._clock.sleep_until(retry_at)
        except StoreError as problem:
            return Failure(kind=FailureKind.LOCAL, detail=str(problem))
        return None

    async def _send(
        self,
        permit: Permit,
        slot: RequestSlot,
        *,
        accept: str,
        validators: Validators | None = None,
        posted: PostBody | None = None,
        time: RequestTime | None = None,
    ) -> Exchange | None:
        """Send the request of a permit. The gate learns of its end, even if the request is cancelled.

        Returns None if the request was not sent because its host or address was used meanwhile: it needs a new permit.
        """
        loop, task = asyncio.get_running_loop(), asyncio.current_task()
        assert task is not None
        slot.task = task
        begins_at, waited_s = loop.time(), 0.0
        exchange = Exchange(
            url=permit.url, at=self._clock.now(), duration_s=0.0, request_head=b"", failure=_CANCELLED, sent=False
        )

        async def before_send() -> None:
            nonlocal waited_s
            waits_from = loop.time()
            await self._wait_to_send(permit)
            waited_s = loop.time() - waits_from
            if time is not None:
                time.has_sent = True

        try:
            exchange = await self._web.fetch(
                permit,
                accept=accept,
                validators=validators,
                posted=posted,
                before_send=before_send,
                total_s=time.left_s if time is not None else None,
            )
        except _Postponed:
            return None
        except asyncio.CancelledError:
            if not slot.is_ended or task.uncancel():
                raise
            exchange = replace(exchange, duration_s=loop.time() - begins_at, failure=_TOO_SLOW, sent=True)
        finally:
            slot.free()
            self._gate.finished(permit, exchange, self._clock.now())
            if time is not None:
                time.left_s -= loop.time() - begins_at - waited_s
        if self._leases is not None and self._gate.is_paused(permit.host, self._clock.now()):
            await self._leases.save(permit.host)
        return exchange

    async def _wait_to_send(self, permit: Permit) -> None:
        """Wait until the request may be sent, and record the sending. The caller sends it without any further wait."""
        longest = self._clock.now() + _LONGEST_HOLD_S
        while True:
            now = self._clock.now()
            send_at = self._gate.send_at(permit, now)
            if send_at > longest:
                raise _Postponed
            if send_at > now:
                await self._clock.sleep_until(send_at)
                continue
            gap_s = self._gate.sending_gap_s(permit.url)
            if self._leases is None or self._leases.allows(permit.host, gap_s):
                break
            if await self._leases.hold(permit.host, gap_s, is_open=True) is not None:
                raise _Postponed
        self._gate.sent(permit, now)
        if self._leases is not None:
            self._leases.sent(permit.host)
        # The request is written before the event loop runs its next callback. On a busy machine that takes a while, so
        # the gap counts from after the writing.
        asyncio.get_running_loop().call_soon(lambda: self._gate.sent(permit, self._clock.now()))

    # ── robots.txt ──────────────────────────────────────────────────────────────────────────────────────────────

    async def learn_robots(self, url: str, patience_until: float) -> None:
        """Fetch the robots.txt of the origin of `url` unless it is known."""
        _, is_needed, _ = self._gate.constraints(url, self._clock.now())
        if is_needed:
            await self._fetch_robots_once(urls.origin(url), patience_until, None)

    async def _fetch_robots_once(
        self, origin: str, patience_until: float, time: RequestTime | None
    ) -> Wait | Failure | None:
        """Fetch robots.txt in a task that all visits of the origin await."""
        task = self._robots_tasks.get(origin)
        if task is None:
            task = asyncio.create_task(self._fetch_robots(origin, patience_until, time))
            self._robots_tasks[origin] = task
            task.add_done_callback(lambda _: self._robots_tasks.pop(origin, None))
        if time is None or time.ends_at == math.inf:
            return await asyncio.shield(task)
        end = asyncio.ensure_future(self._clock.sleep_until(time.ends_at))
        try:
            await asyncio.wait((task, end), return_when=asyncio.FIRST_COMPLETED)
        finally:
            end.cancel()
        return time.problem(self._clock.now()) or await asyncio.shield(task)

    async def _fetch_robots(
        self, origin: str, patience_until: float, time: RequestTime | None
    ) -> Wait | Failure | None:
        """Request robots.txt and follow its redirects: None if the gate learned the outcome."""
        url, hops = robots_url(origin), 0
        while True:
            exchange = await self.request(url, patience_until, accept=_ACCEPT_ROBOTS, robots_of=origin, time=time)
            if isinstance(exchange, Wait):
                return exchange
            assert not isinstance(exchange, Refusal)  # a request for robots.txt needs no rules
            failure = exchange if isinstance(exchange, Failure) else exchange.failure
            if failure is not None and _says_nothing(failure, hops):
                return failure
            if isinstance(exchange, Exchange) and self._robots_log is not None:
                self._robots_log.add_robots(exchange)
            step = robots_step(exchange, url=url, hops=hops)
            if isinstance(step, RobotsResponse):
                break
            url, hops = step, hops + 1
        state = RobotsState(origin=origin, at=self._clock.now(), status=step.status, body=step.body)
        self._gate.learn_robots(origin, state)
        if self._leases is not None:
            await self._leases.save(urls.host_of(origin), origin)
        return None


def _says_nothing(failure: Failure, hops: int) -> bool:
    """Whether a failure before anything was sent says nothing about the robots.txt of the origin.

    A redirect to a host without a name is a fault of the origin.
    """
    return failure.kind is FailureKind.LOCAL or (failure.kind is FailureKind.DNS and not hops)
