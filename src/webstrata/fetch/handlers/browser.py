"""The `browser` handler: the content of a page is its DOM after its scripts ran in the system's Chromium.

The crawler fetches the page itself; only HTML is rendered. The browser runs in a separate process that ends after the
page. Every request of the browser is fetched here, with a permit and into the archive, or refused (`subrequests.py`).
The rendered DOM and a screenshot are archived as resource records (`urn:dom:URL`, `urn:view:URL`).
"""

from __future__ import annotations

import asyncio
import importlib.util
import os
import shutil
import signal
import sys
import tempfile
from contextlib import suppress

from msgspec import Struct

from webstrata.fetch.handlers.contexts import BodyDecoder
from webstrata.fetch.handlers.negotiate import bare_type
from webstrata.fetch.handlers.process_tree import kill, memory_of, process_tree, processes_naming
from webstrata.fetch.handlers.render_messages import RenderedPage, RenderFailure, RenderRequest, packed, receive
from webstrata.fetch.handlers.subrequests import Subrequests
from webstrata.fetch.handlers.visit_result import failed, visit_result
from webstrata.ports import Clock, VisitClient
from webstrata.records import Exchange, Failure, FailureKind, FetchResult, Page, Resource, VisitResult, Wait

ACCEPT = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"
PROGRAMS = ("chromium", "chromium-browser", "google-chrome-stable", "google-chrome")
_HTML = ("text/html", "application/xhtml+xml")
_END_S = 2.0
"""Time for the browser to close by itself, and again for killed processes to disappear."""
_END_CHECK_S = 0.05
_MEMORY_CHECK_S = 0.25
"""Time between two checks of its memory; a page can fill a gigabyte in a second."""


class RenderLimits(Struct, frozen=True, kw_only=True):
    """Limits of one rendering. Times are real time."""

    load_s: float = 60.0
    """Until the load event of the page, including the wait for permits."""
    settle_s: float = 10.0
    """After the load event, until the network is idle."""
    total_s: float = 120.0
    memory_bytes: int = 2 * 2**30
    """For each process of the browser."""
    total_memory_bytes: int = 3 * 2**30
    """For all processes of the browser together."""
    max_dom_bytes: int = 20_000_000
    max_requests: int = 200
    max_bytes: int = 100_000_000
    """For all response bodies together, as sent."""
    width: int = 1280
    height: int = 800


class BrowserHandler:
    """Renders pages. Without Chromium or Playwright every visit fails with a message about what to install."""

    name = "browser"

    def __init__(
        self,
        clock: Clock,
        decoder: BodyDecoder,
        *,
        agent: str,
        limits: RenderLimits | None = None,
        program: str = "",
    ) -> None:
        self._clock = clock
        self._decoder = decoder
        self._agent = agent
        self._limits = limits or RenderLimits()
        self._program = program
        self._one_at_a_time = asyncio.Semaphore(1)

    async def visit(self, page: Page, client: VisitClient) -> VisitResult | Wait:
        program = self._program or find_chromium()
        if missing := missing_software(program):
            return visit_result(page, client, FetchResult(failure=Failure(kind=FailureKind.HANDLER, detail=missing)))
        fetched = await client.get(
            page.url, accept=(page.page_rules.accept if page.page_rules is not None else "") or ACCEPT
        )
        if isinstance(fetched, Wait):
            return fetched
        response = fetched.answer
        if fetched.failure is not None or response is None or not _is_page(response):
            return visit_result(page, client, fetched)
        main = len(fetched.exchanges) - 1
        async with self._one_at_a_time:  # a browser needs much memory
            requests = Subrequests(
                fetched,
                client,
                self._clock,
                self._decoder,
                max_requests=self._limits.max_requests,
                max_bytes=self._limits.max_bytes,
            )
            try:
                rendered = await self._render(program, response.url, requests)
            finally:
                await requests.close()
        fetched = FetchResult(exchanges=requests.exchanges)
        if isinstance(rendered, Failure):
            return visit_result(page, client, failed(fetched, rendered), main=main)
        content = Resource(
            url=f"urn:dom:{page.url}", at=response.at, content_type="text/html; charset=utf-8", body=rendered.dom
        )
        view = Resource(url=f"urn:view:{page.url}", at=response.at, content_type="image/png", body=rendered.screenshot)
        return visit_result(page, client, fetched, main=main, content=content, extras=(view,))

    async def _render(self, program: str, url: str, requests: Subrequests) -> RenderedPage | Failure:
        limits = self._limits
        start = RenderRequest(
            url=url,
            program=program,
            sandbox=os.geteuid() != 0,  # Chromium's sandbox does not work for root
            agent=self._agent,
            width=limits.width,
            height=limits.height,
            load_s=limits.load_s,
            settle_s=limits.settle_s,
            memory_bytes=limits.memory_bytes,
            max_dom_bytes=limits.max_dom_bytes,
        )
        with tempfile.TemporaryDirectory(prefix="webstrata-render-", ignore_cleanup_errors=True) as folder:
            try:
                process = await _start_process(folder)
            except OSError as problem:
                return Failure(kind=FailureKind.HANDLER, detail=f"the process of the browser did not start: {problem}")
            watch = asyncio.create_task(_watch_memory(process.pid, limits.total_memory_bytes))
            try:
                async with asyncio.timeout(limits.total_s):
                    rendered = await _converse(process, start, requests)
                return watch.result() if watch.done() else rendered
            except TimeoutError:
                detail = f"not rendered within {limits.total_s:g} seconds"
                return Failure(kind=FailureKind.TIMEOUT_TOTAL, detail=detail)
            finally:
                watch.cancel()
                await _end(process, folder)


def find_chromium() -> str:
    """The path of the system's Chromium; empty if there is none."""
    return next((found for name in PROGRAMS if (found := shutil.which(name))), "")


def missing_software(program: str) -> str:
    """A message about what to install; empty if nothing is missing."""
    if importlib.util.find_spec("playwright") is None:
        return "rendering needs Playwright: install webstrata[browser]"
    if not program or not os.access(program, os.X_OK):
        where = f" at {program}" if program else ""
        return f"rendering needs Chromium, and there is none{where}: install your system's chromium package"
    return ""


def _is_page(response: Exchange) -> bool:
    is_complete = response.status == 200 and response.truncated is None
    return is_complete and bare_type(response.header("content-type")) in _HTML


async def _start_process(folder: str) -> asyncio.subprocess.Process:
    """Start the process in its own session and folder, with an environment of its own."""
    environment = {
        "PATH": os.defpath,
        "PYTHONPATH": os.pathsep.join(path for path in sys.path if path),
        "HOME": folder,
        "TMPDIR": folder,
        "XDG_CONFIG_HOME": folder,
        "XDG_CACHE_HOME": folder,
        "LANG": "C.UTF-8",
    }
    return await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "webstrata.fetch.handlers.render",
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        env=environment,
        cwd=folder,
        start_new_session=True,
    )


async def _watch_memory(pid: int, max_bytes: int) -> Failure:
    """Kill the browser when it uses too much memory; return only then."""
    while True:
        members = await asyncio.to_thread(process_tree, pid)
        if await asyncio.to_thread(memory_of, members) > max_bytes:
            kill(members)
            return Failure(kind=FailureKind.HANDLER, detail=f"the page takes more than {max_bytes >> 20} MiB of memory")
        await asyncio.sleep(_MEMORY_CHECK_S)


async def _converse(
    process: asyncio.subprocess.Process, start: RenderRequest, requests: Subrequests
) -> RenderedPage | Failure:
    """Send the render request and serve the requests of the browser until the page is rendered."""
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(packed(start))
    while True:
        message = await receive(process.stdout)
        if isinstance(message, RenderedPage):
            return message
        if isinstance(message, RenderFailure):
            return Failure(
                kind=FailureKind.TIMEOUT_TOTAL if message.timed_out else FailureKind.HANDLER, detail=message.reason
            )
        if message is None or isinstance(message, RenderRequest):
            return Failure(
                kind=FailureKind.HANDLER, detail="the process of the browser ended before the page was rendered"
            )
        requests.take(message, process.stdin)


async def _end(process: asyncio.subprocess.Process, folder: str) -> None:
    """Let the process close its browser, then kill it with all processes that it started, in any group or session."""
    members = await asyncio.to_thread(process_tree, process.pid)
    if process.stdin is not None:
        process.stdin.close()
    with suppress(TimeoutError):
        async with asyncio.timeout(_END_S):
            await process.wait()
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    kill(members)
    await process.wait()
    for _ in range(int(_END_S / _END_CHECK_S)):  # a process with much memory takes a while to disappear
        remaining = await asyncio.to_thread(processes_naming, folder)
        if not remaining:
            return
        kill(remaining)
        await asyncio.sleep(_END_CHECK_S)
