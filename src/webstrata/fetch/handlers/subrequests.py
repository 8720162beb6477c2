"""What a rendered page asks for: each request politely, once, into the archive, or refused.

Only plain GETs over HTTP are made; the page cannot post, and nobody's cookies are sent. Redirects are followed here, so
that every hop has its permit; the browser gets the last answer.
"""

from __future__ import annotations

import asyncio
from contextlib import ExitStack

from webstrata import urls
from webstrata.coding import decode
from webstrata.errors import BadUrl
from webstrata.fetch.handlers.render_messages import BrowserRequest, BrowserResponse, Message, packed
from webstrata.ports import Clock, VisitClient
from webstrata.records import Exchange, FetchResult, Wait

_LARGEST_RATIO = 500.0
_NOT_PASSED = frozenset(
    ["content-encoding", "content-length", "transfer-encoding", "connection", "keep-alive", "set-cookie", "alt-svc"]
)


class Subrequests:
    """The requests of one page; `exchanges` are all that were made, the page's own first."""

    def __init__(self, page: FetchResult, polite: VisitClient, clock: Clock, *, most: int, most_bytes: int) -> None:
        assert page.answer is not None
        self._polite = polite
        self._clock = clock
        self._most = most
        self._most_bytes = most_bytes
        self._bytes = 0
        self._answers: dict[str, asyncio.Task[Exchange | None]] = {}
        self._page = page.answer
        self._tasks: set[asyncio.Task[None]] = set()
        self._waiting = 0
        self._work = ExitStack()
        self._work.enter_context(clock.working())
        self.exchanges: tuple[Exchange, ...] = page.exchanges

    def take(self, message: Message, browser: asyncio.StreamWriter) -> None:
        """Answer a message of the browser's, some time."""
        if isinstance(message, BrowserRequest):
            task = asyncio.create_task(self._serve(message, browser))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def close(self) -> None:
        """Give up what is still asked for."""
        tasks = [*self._tasks, *self._answers.values()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        self._work.close()

    async def _serve(self, ask: BrowserRequest, browser: asyncio.StreamWriter) -> None:
        answer = await self._answer(ask)
        reply = (
            BrowserResponse(id=ask.id)
            if answer is None
            else await asyncio.to_thread(_reply, ask.id, answer, self._most_bytes)
        )
        browser.write(packed(reply))

    async def _answer(self, ask: BrowserRequest) -> Exchange | None:
        try:
            url = urls.canonical(ask.url)
        except BadUrl:
            return None
        if ask.method != "GET":
            return None
        if url == self._page.url:
            return self._page
        if url not in self._answers:
            if len(self._answers) >= self._most or self._bytes >= self._most_bytes:
                return None
            self._answers[url] = asyncio.create_task(self._get(url, ask.accept))
        return await asyncio.shield(self._answers[url])

    async def _get(self, url: str, accept: str) -> Exchange | None:
        # A clock that jumps must not stand still for the browser while a host's door is waited at.
        self._waiting += 1
        if self._waiting == 1:
            self._work.close()
        try:
            got = await self._polite.get(url, accept=accept if accept.isascii() and accept.isprintable() else "*/*")
        finally:
            self._waiting -= 1
            if not self._waiting:
                self._work.enter_context(self._clock.working())
        if isinstance(got, Wait):
            return None
        self.exchanges += got.exchanges
        self._bytes += sum(len(exchange.body) for exchange in got.exchanges)
        return got.answer if got.failure is None else None


def _reply(number: int, answer: Exchange, most_bytes: int) -> BrowserResponse:
    """As the browser would have got it, content coding removed."""
    decoded = decode(answer.body, answer.header("content-encoding"), max_bytes=most_bytes, max_ratio=_LARGEST_RATIO)
    headers = {name: value for name, value in answer.headers if name not in _NOT_PASSED}
    return BrowserResponse(id=number, status=answer.status, headers=headers, body=decoded.body)
