"""JSON-LD contexts that documents name by their address: asked for as politely as any page, and kept for the run.

A few contexts serve millions of documents, so one that is a day old at most is not asked for again, and one that cannot
be had again is used a while longer. What is asked for belongs to the visit that needed it, and is archived with it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from msgspec import Struct

from webstrata import urls
from webstrata.clock import DAY_S
from webstrata.coding import decode
from webstrata.fetch.handlers.negotiate import bare_type, read_links
from webstrata.fetch.handlers.visit_result import joined
from webstrata.ports import VisitClient
from webstrata.records import Exchange, FetchResult, Wait

ACCEPT = "application/ld+json,application/json;q=0.9,*/*;q=0.1"
MOST_IN_A_VISIT = 10
LARGEST = 2_000_000
_LARGEST_RATIO = 100.0
_MOST_KEPT = 200
_FRESH_S = DAY_S
_STALE_S = 30 * DAY_S
"""How old one may be that cannot be had again."""
_FAILED_S = DAY_S / 24
"""Until one that could not be had is asked for again."""

Missing = Callable[[Mapping[str, bytes]], str | None]
"""Contexts at hand -> the address of one more that is needed; None: none, or no other would help."""


class NeededContexts(Struct, frozen=True, kw_only=True):
    """What a document needs."""

    contexts: dict[str, bytes]
    asked: FetchResult
    """What was asked for to get them."""
    problem: str = ""
    """Why some are not there."""


class _Kept(Struct, frozen=True, kw_only=True):
    at: float
    body: bytes | None
    problem: str = ""


class ContextCache:
    """The contexts of a run."""

    def __init__(self) -> None:
        self._kept: dict[str, _Kept] = {}

    async def gather(self, missing: Missing, polite: VisitClient) -> NeededContexts:
        """All contexts that a document needs, or the first problem."""
        at_hand: dict[str, bytes] = {}
        asked = FetchResult()
        while (url := missing(at_hand)) is not None:
            if len(at_hand) == MOST_IN_A_VISIT:
                return NeededContexts(
                    contexts=at_hand, asked=asked, problem=f"it needs more than {MOST_IN_A_VISIT} contexts"
                )
            kept, got = await self._get(url, polite)
            asked = joined(asked, got)
            if kept.body is None:
                return NeededContexts(contexts=at_hand, asked=asked, problem=f"its context {url}: {kept.problem}")
            at_hand[url] = kept.body
        return NeededContexts(contexts=at_hand, asked=asked)

    async def _get(self, url: str, polite: VisitClient) -> tuple[_Kept, FetchResult]:
        known = self._kept.get(url)
        age = polite.now() - known.at if known is not None else 0.0
        if known is not None and age < (_FRESH_S if known.body is not None else _FAILED_S):
            return known, FetchResult()
        found, got = await _asked_for(url, polite)
        if found.body is None and known is not None and known.body is not None and age < _STALE_S:
            return known, got
        self._keep(url, found)
        return found, got

    def _keep(self, url: str, found: _Kept) -> None:
        self._kept.pop(url, None)
        while len(self._kept) >= _MOST_KEPT:
            del self._kept[next(iter(self._kept))]
        self._kept[url] = found


async def _asked_for(url: str, polite: VisitClient) -> tuple[_Kept, FetchResult]:
    address = urls.join(url, "")
    if address is None:
        return _Kept(at=polite.now(), body=None, problem="only http and https can be asked"), FetchResult()
    got = await polite.get(address, accept=ACCEPT)
    assert not isinstance(got, Wait), "a wait comes only before the first request"
    answer = got.answer
    if got.failure is None and answer is not None and (other := _alternate(answer)) is not None:
        there = await polite.get(other, accept=ACCEPT)
        assert not isinstance(there, Wait), "a wait comes only before the first request"
        got = joined(got, there)
    body, problem = _read(got)
    return _Kept(at=polite.now(), body=body, problem=problem), got


def _alternate(answer: Exchange) -> str | None:
    """Where an answer that is no JSON says that its JSON-LD is (JSON-LD 1.1 API, 7.2)."""
    if answer.status != 200 or "json" in bare_type(answer.header("content-type")):
        return None
    values = [value for name, value in answer.headers if name == "link"]
    found = (link for link in read_links(values, answer.url) if "alternate" in link.rels)
    return next((link.url for link in found if link.type == "application/ld+json"), None)


def _read(got: FetchResult) -> tuple[bytes | None, str]:
    answer = got.answer
    if got.failure is not None or answer is None:
        return None, f"{got.failure.kind} {got.failure.detail}".strip() if got.failure is not None else "no answer"
    if answer.status != 200:
        return None, f"status {answer.status}"
    if answer.truncated is not None or len(answer.body) > LARGEST:
        return None, f"cut off, or longer than {LARGEST} bytes"
    decoded = decode(answer.body, answer.header("content-encoding"), max_bytes=LARGEST, max_ratio=_LARGEST_RATIO)
    if decoded.problem is not None:
        return None, f"cannot be decoded: {decoded.problem}"
    if "json" not in bare_type(answer.header("content-type")):
        return None, f"no JSON: {bare_type(answer.header('content-type')) or 'an answer without a media type'}"
    return decoded.body, ""
