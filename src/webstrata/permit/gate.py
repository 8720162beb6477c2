"""The one place that grants a Permit. Pure: times are handed in, nothing is fetched, nothing sleeps.

How two requests to a host are spaced (docs/decisions/0002-request-spacing.md):

1. start to start at least max(own delay, Crawl-delay);
2. not before the last answer ended and the host rested `delay_factor` times its response time;
3. never more open at a time than `connections_per_host`;
4. none before a back-off (429, 503, nobody there) is over;
5. start to start on one address at least the address delay, whatever the hosts.

A Permit takes its turn at once, so that two tasks that ask at the same time get two turns.
"""

from __future__ import annotations

from collections.abc import Iterable

from webstrata import urls
from webstrata.permit import backoff
from webstrata.permit.robots_cache import RobotsCache, robots_url
from webstrata.permit.spacing import HostActivity, HostSpacing, PolitenessRules
from webstrata.records import (
    AddressState,
    Exchange,
    HostState,
    NeedRobots,
    Permit,
    Refusal,
    RobotsState,
    Wait,
)

__all__ = ["PermitGate", "PolitenessRules"]

_LOOK_AGAIN_S = 0.1
"""When to ask again where the end of an open request is waited for."""


class PermitGate:
    def __init__(self, rules: PolitenessRules) -> None:
        self._rules = rules
        self._spacing = HostSpacing()
        self._robots = RobotsCache(rules)

    def recall(
        self,
        hosts: Iterable[HostState],
        addresses: Iterable[AddressState],
        robots: Iterable[RobotsState],
    ) -> None:
        """Take up the promises of an earlier process."""
        self._spacing.recall(hosts, addresses)
        self._robots.recall(robots)

    def ask(self, url: str, address: str, port: int, now: float) -> Permit | Wait | Refusal | NeedRobots:
        """Leave to request a page (canonical URL) at an address now, or what to do instead."""
        origin = urls.origin(url)
        if self._rules.obey_robots:
            answer = self._robots_answer(origin, url, now)
            if answer is not None:
                return answer
        return self._turn(url, origin, address, port, now, for_robots=False)

    def ask_robots(self, origin: str, address: str, port: int, now: float, url: str | None = None) -> Permit | Wait:
        """Leave to request an origin's robots.txt, or the `url` that a redirect of it leads to."""
        return self._turn(url or robots_url(origin), origin, address, port, now, for_robots=True)

    def _robots_answer(self, origin: str, url: str, now: float) -> Wait | Refusal | NeedRobots | None:
        if self._robots.is_needed(origin, now):
            return NeedRobots(origin=origin)
        state, robots = self._robots.state(origin), self._robots.robots(origin, now)
        assert state is not None  # else it would be needed
        assert robots is not None
        ruling = robots.ruling(self._rules.token, url)
        if ruling.allowed:
            return None
        if state.status == 429:
            return Wait(until=self._robots.retry_at(origin, now), why="robots.txt was answered with 429")
        until = max(state.at + self._rules.robots_max_age_s, now)
        return Refusal(why=ruling.why, until=self._robots.retry_at(origin, until))

    def _turn(self, url: str, origin: str, address: str, port: int, now: float, *, for_robots: bool) -> Permit | Wait:
        name = urls.host_of(url)
        host = self._spacing.host(name)
        wait = self._wait(host, address, now)
        if wait is not None:
            return wait
        host = self._spacing.host_to_change(name)
        host.open_requests += 1
        host.next_at = now + max(self._rules.delay_s, self._asked_s(origin, now))
        self._spacing.hold_address(address, now + self._rules.address_gap_s)
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
            return Wait(until=host.free_at(), why=f"{host.name} asked for a rest or does not answer")
        if host.next_at > now:
            return Wait(until=host.next_at, why=f"{host.name} was visited just now")
        address_free_at = self._spacing.address_free_at(address)
        if address_free_at > now:
            return Wait(until=address_free_at, why=f"another host at {address} was visited just now")
        if host.open_requests >= self._rules.connections_per_host:
            return Wait(until=now + _LOOK_AGAIN_S, why=f"{host.name} is being visited")
        return None

    def finished(self, permit: Permit, exchange: Exchange, now: float) -> None:
        """The request of a permit is over: free its place, learn from the answer. Call it once for every permit."""
        rules = self._rules
        host = self._spacing.host_to_change(permit.host)
        host.open_requests = max(0, host.open_requests - 1)
        host.last_duration_s = max(0.0, exchange.duration_s)
        rest_s = min(rules.delay_factor * host.last_duration_s, rules.max_delay_s)
        # A request that had to wait for a connection started later than its permit: the gap counts from there.
        gap_s = max(rules.delay_s, self._asked_s(permit.origin, now))
        host.next_at = max(host.next_at, now + rest_s, min(exchange.at, now) + gap_s)
        if backoff.is_refusal(exchange) or backoff.is_unreachable(exchange):
            host.backoff_count += 1
            rest_s = backoff.rest_s(host.name, exchange, host.backoff_count, now, rules)
            host.backoff_until = max(host.backoff_until, now + rest_s)
        elif exchange.failure is None:
            host.backoff_count = 0

    def learn_robots(self, origin: str, state: RobotsState) -> None:
        """The request for an origin's robots.txt, with all its redirects, is over.

        A Crawl-delay learned here binds the very next request: it counts from this answer.
        """
        self._robots.learn(origin, state)
        asked_s = self._asked_s(origin, state.at)
        if asked_s > self._rules.delay_s:
            host = self._spacing.host_to_change(urls.host_of(origin))
            host.next_at = max(host.next_at, state.at + asked_s)

    def changed(self) -> tuple[tuple[HostState, ...], tuple[AddressState, ...], tuple[RobotsState, ...]]:
        """What must be remembered across restarts and changed since the last call."""
        hosts, addresses = self._spacing.drain()
        return hosts, addresses, self._robots.drain()

    def forget_idle(self, now: float) -> None:
        """Let go of hosts that no promise binds any more, when very many are known."""
        self._spacing.forget_idle(now)

    def earliest(self, host: str, now: float) -> float:
        """When this host could next be visited."""
        return max(now, self._spacing.host(host).free_at())

    def sitemaps(self, origin: str, now: float) -> tuple[str, ...]:
        """What the origin's robots.txt names, as far as it is known."""
        robots = self._robots.robots(origin, now)
        return () if robots is None else tuple(robots.sitemaps)

    def gap_s(self, url: str) -> float:
        """Seconds between the starts of two requests to the host of `url`, as things stand."""
        return max(seconds for seconds, _ in self._reasons(url))

    def outlook(self, url: str, now: float) -> tuple[float | None, bool, float]:
        """For planning: the Crawl-delay asked for (0: none is; none: not known), whether robots.txt must be fetched
        before the page, and when the host is free."""
        origin = urls.origin(url)
        known = self._robots.state(origin) is not None
        needed = self._rules.obey_robots and self._robots.is_needed(origin, now)
        return (self._asked_s(origin, now) if known else None), needed, self.earliest(urls.host_of(url), now)

    def _reasons(self, url: str) -> list[tuple[float, str]]:
        rules = self._rules
        duration_s = self._spacing.host(urls.host_of(url)).last_duration_s
        rest_s = min(rules.delay_factor * duration_s, rules.max_delay_s)
        return [
            (rules.delay_s, "own delay"),
            (self._asked_s(urls.origin(url), None), "Crawl-delay of robots.txt"),
            (duration_s + rest_s if rest_s else 0.0, "response time"),
        ]

    def _asked_s(self, origin: str, now: float | None) -> float:
        return min(self._crawl_delay_s(origin, now) or 0.0, self._rules.max_delay_s)

    def _crawl_delay_s(self, origin: str, now: float | None) -> float | None:
        state = self._robots.state(origin)
        if state is None:
            return None
        robots = self._robots.robots(origin, state.at if now is None else now)
        return None if robots is None else robots.crawl_delay(self._rules.token)

    def explain(self, url: str, now: float) -> dict[str, object]:
        """Why a visit to `url` is allowed or not, and when: for people."""
        host = self._spacing.host(urls.host_of(url))
        gap_s, gap_from = max(self._reasons(url), key=lambda reason: reason[0])
        asked_s = self._crawl_delay_s(urls.origin(url), now)
        return {
            "host": host.name,
            "delay_s": gap_s,
            "delay_from": gap_from,
            "crawl_delay_s": asked_s,
            "crawl_delay_cut": asked_s is not None and asked_s > self._rules.max_delay_s,
            "last_duration_s": host.last_duration_s,
            "open_requests": host.open_requests,
            "earliest_at": self.earliest(host.name, now),
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
