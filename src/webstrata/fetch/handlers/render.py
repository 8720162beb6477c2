"""`python -m webstrata.fetch.handlers.render`: the process that runs the browser for one page.

The browser has no network access: each of its requests goes to the crawler over a pipe, and the crawler responds. For
connections that are not intercepted (sockets, preconnects, WebRTC) no name is resolved and the proxy does not exist.
"""

from __future__ import annotations

import asyncio
import ctypes
import resource
import signal
import sys
from contextlib import suppress

from playwright.async_api import BrowserContext, Page, Route, async_playwright
from playwright.async_api import Error as BrowserError
from playwright.async_api import TimeoutError as BrowserTimeout

from webstrata.fetch.handlers.render_messages import (
    BrowserRequest,
    BrowserResponse,
    Message,
    RenderedPage,
    RenderFailure,
    RenderRequest,
    packed,
    receive,
)

NO_NETWORK = (
    "--proxy-server=http://blocked.invalid:9",
    "--proxy-bypass-list=<-loopback>",
    "--host-resolver-rules=MAP * ~NOTFOUND",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--disable-quic",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-domain-reliability",
    "--disable-sync",
    "--disable-default-apps",
    "--disable-extensions",
    "--no-first-run",
    "--no-pings",
)
REPRODUCIBLE = ("--disable-gpu", "--hide-scrollbars", "--mute-audio", "--disable-dev-shm-usage")

_REMOVE_SOCKET_APIS = (
    "for (const name of ['RTCPeerConnection', 'webkitRTCPeerConnection', 'WebTransport']) delete self[name];"
)
_PR_SET_PDEATHSIG = 1


class Renderer:
    """Renders one page in one browser."""

    def __init__(
        self, start: RenderRequest, from_crawler: asyncio.StreamReader, to_crawler: asyncio.StreamWriter
    ) -> None:
        self._start = start
        self._from_crawler = from_crawler
        self._to_crawler = to_crawler
        self._waiting: dict[int, asyncio.Future[BrowserResponse]] = {}
        self._count = 0

    async def run(self) -> Message:
        """Render the page; the result is the last message to the crawler."""
        receiving = asyncio.create_task(self._receive_responses())
        try:
            async with async_playwright() as playwright:
                browser = await playwright.chromium.launch(
                    executable_path=self._start.program,
                    chromium_sandbox=self._start.sandbox,
                    args=[*NO_NETWORK, *REPRODUCIBLE],
                    handle_sigint=False,
                )
                context = await browser.new_context(
                    user_agent=self._start.agent,
                    viewport={"width": self._start.width, "height": self._start.height},
                    service_workers="block",
                    accept_downloads=False,
                    locale="en-US",
                    timezone_id="UTC",
                    reduced_motion="reduce",
                )
                try:
                    return await self._render(context)
                finally:
                    await browser.close()
        except BrowserTimeout:
            return RenderFailure(
                reason=f"the page did not finish loading in {self._start.load_s:g} seconds", timed_out=True
            )
        except BrowserError as problem:
            return RenderFailure(reason=" ".join(problem.message.split())[:300])
        finally:
            receiving.cancel()

    async def _render(self, context: BrowserContext) -> Message:
        await context.add_init_script(_REMOVE_SOCKET_APIS)
        await context.route("**/*", self._route)
        page = await context.new_page()
        context.on("page", self._close_other)
        await page.goto(self._start.url, wait_until="load", timeout=self._start.load_s * 1000)
        with suppress(BrowserTimeout):  # a page that never stops sending requests is rendered as it is
            await page.wait_for_load_state("networkidle", timeout=self._start.settle_s * 1000)
        dom = (await page.content()).encode("utf-8", "replace")
        if len(dom) > self._start.max_dom_bytes:
            return RenderFailure(reason=f"the rendered page is longer than {self._start.max_dom_bytes} bytes")
        return RenderedPage(dom=dom, screenshot=await page.screenshot(type="png", animations="disabled"))

    def _close_other(self, page: Page) -> None:
        """Close windows that the page opens."""
        self._closing = asyncio.ensure_future(page.close())

    async def _route(self, route: Route) -> None:
        request = route.request
        self._count += 1
        number = self._count
        response_future: asyncio.Future[BrowserResponse] = asyncio.get_running_loop().create_future()
        self._waiting[number] = response_future
        accept = request.headers.get("accept", "*/*")
        self._to_crawler.write(packed(BrowserRequest(id=number, url=request.url, method=request.method, accept=accept)))
        await self._to_crawler.drain()
        response = await response_future
        if response.status is None:
            await route.abort("blockedbyclient")
        else:
            await route.fulfill(status=response.status, headers=response.headers, body=response.body)

    async def _receive_responses(self) -> None:
        while isinstance(message := await receive(self._from_crawler), BrowserResponse):
            if (waiting := self._waiting.pop(message.id, None)) is not None and not waiting.done():
                waiting.set_result(message)
        for waiting in self._waiting.values():  # the crawler has ended
            waiting.cancel()


def _limit_process(memory_bytes: int) -> None:
    """Limit the memory of this process and of each one that it starts, and end it together with the crawler."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_DATA, (memory_bytes, memory_bytes))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


async def _pipes() -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader(limit=2**20)
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin.buffer)
    transport, protocol = await loop.connect_write_pipe(asyncio.streams.FlowControlMixin, sys.stdout.buffer)
    return reader, asyncio.StreamWriter(transport, protocol, None, loop)


async def main() -> None:
    from_crawler, to_crawler = await _pipes()
    start = await receive(from_crawler)
    if not isinstance(start, RenderRequest):
        return
    _limit_process(start.memory_bytes)
    to_crawler.write(packed(await Renderer(start, from_crawler, to_crawler).run()))
    await to_crawler.drain()


if __name__ == "__main__":
    asyncio.run(main())
