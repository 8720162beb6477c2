"""What follows from an answer to the request for robots.txt (RFC 9309, 2.3.1): go on, or it is settled."""

from __future__ import annotations

from msgspec import Struct

from webstrata import urls
from webstrata.permit.robots import LIMIT
from webstrata.records import Exchange, RobotsState

MOST_REDIRECTS = 5
_REDIRECTS = frozenset((301, 302, 303, 307, 308))


class Follow(Struct, frozen=True, kw_only=True):
    """Ask here next; the rules found there still count for the first origin."""

    url: str


def robots_url(origin: str) -> str:
    return f"{origin}/robots.txt"


def next_step(origin: str, exchange: Exchange, body: bytes, redirects: int, now: float) -> Follow | RobotsState:
    """The step after an answer. `body` is the exchange's after content decoding; `redirects` were followed so far.

    A redirect too many, or to where nobody can go, counts as no robots.txt (status 3xx); a file that broke off in
    the middle counts as not reached, since the missing part may hold the rule that matters.
    """
    status = exchange.status
    if exchange.failure is not None or status is None or exchange.truncated in ("time", "disconnect"):
        return RobotsState(origin=origin, at=now, status=0)
    if status in _REDIRECTS and redirects < MOST_REDIRECTS:
        target = urls.join(exchange.url, exchange.header("location") or "")
        if target is not None and target != exchange.url:
            return Follow(url=target)
    kept = body[: LIMIT + 1] if 200 <= status < 300 else b""  # one more: the parser sees that it was cut
    return RobotsState(origin=origin, at=now, status=status, body=kept)
