"""How long a host rests after it refused: as long as it asks, else doubling."""

from __future__ import annotations

from zlib import crc32

from webstrata.permit.retry_after import parse_retry_after
from webstrata.permit.rules import PolitenessRules
from webstrata.records import Exchange, FailureKind

_REFUSALS = frozenset((429, 503))
_UNREACHABLE = frozenset((FailureKind.REFUSED, FailureKind.CONNECT, FailureKind.TIMEOUT_CONNECT))
_PATIENCE = 3
"""So many refusals in a row are met as the server asks, so many failed connections without a rest; then it doubles."""
_JITTER = 0.25
_MOST_DOUBLINGS = 30


def is_refusal(exchange: Exchange) -> bool:
    """The server said: not now."""
    return exchange.status in _REFUSALS


def is_unreachable(exchange: Exchange) -> bool:
    """Nobody answered at the address."""
    return exchange.failure is not None and exchange.failure.kind in _UNREACHABLE


def rest_s(host: str, exchange: Exchange, count: int, now: float, rules: PolitenessRules) -> float:
    """Seconds that a host rests after its `count`-th refusal or failed connection in a row."""
    doubled = doubling_s(host, count, rules.backoff_first_s, rules.backoff_max_s)
    if is_unreachable(exchange):
        return doubled if count >= _PATIENCE else 0.0
    asked = parse_retry_after(exchange.header("retry-after") or "", now)
    if asked is None:
        return doubled
    return min(asked if count <= _PATIENCE else max(asked, doubled), rules.backoff_max_s)


def doubling_s(name: str, count: int, first_s: float, max_s: float) -> float:
    """`first_s`, doubled for each further in a row, with up to a quarter more that depends on the name only.

    The jitter keeps hosts that failed together from being asked again together, and is the same in every run.
    """
    jitter = 1 + _JITTER * (crc32(f"{name} {count}".encode()) / 0xFFFF_FFFF)
    return min(first_s * 2.0 ** min(max(count - 1, 0), _MOST_DOUBLINGS) * jitter, max_s)
