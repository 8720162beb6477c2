"""`RobotsCache`: the robots.txt of each origin, its age and when to fetch it again; and the steps of fetching it.

While a file is unavailable, its state keeps the time of the first failure in `at` and the last valid file in `body`, so
that the length of the outage is known across restarts (RFC 9309, 2.3.1).
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

MAX_REDIRECTS = 5
_REDIRECTS = frozenset((301, 302, 303, 307, 308))
_MAX_RATIO = 1000.0


class RobotsResponse(Struct, frozen=True, kw_only=True):
    """The final response after redirects, as `Robots.parse` takes it. Status 0: no usable response."""

    status: int
    body: bytes = b""


def robots_url(origin: str) -> str:
    return f"{origin}/robots.txt"


def robots_step(exchange: Exchange | Failure, *, url: str, hops: int) -> str | RobotsResponse:
    """The URL to request next, or the final response. `url` was requested after `hops` redirects.

    The rules at the end of the redirects apply to the first origin. One redirect too many, or a redirect to an unusable
    URL, means that there is no robots.txt (the status stays 3xx). A truncated file counts as unavailable, because the
    missing part may contain the decisive rule.
    """
    if isinstance(exchange, Failure) or exchange.failure is not None or exchange.status is None:
        return RobotsResponse(status=0)
    if exchange.status in _REDIRECTS and hops < MAX_REDIRECTS:
        target = urls.join(url, exchange.header("location") or "")
        if target is not None and target != url:
            return target
    if not 200 <= exchange.status < 300:
        return RobotsResponse(status=exchange.status)
    return _file(exchange)


def _file(exchange: Exchange) -> RobotsResponse:
    assert exchange.status is not None
    # one byte more than is parsed, so that the parser notices the truncation
    decoded = decode(exchange.body, exchange.header("content-encoding"), max_bytes=LIMIT + 1, max_ratio=_MAX_RATIO)
    is_complete = decoded.body == exchange.body or decoded.problem is None or len(decoded.body) > LIMIT
    if exchange.truncated in ("time", "disconnect") or not is_complete:
        return RobotsResponse(status=0)
    return RobotsResponse(status=exchange.status, body=decoded.body[: LIMIT + 1])


GIVE_UP_AFTER_S = 30 * 86_400.0
"""RFC 9309, 2.3.1.4: after an outage of this length the last valid file applies again, or none if there is none."""
_RETRY_FIRST_S = 300.0
_RETRY_MAX_S = 6 * 3600.0
_MAX_PARSED = 2000


class RobotsCache:
    """The robots.txt of every origin, parsed when needed."""

    def __init__(self, rules: PolitenessRules) -> None:
        self._rules = rules
        self._states: dict[str, RobotsState] = {}
        self._parsed: dict[tuple[str, bool], Robots] = {}
        self._retry_at: dict[str, float] = {}
        self._tries: dict[str, int] = {}
        self._changed: set[str] = set()

    def restore(self, states: Iterable[RobotsState]) -> None:
        for state in states:
            self._states[state.origin] = state
            self._parsed.pop((state.origin, False), None)
            self._parsed.pop((state.origin, True), None)

    def state(self, origin: str) -> RobotsState | None:
        return self._states.get(origin)

    def learn(self, origin: str, fetched: RobotsState) -> None:
        """Record the outcome of a request for the robots.txt of an origin."""
        if is_temporary(fetched.status):
            self._tries[origin] = self._tries.get(origin, 0) + 1
            wait_s = doubling_s(origin, self._tries[origin], _RETRY_FIRST_S, _RETRY_MAX_S)
            self._retry_at[origin] = fetched.at + wait_s
            fetched = self._unavailable(origin, fetched)
        else:
            self._tries.pop(origin, None)
            self._retry_at.pop(origin, None)
        self._states[origin] = replace(fetched, origin=origin)
        self._parsed.pop((origin, False), None)
        self._parsed.pop((origin, True), None)
        self._changed.add(origin)

    def _unavailable(self, origin: str, fetched: RobotsState) -> RobotsState:
        previous = self._states.get(origin)
        if previous is None:
            return replace(fetched, body=b"")
        if is_temporary(previous.status):
            return replace(previous, status=fetched.status)
        return replace(fetched, body=previous.body if 200 <= previous.status < 300 else b"")

    def is_needed(self, origin: str, now: float) -> bool:
        """Whether the file must be fetched (again) before pages of the origin are requested."""
        state = self._states.get(origin)
        if state is None:
            return True
        if is_temporary(state.status):
            return now >= self._retry_at.get(origin, 0.0)
        return not 0 <= now - state.at < self._rules.robots_max_age_s

    def retry_at(self, origin: str, now: float) -> float:
        """When an unavailable file is requested again."""
        return self._retry_at.get(origin, now)

    def robots(self, origin: str, now: float) -> Robots | None:
        """The rules that apply to the origin now; None if they are not known."""
        state = self._states.get(origin)
        if state is None:
            return None
        is_given_up = is_temporary(state.status) and now - state.at >= GIVE_UP_AFTER_S
        key = (origin, is_given_up)
        parsed = self._parsed.pop(key, None)
        if parsed is None:
            status = 200 if is_given_up else state.status
            parsed = Robots.parse(state.body, status)
            while len(self._parsed) >= _MAX_PARSED:
                del self._parsed[next(iter(self._parsed))]
        self._parsed[key] = parsed  # the most recently used is last
        return parsed

    def shift(self, seconds: float) -> None:
        """The clock was set by so much: files keep their age, unavailable ones the time until they are tried again."""
        self._states = {origin: replace(state, at=state.at + seconds) for origin, state in self._states.items()}
        self._retry_at = {origin: at + seconds for origin, at in self._retry_at.items()}

    def drain(self) -> tuple[RobotsState, ...]:
        """The states that changed since the last call."""
        states = tuple(self._states[origin] for origin in sorted(self._changed))
        self._changed.clear()
        return states
