"""What follows from an answer to the request for robots.txt (RFC 9309, 2.3.1): go on, or it is settled."""

from __future__ import annotations

from msgspec import Struct

from webstrata import urls
from webstrata.coding import decode
from webstrata.permit.robots import LIMIT
from webstrata.records import Exchange, Failure

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
