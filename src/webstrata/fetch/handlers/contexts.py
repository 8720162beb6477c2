"""`ContextCache`: remote JSON-LD contexts, fetched politely and cached for the run.

A few contexts serve millions of documents. A context is fetched again after a day, and used for a while longer if that
fails. The exchanges belong to the visit that needed the context and are archived with it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Protocol

from msgspec import Struct

from webstrata import urls
from webstrata.clock import DAY_S
from webstrata.coding import Decoded, EncodedBody, encoded_body
from webstrata.fetch.handlers.negotiate import bare_type, parse_links
from webstrata.fetch.handlers.visit_result import joined
from webstrata.ports import VisitClient
from webstrata.records import Exchange, FetchResult, Wait

ACCEPT = "application/ld+json,application/json;q=0.9,*/*;q=0.1"
MAX_CONTEXTS = 10
MAX_BYTES = 2_000_000
_MAX_CACHED = 200
_MAX_CACHED_BYTES = 32_000_000
_FRESH_S = DAY_S
_STALE_S = 30 * DAY_S
"""Maximum age of a context that cannot be fetched again."""
_FAILED_S = DAY_S / 24
"""Time until a context that could not be fetched is requested again."""


class BodyDecoder(Protocol):
    """Removes the content coding of bodies."""

    async def decode(self, body: EncodedBody, max_bytes: int) -> Decoded:
        """Raises ValueError if the body cannot be decoded within the limits, and ParserError."""
        ...


class JsonLdExpansion(Protocol):
    """The result of expanding a document with some contexts."""

    @property
    def missing(self) -> str | None:
        """The URL of another context that is needed; None if none is, or if none would help."""
        ...

    @property
    def quads(self) -> bytes: ...


Expand = Callable[[Mapping[str, bytes]], Awaitable[JsonLdExpansion]]
"""Known contexts -> the document expanded with them."""


class NeededContexts(Struct, frozen=True, kw_only=True):
    """A document expanded with all contexts that it needs, or the reason why some are missing."""

    quads: bytes
    fetched: FetchResult
    """The requests that were sent for the contexts."""
    problem: str = ""
    """Why some are missing; empty if none is."""


class _CachedContext(Struct, frozen=True, kw_only=True):
    at: float
    body: bytes | None
    """None if the context could not be fetched."""
    problem: str = ""


class ContextCache:
    """The contexts that this process has fetched."""

    def __init__(self, decoder: BodyDecoder) -> None:
        self._decoder = decoder
        self._cached: dict[str, _CachedContext] = {}
        self._bytes = 0

    async def gather(self, expand: Expand, client: VisitClient) -> NeededContexts:
        """Expand a document, and fetch the contexts that it needs, up to the first problem."""
        contexts: dict[str, bytes] = {}
        fetched = FetchResult()
        expanded = await expand(contexts)
        problem = ""
        while not problem and (url := expanded.missing) is not None:
            if len(contexts) == MAX_CONTEXTS:
                problem = f"it needs more than {MAX_CONTEXTS} contexts"
                break
            context, requests = await self._get(url, client)
            fetched = joined(fetched, requests)
            if context.body is None:
                problem = f"its context {url}: {context.problem}"
            elif url in contexts:
                problem = f"its context {url} is needed again"
            else:
                contexts[url] = context.body
                expanded = await expand(contexts)
        return NeededContexts(quads=expanded.quads, fetched=fetched, problem=problem)

    async def _get(self, url: str, client: VisitClient) -> tuple[_CachedContext, FetchResult]:
        known = self._cached.get(url)
        age = client.now() - known.at if known is not None else 0.0
        if known is not None and age < (_FRESH_S if known.body is not None else _FAILED_S):
            return known, FetchResult()
        context, requests = await self._fetch(url, client)
        if context.body is None and known is not None and known.body is not None and age < _STALE_S:
            return known, requests
        self._store(url, context)
        return context, requests

    def _store(self, url: str, context: _CachedContext) -> None:
        self._drop(url)
        self._cached[url] = context
        self._bytes += len(context.body or b"")
        while len(self._cached) > _MAX_CACHED or self._bytes > _MAX_CACHED_BYTES:
            self._drop(next(iter(self._cached)))

    def _drop(self, url: str) -> None:
        dropped = self._cached.pop(url, None)
        if dropped is not None:
            self._bytes -= len(dropped.body or b"")

    async def _fetch(self, url: str, client: VisitClient) -> tuple[_CachedContext, FetchResult]:
        canonical = urls.join(url, "")
        if canonical is None:
            return _CachedContext(at=client.now(), body=None, problem="not an http or https URL"), FetchResult()
        fetched = await client.get(canonical, accept=ACCEPT)
        assert not isinstance(fetched, Wait), "a wait is returned only before the first request"
        response = fetched.answer
        if fetched.failure is None and response is not None and (url_of_json := _alternate(response)) is not None:
            alternate = await client.get(url_of_json, accept=ACCEPT)
            assert not isinstance(alternate, Wait), "a wait is returned only before the first request"
            fetched = joined(fetched, alternate)
        body, problem = await self._body(fetched)
        return _CachedContext(at=client.now(), body=body, problem=problem), fetched

    async def _body(self, fetched: FetchResult) -> tuple[bytes | None, str]:
        """The body of the context, or None and the reason."""
        response, failure = fetched.answer, fetched.failure
        if failure is not None or response is None:
            return None, f"{failure.kind} {failure.detail}".strip() if failure is not None else "no response"
        if response.status != 200:
            return None, f"status {response.status}"
        if response.truncated is not None or len(response.body) > MAX_BYTES:
            return None, f"truncated, or longer than {MAX_BYTES} bytes"
        if "json" not in bare_type(response.header("content-type")):
            return None, f"no JSON: {bare_type(response.header('content-type')) or 'a response without a media type'}"
        try:
            decoded = await self._decoder.decode(encoded_body(response), MAX_BYTES)
        except ValueError as error:
            return None, f"cannot be decoded: {error}"
        if decoded.problem is not None:
            return None, f"cannot be decoded: {decoded.problem}"
        return decoded.body, ""


def _alternate(response: Exchange) -> str | None:
    """The URL of the JSON-LD that a response of another type names (JSON-LD 1.1 API, 7.2)."""
    if response.status != 200 or "json" in bare_type(response.header("content-type")):
        return None
    headers = [value for name, value in response.headers if name == "link"]
    alternates = (link for link in parse_links(headers, response.url) if "alternate" in link.rels)
    return next((link.url for link in alternates if link.type == "application/ld+json"), None)
