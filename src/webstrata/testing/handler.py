"""The contract of access handlers: `check_handler(handler)` returns if a handler fulfils it.

The handler gets a scripted `VisitClient` without network access, so a request that does not go through the client has
no response. `tests/test_architecture.py` ensures that only `fetch` imports an HTTP client.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

from msgspec.structs import replace

from webstrata.ports import Handler
from webstrata.records import (
    Exchange,
    Failure,
    FailureKind,
    FetchResult,
    Page,
    PageRules,
    PostBody,
    Validators,
    VisitResult,
    Wait,
)

_AT = 1_790_000_000.0
_MAX_REQUESTS = 100

_STATUSES = (200, 203, 204, 206, 304, 400, 401, 404, 410, 429, 500, 503)
_BODIES = (b"", b"\x00\xff\xfe", b"<p>text", b'{"head": {', b"@prefix", b"\x1f\x8b\x08cut", b"x" * 100_000)
_TYPES = (
    None,
    "",
    ";;",
    "text/plain",
    "application/json",
    "application/sparql-results+json",
    "text/turtle",
    "application/ld+json",
    "application/xml",
    "application/octet-stream; x=\x00",
)


class ScriptedClient:
    """A `VisitClient` that returns prepared results in order, then repeats the last one, and records all requests."""

    def __init__(self, *results: FetchResult | Wait) -> None:
        self._results = list(results)
        self.requested: list[str] = []
        """The URLs of all requests."""
        self.returned: list[Exchange] = []
        """The exchanges of all results."""

    def now(self) -> float:
        return _AT + len(self.requested)

    async def get(
        self, url: str, *, accept: str, validators: Validators | None = None, large_body: bool = False
    ) -> FetchResult | Wait:
        assert "\r" not in accept, "an Accept header is one line"
        assert "\n" not in accept, "an Accept header is one line"
        return self._next(url)

    async def post(self, url: str, posted: PostBody, *, accept: str) -> FetchResult | Wait:
        return self._next(url)

    def _next(self, url: str) -> FetchResult | Wait:
        assert url.startswith(("http://", "https://")), f"requested {url!r}"
        self.requested.append(url)
        assert len(self.requested) <= _MAX_REQUESTS, "a handler ends, whatever the responses are"
        result = self._results.pop(0) if len(self._results) > 1 else self._results[0]
        if isinstance(result, FetchResult):
            # new objects each time, so that a handler that mixes up its exchanges is detected
            exchanges = tuple([replace(exchange, url=url, at=self.now()) for exchange in result.exchanges])
            self.returned += exchanges
            return replace(result, exchanges=exchanges)
        return result


def check_handler(handler: Handler, page: Page | None = None) -> None:
    """Raise AssertionError with the rule that the handler violates. `page` is a page that the handler can visit."""
    page_rules = PageRules(handler=handler.name)
    default = Page(id=1, url="http://example.org/page", host="example.org", page_rules=page_rules)
    asyncio.run(_check(handler, page or default))


async def _check(handler: Handler, page: Page) -> None:
    assert handler.name, "a handler has a name"
    await _check_wait(handler, page)
    await _check_failures(handler, page)
    for response in _responses():
        await _check_response(handler, page, response)


async def _check_wait(handler: Handler, page: Page) -> None:
    wait = Wait(until=_AT + 60, why="the host requested a pause")
    client = ScriptedClient(wait)
    assert await handler.visit(page, client) is wait, "a wait is returned unchanged"
    assert len(client.requested) == 1, "after a wait no further request is sent"


async def _check_failures(handler: Handler, page: Page) -> None:
    for kind in FailureKind:
        failure = Failure(kind=kind, detail="as scripted")
        client = ScriptedClient(FetchResult(failure=failure, again_at=_AT + 99))
        result = await _visit(handler, page, client)
        assert result.failure is not None, f"a failed request ({kind}) is a failed visit"
        assert result.content is None, f"a failed visit ({kind}) has no content"


async def _check_response(handler: Handler, page: Page, response: Exchange) -> None:
    """Check with one response to all requests, and with a failure after the first response."""
    failure = FetchResult(failure=Failure(kind=FailureKind.RESET))
    for script in ([FetchResult(exchanges=(response,))], [FetchResult(exchanges=(response,)), failure]):
        client = ScriptedClient(*script)
        result = await _visit(handler, page, client)
        if client.returned:
            assert result.at == client.returned[0].at, "a visit begins with its first request"
        if response.status != 200:
            assert result.content is None, f"a response with status {response.status} has no content"
        if result.failure is None:
            assert result.answer is not None, "a visit has a response or a failure"


async def _visit(handler: Handler, page: Page, client: ScriptedClient) -> VisitResult:
    try:
        result = await handler.visit(page, client)
    except Exception as problem:
        raise AssertionError(f"a handler raises nothing for any response: {problem!r}") from problem
    assert isinstance(result, VisitResult), "without a wait of the client the result is a VisitResult"
    assert result.page is page, "the result is for the page that was passed"
    assert len(result.exchanges) == len(client.returned), "every exchange is returned"
    pairs = zip(result.exchanges, client.returned, strict=True)
    assert all(exchange is returned for exchange, returned in pairs), "the exchanges are returned in order"
    for resource in (result.content, *result.extras):
        assert resource is None or resource.url.startswith("urn:"), "a created resource has a URN"
    return result


def _responses() -> Iterator[Exchange]:
    for status in _STATUSES:
        yield _exchange(status, "text/html" if status != 200 else "text/plain", b"text")
    for kind in _TYPES:
        for body in _BODIES:
            yield _exchange(200, kind, body)
    yield _exchange(200, "text/turtle", b"<a> <b> <c", encoding="gzip")
    yield _exchange(200, "application/sparql-results+json", b'{"boolean": true}', truncated=True)


def _exchange(
    status: int, kind: str | None, body: bytes, *, encoding: str | None = None, truncated: bool = False
) -> Exchange:
    optional = (("content-type", kind), ("content-encoding", encoding))
    headers = tuple((name, value) for name, value in optional if value is not None)
    head = "".join(f"{name}: {value}\r\n" for name, value in headers).encode("latin-1")
    return Exchange(
        url="",
        at=_AT,
        duration_s=0.1,
        request_head=b"GET / HTTP/1.1\r\n\r\n",
        address="192.0.2.1",
        status=status,
        response_head=b"HTTP/1.1 %d Scripted\r\n%s\r\n" % (status, head),
        headers=headers,
        body=body,
        truncated="disconnect" if truncated else None,
    )
