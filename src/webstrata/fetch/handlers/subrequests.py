"""`Subrequests`: the requests of a page that is rendered; each is fetched politely once and archived, or refused.

Only GET requests over HTTP are sent; the page cannot post, and no cookies are sent. Redirects are followed here, so
that every hop has a permit; the browser gets the last response, without its content coding, which another process
removes within limits.
"""

from __future__ import annotations

import asyncio
from contextlib import ExitStack

from webstrata import urls
from webstrata.coding import encoded_body
from webstrata.errors import BadUrl, ParserError
from webstrata.fetch.handlers.contexts import BodyDecoder
from webstrata.fetch.handlers.render_messages import BrowserRequest, BrowserResponse, Message, packed
from webstrata.ports import Clock, VisitClient
from webstrata.records import Exchange, FetchResult, Wait

_DROPPED_HEADERS = frozenset(
    ["content-encoding", "content-length", "transfer-encoding", "connection", "keep-alive", "set-cookie", "alt-svc"]
)


class Subrequests:
    """The requests of one page. `exchanges` holds all of them, first those of the page itself."""

    def __init__(
        self,
        page: FetchResult,
        client: VisitClient,
        clock: Clock,
        decoder: BodyDecoder,
        *,
        max_requests: int,
        max_bytes: int,
    ) -> None:
        assert page.answer is not None
        self._decoder = decoder
        self._client = client
        self._clock = clock
        self._max_requests = max_requests
        self._max_bytes = max_bytes
        self._bytes = 0
        self._responses: dict[str, asyncio.Task[Exchange | None]] = {}
        self._page = page.answer
        self._tasks: set[asyncio.Task[None]] = set()
        self._waiting = 0
        self._work = ExitStack()
        self._work.enter_context(clock.working())
        self.exchanges: tuple[Exchange, ...] = page.exchanges

    def take(self, message: Message, browser: asyncio.StreamWriter) -> None:
        """Serve a request of the browser in a task of its own."""
        if isinstance(message, BrowserRequest):
            task = asyncio.create_task(self._serve(message, browser))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def close(self) -> None:
        """Cancel the requests that are under way."""
        tasks = [*self._tasks, *self._responses.values()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        self._work.close()

    async def _serve(self, request: BrowserRequest, browser: asyncio.StreamWriter) -> None:
        exchange = await self._respond(request)
        body = await self._body(exchange) if exchange is not None else None
        if exchange is None or body is None:
            response = BrowserResponse(id=request.id)
        else:
            headers = {name: value for name, value in exchange.headers if name not in _DROPPED_HEADERS}
            response = BrowserResponse(id=request.id, status=exchange.status, headers=headers, body=body)
        browser.write(packed(response))

    async def _body(self, exchange: Exchange) -> bytes | None:
        """The body as the browser gets it, without content coding; None if it cannot be decoded within the limits."""
        if exchange.header("content-encoding") is None:
            return exchange.body
        try:
            return (await self._decoder.decode(encoded_body(exchange), self._max_bytes)).body
        except (ValueError, ParserError):
            return None

    async def _respond(self, request: BrowserRequest) -> Exchange | None:
        """The exchange for a request; None if it is refused or failed."""
        try:
            url = urls.canonical(request.url)
        except BadUrl:
            return None
        if request.method != "GET":
            return None
        if url == self._page.url:
            return self._page
        if url not in self._responses:
            if len(self._responses) >= self._max_requests or self._bytes >= self._max_bytes:
                return None
            self._responses[url] = asyncio.create_task(self._get(url, request.accept))
        return await asyncio.shield(self._responses[url])

    async def _get(self, url: str, accept: str) -> Exchange | None:
        # A jumping clock must be able to advance while a request waits for its permit.
        self._waiting += 1
        if self._waiting == 1:
            self._work.close()
        try:
            accept = accept if accept.isascii() and accept.isprintable() else "*/*"
            fetched = await self._client.get(url, accept=accept)
        finally:
            self._waiting -= 1
            if not self._waiting:
                self._work.enter_context(self._clock.working())
        if isinstance(fetched, Wait):
            return None
        self.exchanges += fetched.exchanges
        self._bytes += sum(len(exchange.body) for exchange in fetched.exchanges)
        return fetched.answer if fetched.failure is None else None
