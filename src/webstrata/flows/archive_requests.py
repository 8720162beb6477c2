"""`ArchiveRequests`: requests to the servers of other archives, one at a time, with patience and with a cache.

The gate and the leases of the crawl space the requests, so that the limit of a server holds across processes and
restarts too. robots.txt is not read: the user names the server and orders the requests.
"""

from __future__ import annotations

import logging

from webstrata.clock import iso, span
from webstrata.coding import decode
from webstrata.flows.crawl.requests.polite_client import PoliteClient
from webstrata.flows.crawl.requests.polite_visit import PoliteVisit
from webstrata.permit.backoff import doubling_s, parse_retry_after
from webstrata.ports import AnswerCheck, AnswerStore, Clock
from webstrata.records import Exchange, Failure, FailureKind, ServerAnswer, Wait
from webstrata.urls import host_of

log = logging.getLogger("webstrata.import")

REQUESTS_PER_MINUTE = 24.0
"""What the Wayback Machine allows for its CDX server; a client that ignores it is blocked for an hour, then longer."""
MAX_TRIES = 5
LONGEST_PAUSE_S = 900.0
"""If a server asks for a longer pause, the import ends and says when to go on."""
_SLOW_TRIES = 2
"""Tries after which a smaller answer is worth more than another try."""
_FIRST_PAUSE_S = 10.0
_REFUSED_PAUSE_S = 60.0
"""After status 429, whatever the server says: the Wayback Machine blocks clients for an hour that go on at once."""
_MAX_REQUESTS = 11
"""With its redirects."""
_MAX_EXCERPT = 120

_FINAL = frozenset(
    (
        FailureKind.BLOCKED,
        FailureKind.BAD_URL,
        FailureKind.DENIED,
        FailureKind.DNS,
        FailureKind.REDIRECTS,
        FailureKind.TLS,
    )
)
"""Another try would fail in the same way."""
_SLOW = frozenset((FailureKind.PARTIAL, FailureKind.TIMEOUT_FIRST_BYTE, FailureKind.TIMEOUT_TOTAL))
"""The answer may be too large, or take the server too long."""
_SLOW_STATUS = frozenset((504, 524))
_REFUSALS = frozenset((429, 503))


class ArchiveRequests:
    """Asks servers of archives (`ports.ArchiveServer`)."""

    def __init__(
        self,
        client: PoliteClient,
        clock: Clock,
        cache: AnswerStore,
        *,
        max_decoded: int,
        total_s: float,
        refresh: bool = False,
    ) -> None:
        """`max_decoded`: limit on the size of an answer. `refresh`: send requests that the cache could answer."""
        self._client = client
        self._clock = clock
        self._cache = cache
        self._max_decoded = max_decoded
        self._total_s = total_s
        self._refresh = refresh

    def keep(self, url: str, answer: ServerAnswer, max_age_s: float) -> None:
        """Keep an answer, so that the same request is not sent again within this time."""
        now = self._clock.now()
        self._cache.put(url, answer, now=now, until=now + max_age_s)

    async def get(self, url: str, *, accept: str, check: AnswerCheck) -> ServerAnswer | Failure:
        """The answer to a request, from the cache if it is there; the last failure, if several tries failed."""
        kept = None if self._refresh else self._cache.get(url, self._clock.now())
        if kept is not None and check(kept) is None:
            return kept
        slow = 0
        failure = Failure(kind=FailureKind.INTERNAL)
        for count in range(1, MAX_TRIES + 1):
            result = await self._answer(url, accept)
            if isinstance(result, Wait):
                detail = f"{result.why}, until {iso(int(result.until))}"
                return Failure(kind=FailureKind.BACKOFF, detail=detail)
            if isinstance(result, ServerAnswer):
                problem = check(result) if result.status == 200 else None
                if problem is None:
                    return result
                result = problem
            failure = result
            slow += failure.kind in _SLOW
            if count == MAX_TRIES or slow == _SLOW_TRIES or failure.kind in _FINAL:
                break
            pause_s = _REFUSED_PAUSE_S
            if failure.kind is not FailureKind.BACKOFF:
                pause_s = doubling_s(host_of(url), count, _FIRST_PAUSE_S, LONGEST_PAUSE_S)
            log.warning("%s: %s. The request is sent again in %s.", host_of(url), failure.detail, span(pause_s))
            await self._clock.sleep_until(self._clock.now() + pause_s)
        return failure

    async def _answer(self, url: str, accept: str) -> ServerAnswer | Failure | Wait:
        """One try; a `Wait` if the server is not to be asked for longer than the import waits."""
        patience_until = self._clock.now() + LONGEST_PAUSE_S
        visit = PoliteVisit(
            self._client, patience_until=patience_until, max_requests=_MAX_REQUESTS, total_s=self._total_s
        )
        fetched = await visit.get(url, accept=accept)
        if isinstance(fetched, Wait):
            return fetched
        if fetched.failure is not None:
            return Failure(kind=fetched.failure.kind, detail=fetched.failure.detail or str(fetched.failure.kind))
        exchange = fetched.answer
        assert exchange is not None  # otherwise there is a failure
        if exchange.status in _REFUSALS:
            return _refusal(exchange, self._clock.now())
        return self._of_exchange(exchange)

    def _of_exchange(self, exchange: Exchange) -> ServerAnswer | Failure:
        """The answer of a response; a failure, unless it is complete and successful."""
        status = exchange.status or 0
        if status == 404:
            return ServerAnswer(url=exchange.url, status=status)
        if status != 200:
            return _error(status, exchange)
        if exchange.truncated == "length":
            return Failure(kind=FailureKind.PARTIAL, detail=f"the answer is larger than {exchange.body_bytes} bytes")
        if exchange.truncated is not None:
            return Failure(kind=FailureKind.PARTIAL, detail="the answer ended early")
        decoded = decode(exchange.body, exchange.header("content-encoding"), max_bytes=self._max_decoded)
        if decoded.problem is not None:
            return Failure(kind=FailureKind.PARTIAL, detail=decoded.problem)
        return ServerAnswer(url=exchange.url, body=decoded.body)


def _refusal(exchange: Exchange, now: float) -> Failure | Wait:
    why = f"HTTP status {exchange.status}"
    requested_s = parse_retry_after(exchange.header("retry-after") or "", now)
    if requested_s is not None and requested_s > LONGEST_PAUSE_S:
        return Wait(until=now + requested_s, why=why)
    return Failure(kind=FailureKind.BACKOFF, detail=why)


def _error(status: int, exchange: Exchange) -> Failure:
    if status in _SLOW_STATUS:
        kind = FailureKind.TIMEOUT_FIRST_BYTE
    else:
        kind = FailureKind.SERVER if status >= 500 else FailureKind.DENIED
    said = " ".join(exchange.body[: 4 * _MAX_EXCERPT].decode("utf-8", "replace").split())
    is_text = bool(said) and said.isprintable() and not said.startswith("<")
    return Failure(kind=kind, detail=f"HTTP status {status}" + (f" ({said[:_MAX_EXCERPT]})" if is_text else ""))
