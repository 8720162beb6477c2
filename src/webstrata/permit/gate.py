"""`PermitGate`: grants permits for requests. It is pure: times are arguments, and it neither fetches nor sleeps.

Requests are spaced by these rules (docs/decisions/0002-request-spacing.md):

1. between the sendings of two requests to a host: at least max(own delay, Crawl-delay);
2. between the end of a response and the next request to the host: `delay_factor` times the response time;
3. concurrent requests to a host: at most `connections_per_host`;
4. no request to a host during a back-off (after 429, 503 or failed connections);
5. between the sendings of two requests to an address: at least the address delay, for all hosts together.

A permit reserves its time slot immediately, so two tasks that request permits at the same time get different slots, and
attempts to connect are spaced too. Connecting takes time, so a permit alone does not keep the gap that the server sees:
between connecting and sending the caller waits until `send_at`, then reports the sending with `sent`.
"""

from __future__ import annotations

from collections.abc import Iterable

from msgspec.structs import replace

from webstrata import urls
from webstrata.permit import backoff
from webstrata.permit.robots import is_temporary
from webstrata.permit.robots_cache import RobotsCache, robots_url
from webstrata.permit.spacing import HostActivity, HostSpacing, PolitenessRules
from webstrata.records import AddressState, Exchange, HostState, NeedRobots, Permit, Refusal, RobotsState, Wait

_RECHECK_S = 0.1
"""How long to wait before the next attempt if the host has too many open requests."""
_MAX_GAPS = 10_000
"""Origins whose gap is kept: it is needed several times for each request."""


class PermitGate:
    """Decides for every request whether and when it may be sent."""

    def __init__(self, rules: PolitenessRules) -> None:
        self._rules = rules
        self._spacing = HostSpacing()
        self._robots = RobotsCache(rules)
        self._sending_gaps: dict[str, tuple[RobotsState, float]] = {}
        """By origin: the robots.txt, and the gap that follows from it."""

    def restore(
        self,
        hosts: Iterable[HostState],
        addresses: Iterable[AddressState],
        robots: Iterable[RobotsState],
    ) -> None:
        """Load the state that an earlier process saved."""
        self._spacing.restore(hosts, addresses)
        self._robots.restore(robots)

    def request(self, url: str, address: str, port: int, now: float) -> Permit | Wait | Refusal | NeedRobots:
        """A permit to request a page (canonical URL) at an address now, or what to do instead."""
        origin = urls.origin(url)
        if self._rules.obey_robots:
            decision = self._robots_decision(origin, url, now)
            if decision is not None:
                return decision
        return self._grant(url, origin, address, port, now, for_robots=False)

    def request_robots(self, origin: str, address: str, port: int, now: float, url: str | None = None) -> Permit | Wait:
        """A permit to request the robots.txt of an origin, or the `url` that it redirects to."""
        return self._grant(url or robots_url(origin), origin, address, port, now, for_robots=True)

    def _robots_decision(self, origin: str, url: str, now: float) -> Wait | Refusal | NeedRobots | None:
        if self._robots.is_needed(origin, now):
            return NeedRobots(origin=origin)
        state, robots = self._robots.state(origin), self._robots.robots(origin, now)
        assert state is not None  # otherwise it would be needed
        assert robots is not None
        ruling = robots.ruling(self._rules.token, url)
        if ruling.allowed:
            return None
        if state.status == 429:
            return Wait(until=self._robots.retry_at(origin, now), why="robots.txt was refused with status 429")
        until = max(state.at + self._rules.robots_max_age_s, now)
        return Refusal(why=ruling.why, until=self._robots.retry_at(origin, until))

    def _grant(self, url: str, origin: str, address: str, port: int, now: float, *, for_robots: bool) -> Permit | Wait:
        name = urls.host_of(url)
        host = self._spacing.host(name)
        wait = self._wait(host, address, now)
        if wait is not None:
            return wait
        host = self._spacing.changing_host(name)
        host.open_requests += 1
        host.next_at = now + self._sending_gap_s(origin, now)
        self._spacing.reserve_address(address, now + self._rules.address_gap_s)
        return Permit(
            url=url,
            origin=origin,
            host=name,
            address=address,
            port=port,
            agent=self._rules.agent,
            granted_at=now,
            for_robots=for_robots,
        )

    def _wait(self, host: HostActivity, address: str, now: float) -> Wait | None:
        if host.backoff_until > now:
            return Wait(until=host.free_at(), why=f"{host.name} requested a pause or does not respond")
        if host.next_at > now:
            return Wait(until=host.next_at, why=f"{host.name} was visited a moment ago")
        address_free_at = self._spacing.address_free_at(address)
        if address_free_at > now:
            return Wait(until=address_free_at, why=f"another host at {address} was visited a moment ago")
        if host.open_requests >= self._rules.connections_per_host:
            return Wait(until=now + _RECHECK_S, why=f"{host.name} has too many open requests")
        return None

    def send_at(self, permit: Permit, now: float) -> float:
        """When the request of the permit may be sent; not after `now` if it may be sent now."""
        host = self._spacing.host(permit.host)
        return max(
            host.sent_at + self._sending_gap_s(permit.origin, now),
            host.others_until,
            host.backoff_until,
            self._spacing.address_sent_at(permit.address) + self._rules.address_gap_s,
        )

    def sent(self, permit: Permit, now: float) -> None:
        """Record that the request of the permit is being sent: the gaps count from now on. May be repeated."""
        host = self._spacing.sent(permit.host, permit.address, now)
        host.next_at = max(host.next_at, now + self._sending_gap_s(permit.origin, now))
        self._spacing.reserve_address(permit.address, now + self._rules.address_gap_s)

    def finished(self, permit: Permit, exchange: Exchange, now: float) -> None:
        """Record the outcome of a permit's request. Call it exactly once for every permit."""
        rules = self._rules
        host = self._spacing.changing_host(permit.host)
        host.open_requests = max(0, host.open_requests - 1)
        if exchange.sent:
            self.sent(permit, min(exchange.at, now))
        if exchange.stale or backoff.is_own_fault(exchange):
            return  # it says nothing about the host
        host.last_duration_s = max(0.0, exchange.duration_s)
        host.next_at = max(host.next_at, now + min(rules.delay_factor * host.last_duration_s, rules.max_delay_s))
        if backoff.is_refusal(exchange) or backoff.is_unreachable(exchange):
            host.backoff_count += 1
            pause_s = backoff.pause_s(host.name, exchange, host.backoff_count, now, rules)
            host.backoff_until = max(host.backoff_until, now + pause_s)
        elif exchange.failure is None:
            host.backoff_count = 0

    def recorded(self, exchange: Exchange) -> None:
        """Learn from an exchange of the archive what `finished` recorded when it was made."""
        origin = urls.origin(exchange.url)
        permit = Permit(
            url=exchange.url,
            origin=origin,
            host=urls.host_of(exchange.url),
            address=exchange.address or "",
            port=urls.port_of(exchange.url),
            agent=self._rules.agent,
            granted_at=exchange.at,
        )
        self.finished(permit, exchange, exchange.at)

    def learn_robots(self, origin: str, state: RobotsState) -> None:
        """Record the outcome of a request for robots.txt, after its redirects.

        A Crawl-delay in it applies from the sending of this request on, so it delays the next request.
        """
        self._robots.learn(origin, state)
        host = self._spacing.changing_host(urls.host_of(origin))
        host.next_at = max(host.next_at, host.sent_at + self._sending_gap_s(origin, state.at))

    def refresh(self, state: HostState, robots: Iterable[RobotsState], clock_difference_s: float) -> None:
        """Load the state of a host, and robots.txt files of its origins, that another process saved meanwhile.

        Its clock may be behind by `clock_difference_s`.
        """
        self._spacing.refresh(replace(state, next_at=state.next_at + clock_difference_s))
        self._robots.restore(robots)

    def host_state(self, host: str) -> HostState | None:
        """The present state of a host; None if it was not visited."""
        return self._spacing.state(host)

    def robots_state(self, origin: str) -> RobotsState | None:
        """The robots.txt of an origin as it is known."""
        return self._robots.state(origin)

    def is_paused(self, host: str, now: float) -> bool:
        """Whether a back-off of the host is in progress."""
        return self._spacing.host(host).backoff_until > now

    def open_requests(self, host: str) -> int:
        """The number of permits of the host that are in use."""
        return self._spacing.host(host).open_requests

    def take_changes(self) -> tuple[tuple[HostState, ...], tuple[AddressState, ...], tuple[RobotsState, ...]]:
        """The state that must survive a restart and that changed since the last call."""
        hosts, addresses = self._spacing.drain()
        return hosts, addresses, self._robots.drain()

    def shift(self, seconds: float) -> None:
        """The clock was set by so much: what remains of every wait stays the same."""
        self._spacing.shift(seconds)
        self._robots.shift(seconds)

    def forget_idle(self, now: float) -> None:
        """If very many hosts are known, forget those that may be visited now."""
        self._spacing.forget_idle(now)

    def free_at(self, host: str, now: float) -> float:
        """When the host may be visited next."""
        return max(now, self._spacing.host(host).free_at())

    def sitemaps(self, origin: str, now: float) -> tuple[str, ...]:
        """The sitemaps that the robots.txt of the origin lists; empty if it is not known."""
        robots = self._robots.robots(origin, now)
        return () if robots is None else tuple(robots.sitemaps)

    def gap_s(self, url: str) -> float:
        """Seconds between two requests to the host of `url`, in the present state."""
        return max(seconds for seconds, _ in self._gaps(url))

    def required_gap(self, url: str) -> tuple[float, str]:
        """Seconds between two requests to the host of `url` if it responds fast, and the rule that requires them."""
        return max(self._rule_gaps(url), key=lambda gap: gap[0])

    def sending_gap_s(self, url: str) -> float:
        """The least time between the sendings of two requests to the host of `url`."""
        return self._sending_gap_s(urls.origin(url), None)

    def _sending_gap_s(self, origin: str, now: float | None) -> float:
        state = self._robots.state(origin)
        known = self._sending_gaps.get(origin)
        if known is not None and known[0] is state:
            return known[1]
        gap_s = max(self._rules.delay_s, self._bounded_crawl_delay_s(origin, now))
        if state is not None and not is_temporary(state.status):  # otherwise it depends on the time
            if len(self._sending_gaps) >= _MAX_GAPS:
                self._sending_gaps.clear()
            self._sending_gaps[origin] = (state, gap_s)
        return gap_s

    def constraints(self, url: str, now: float) -> tuple[float | None, bool, float]:
        """For planning: Crawl-delay, whether robots.txt must be fetched before the page, and when the host is free.

        The Crawl-delay is 0 if robots.txt has none, and None if robots.txt is not known.
        """
        origin = urls.origin(url)
        is_known = self._robots.state(origin) is not None
        crawl_delay_s = self._bounded_crawl_delay_s(origin, now) if is_known else None
        is_needed = self._rules.obey_robots and self._robots.is_needed(origin, now)
        return crawl_delay_s, is_needed, self.free_at(urls.host_of(url), now)

    def _gaps(self, url: str) -> list[tuple[float, str]]:
        rules = self._rules
        duration_s = self._spacing.host(urls.host_of(url)).last_duration_s
        pause_s = min(rules.delay_factor * duration_s, rules.max_delay_s)
        return [*self._rule_gaps(url), (duration_s + pause_s if pause_s else 0.0, "response time")]

    def _rule_gaps(self, url: str) -> list[tuple[float, str]]:
        return [
            (self._rules.delay_s, "own delay"),
            (self._bounded_crawl_delay_s(urls.origin(url), None), "Crawl-delay of robots.txt"),
            (self._rules.address_gap_s, "own delay for one address"),
        ]

    def _bounded_crawl_delay_s(self, origin: str, now: float | None) -> float:
        return min(self._crawl_delay_s(origin, now) or 0.0, self._rules.max_delay_s)

    def _crawl_delay_s(self, origin: str, now: float | None) -> float | None:
        state = self._robots.state(origin)
        if state is None:
            return None
        robots = self._robots.robots(origin, state.at if now is None else now)
        return None if robots is None else robots.crawl_delay(self._rules.token)

    def explain(self, url: str, now: float) -> dict[str, object]:
        """Why and when a visit to `url` is allowed or not, for display."""
        host = self._spacing.host(urls.host_of(url))
        gap_s, gap_from = max(self._gaps(url), key=lambda gap: gap[0])
        crawl_delay_s = self._crawl_delay_s(urls.origin(url), now)
        return {
            "host": host.name,
            "delay_s": gap_s,
            "delay_from": gap_from,
            "crawl_delay_s": crawl_delay_s,
            "crawl_delay_cut": crawl_delay_s is not None and crawl_delay_s > self._rules.max_delay_s,
            "last_duration_s": host.last_duration_s,
            "open_requests": host.open_requests,
            "earliest_at": self.free_at(host.name, now),
            "backoff_until": host.backoff_until if host.backoff_until > now else None,
            "refusals_in_a_row": host.backoff_count,
            **self._explain_robots(url, now),
        }

    def _explain_robots(self, url: str, now: float) -> dict[str, object]:
        origin = urls.origin(url)
        state, robots = self._robots.state(origin), self._robots.robots(origin, now)
        if not self._rules.obey_robots:
            return {"robots": "ignored"}
        if state is None or robots is None:
            return {"robots": "not fetched yet"}
        ruling = robots.ruling(self._rules.token, url)
        return {
            "robots": "allowed" if ruling.allowed else "forbidden",
            "robots_why": ruling.why,
            "robots_status": state.status,
            "robots_age_s": max(0.0, now - state.at),
        }
