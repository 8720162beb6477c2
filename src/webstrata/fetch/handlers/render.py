"""`python -m webstrata.fetch.handlers.render`: the disposable process that holds the browser for one page.

It has no network: every request of the browser is handed to the crawler over a pipe and answered from there. What
slips past the interception (sockets, preconnects, WebRTC) finds no name resolved and a proxy that does not exist.
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
STEADY = ("--disable-gpu", "--hide-scrollbars", "--mute-audio", "--disable-dev-shm-usage")

_UNREACHABLE = "for (const name of ['RTCPeerConnection', 'webkitRTCPeerConnection', 'WebTransport']) delete self[name];"
_PR_SET_PDEATHSIG = 1


class Renderer:
    """One page in one browser."""

    def __init__(self, start: RenderRequest, answers: asyncio.StreamReader, asks: asyncio.StreamWriter) -> None:
        self._start = start
        self._answers = answers
        self._asks = asks
        self._waiting: dict[int, asyncio.Future[BrowserResponse]] = {}
        self._count = 0

    async def run(self) -> Message:
        listening = asyncio.create_task(self._listen())
        try:
            async with async_playwright() as playwright:
                browser = await playwright.chromium.launch(
                    executable_path=self._start.program,
                    chromium_sandbox=self._start.sandbox,
                    args=[*NO_NETWORK, *STEADY],
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
            return RenderFailure(why=f"the page did not finish loading in {self._start.load_s:g} seconds", late=True)
        except BrowserError as problem:
            return RenderFailure(why=" ".join(problem.message.split())[:300])
        finally:
            listening.cancel()

    async def _render(self, context: BrowserContext) -> Message:
        await context.add_init_script(_UNREACHABLE)
        await context.route("**/*", self._route)
        page = await context.new_page()
        context.on("page", self._close_other)
        await page.goto(self._start.url, wait_until="load", timeout=self._start.load_s * 1000)
        with suppress(BrowserTimeout):  # a page that never stops asking is taken as it is
            await page.wait_for_load_state("networkidle", timeout=self._start.settle_s * 1000)
        dom = (await page.content()).encode("utf-8", "replace")
        if len(dom) > self._start.largest_dom:
            return RenderFailure(why=f"the rendered page is longer than {self._start.largest_dom} bytes")
        return RenderedPage(dom=dom, screenshot=await page.screenshot(type="png", animations="disabled"))

    def _close_other(self, page: Page) -> None:
        """Windows that the page opens are nobody's."""
        self._closing = asyncio.ensure_future(page.close())

    async def _route(self, route: Route) -> None:
        request = route.request
        self._count += 1
        number = self._count
        answer: asyncio.Future[BrowserResponse] = asyncio.get_running_loop().create_future()
        self._waiting[number] = answer
        accept = request.headers.get("accept", "*/*")
        self._asks.write(packed(BrowserRequest(id=number, url=request.url, method=request.method, accept=accept)))
        await self._asks.drain()
        reply = await answer
        if reply.status is None:
            await route.abort("blockedbyclient")
        else:
            await route.fulfill(status=reply.status, headers=reply.headers, body=reply.body)

    async def _listen(self) -> None:
        while isinstance(message := await receive(self._answers), BrowserResponse):
            if (waiting := self._waiting.pop(message.id, None)) is not None and not waiting.done():
                waiting.set_result(message)
        for waiting in self._waiting.values():  # the crawler has gone
            waiting.cancel()


def _bind(memory_bytes: int) -> None:
    """This process and all that it starts: bounded memory each, and no life beyond the crawler's."""
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
    answers, asks = await _pipes()
    start = await receive(answers)
    if not isinstance(start, RenderRequest):
        return
    _bind(start.memory_bytes)
    asks.write(packed(await Renderer(start, answers, asks).run()))
    await asks.drain()


if __name__ == "__main__":
    asyncio.run(main())
