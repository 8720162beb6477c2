"""What follows from an answer to the request for robots.txt (RFC 9309, 2.3.1): go on, or it is settled.

The robots.txt of each origin: what it says, how old it is, when to ask again.

While a file cannot be reached its state keeps the time of the first failure in `at` and the last good file in
`body`, so that a month of failures can be told from a bad minute, across restarts.
"""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct
from msgspec.structs import replace

from webstrata import urls
from webstrata.coding import decode
from webstrata.permit.backoff import doubling_s
from webstrata.permit.robots import LIMIT, Robots, is_temporary
from webstrata.permit.spacing import PolitenessRules
from webstrata.records import Exchange, Failure, RobotsState

MOST_REDIRECTS = 5
_REDIRECTS = frozenset((301, 302, 303, 307, 308))
_MAX_RATIO = 1000.0


class RobotsAnswer(Struct, frozen=True, kw_only=True):
    """The end of the way: what `Robots.parse` takes. Status 0: no answer worth reading."""

    status: int
    body: bytes = b""


def robots_url(origin: str) -> str:
    return f"{origin}/robots.txt"


def robots_step(exchange: Exchange | Failure, *, url: str, hops: int) -> str | RobotsAnswer:
    """Where to ask next, or the answer. `url` was asked, after `hops` redirects.

    The rules found at the end of the redirects count for the first origin. A redirect too many, or to where nobody
    can go, counts as no robots.txt (its status stays 3xx). A file that broke off counts as not reached, since the
    missing part may hold the rule that matters.
    """
    if isinstance(exchange, Failure) or exchange.failure is not None or exchange.status is None:
        return RobotsAnswer(status=0)
    if exchange.status in _REDIRECTS and hops < MOST_REDIRECTS:
        target = urls.join(url, exchange.header("location") or "")
        if target is not None and target != url:
            return target
    if not 200 <= exchange.status < 300:
        return RobotsAnswer(status=exchange.status)
    return _file(exchange)


def _file(exchange: Exchange) -> RobotsAnswer:
    assert exchange.status is not None
    # one byte more than the parser reads, so that it sees the cut
    decoded = decode(exchange.body, exchange.header("content-encoding"), max_bytes=LIMIT + 1, max_ratio=_MAX_RATIO)
    whole = decoded.body == exchange.body or decoded.problem is None or len(decoded.body) > LIMIT
    if exchange.truncated in ("time", "disconnect") or not whole:
        return RobotsAnswer(status=0)
    return RobotsAnswer(status=exchange.status, body=decoded.body[: LIMIT + 1])


GIVE_UP_AFTER_S = 30 * 86_400.0
"""RFC 9309, 2.3.1.4: after so long without an answer the last good file counts again, or none."""
_RETRY_FIRST_S = 300.0
_RETRY_MAX_S = 6 * 3600.0
_MOST_PARSED = 2000


class RobotsCache:
    def __init__(self, rules: PolitenessRules) -> None:
        self._rules = rules
        self._states: dict[str, RobotsState] = {}
        self._parsed: dict[tuple[str, bool], Robots] = {}
        self._retry_at: dict[str, float] = {}
        self._tries: dict[str, int] = {}
        self._changed: set[str] = set()

    def recall(self, states: Iterable[RobotsState]) -> None:
        for state in states:
            self._states[state.origin] = state

    def state(self, origin: str) -> RobotsState | None:
        return self._states.get(origin)

    def learn(self, origin: str, fetched: RobotsState) -> None:
        """Take the answer to the last request for an origin's robots.txt."""
        if is_temporary(fetched.status):
            self._tries[origin] = self._tries.get(origin, 0) + 1
            wait_s = doubling_s(origin, self._tries[origin], _RETRY_FIRST_S, _RETRY_MAX_S)
            self._retry_at[origin] = fetched.at + wait_s
            fetched = self._failing(origin, fetched)
        else:
            self._tries.pop(origin, None)
            self._retry_at.pop(origin, None)
        self._states[origin] = replace(fetched, origin=origin)
        self._forget_parsed(origin)
        self._changed.add(origin)

    def _failing(self, origin: str, fetched: RobotsState) -> RobotsState:
        before = self._states.get(origin)
        if before is None:
            return replace(fetched, body=b"")
        if is_temporary(before.status):
            return replace(before, status=fetched.status)
        return replace(fetched, body=before.body if 200 <= before.status < 300 else b"")

    def is_needed(self, origin: str, now: float) -> bool:
        """Whether the file must be fetched (again) before the origin's pages are asked for."""
        state = self._states.get(origin)
        if state is None:
            return True
        if is_temporary(state.status):
            return now >= self._retry_at.get(origin, 0.0)
        return not 0 <= now - state.at < self._rules.robots_max_age_s

    def retry_at(self, origin: str, now: float) -> float:
        """When a file that cannot be reached is asked for again."""
        return self._retry_at.get(origin, now)

    def robots(self, origin: str, now: float) -> Robots | None:
        """What counts for the origin now; None if nothing is known."""
        state = self._states.get(origin)
        if state is None:
            return None
        given_up = is_temporary(state.status) and now - state.at >= GIVE_UP_AFTER_S
        key = (origin, given_up)
        parsed = self._parsed.pop(key, None)
        if parsed is None:
            status = 200 if given_up else state.status
            parsed = Robots.parse(state.body, status)
            while len(self._parsed) >= _MOST_PARSED:
                del self._parsed[next(iter(self._parsed))]
        self._parsed[key] = parsed  # the latest used stand last
        return parsed

    def drain(self) -> tuple[RobotsState, ...]:
        """States that changed since the last time."""
        states = tuple(self._states[origin] for origin in sorted(self._changed))
        self._changed.clear()
        return states

    def _forget_parsed(self, origin: str) -> None:
        self._parsed.pop((origin, False), None)
        self._parsed.pop((origin, True), None)
