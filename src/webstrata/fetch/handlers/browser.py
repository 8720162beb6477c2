"""The `browser` handler: a page's content is its DOM after its scripts ran, in the system's Chromium.

The crawler asks for the page itself; only HTML is rendered. The browser lives in a process of its own that is thrown
away after the page; every request that it makes is asked for here, politely, with a permit and into the archive, or
refused. Rendered DOM and screenshot are archived as resource records (`urn:dom:URL`, `urn:view:URL`).
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

from webstrata.fetch.handlers.negotiate import bare_type
from webstrata.fetch.handlers.process_tree import kill, memory_of, named, process_tree
from webstrata.fetch.handlers.render_messages import RenderedPage, RenderFailure, RenderRequest, packed, receive
from webstrata.fetch.handlers.subrequests import Subrequests
from webstrata.fetch.handlers.visit_result import failed, visit_result
from webstrata.ports import Clock, VisitClient
from webstrata.records import Exchange, Failure, FailureKind, FetchResult, Page, Resource, VisitResult, Wait

ACCEPT = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"
PROGRAMS = ("chromium", "chromium-browser", "google-chrome-stable", "google-chrome")
_HTML = ("text/html", "application/xhtml+xml")
_END_S = 2.0
"""For the browser to close by itself, and then for what was killed to be gone."""
_GONE_S = 0.05
_LOOK_S = 0.25
"""Between two looks at its memory; a page fills a gigabyte in a second."""


class RenderLimits(Struct, frozen=True, kw_only=True):
    """Bounds of one rendering. Times are real time."""

    load_s: float = 60.0
    """Until the page's load event, the waiting at hosts' doors included."""
    settle_s: float = 10.0
    """After it, until the network is quiet."""
    total_s: float = 120.0
    memory_bytes: int = 2 * 2**30
    """Of each process of the browser."""
    total_memory_bytes: int = 3 * 2**30
    """Of all of them together."""
    largest_dom: int = 20_000_000
    most_requests: int = 200
    most_bytes: int = 100_000_000
    """Of all bodies together, as sent."""
    width: int = 1280
    height: int = 800


class BrowserHandler:
    """Renders pages. Without Chromium or Playwright every visit is a failure that says what to install."""

    name = "browser"

    def __init__(self, clock: Clock, *, agent: str, rendering: RenderLimits | None = None, program: str = "") -> None:
        self._clock = clock
        self._agent = agent
        self._rendering = rendering or RenderLimits()
        self._program = program
        self._one = asyncio.Semaphore(1)

    async def visit(self, page: Page, polite: VisitClient) -> VisitResult | Wait:
        program = self._program or find_program()
        if missing := what_is_missing(program):
            return visit_result(page, polite, FetchResult(failure=Failure(kind=FailureKind.HANDLER, detail=missing)))
        got = await polite.get(
            page.url, accept=(page.page_rules.accept if page.page_rules is not None else "") or ACCEPT
        )
        if isinstance(got, Wait):
            return got
        answer = got.answer
        if got.failure is not None or answer is None or not _is_page(answer):
            return visit_result(page, polite, got)
        main = len(got.exchanges) - 1
        async with self._one:  # one browser at a time: it is the largest thing we ever start
            requests = Subrequests(
                got, polite, self._clock, most=self._rendering.most_requests, most_bytes=self._rendering.most_bytes
            )
            try:
                made = await self._render(program, answer.url, requests)
            finally:
                await requests.close()
        whole = FetchResult(exchanges=requests.exchanges)
        if isinstance(made, Failure):
            return visit_result(page, polite, failed(whole, made), main=main)
        content = Resource(
            url=f"urn:dom:{page.url}", at=answer.at, content_type="text/html; charset=utf-8", body=made.dom
        )
        view = Resource(url=f"urn:view:{page.url}", at=answer.at, content_type="image/png", body=made.screenshot)
        return visit_result(page, polite, whole, main=main, content=content, extras=(view,))

    async def _render(self, program: str, url: str, requests: Subrequests) -> RenderedPage | Failure:
        bounds = self._rendering
        start = RenderRequest(
            url=url,
            program=program,
            sandbox=os.geteuid() != 0,  # Chromium's own sandbox refuses to work for root
            agent=self._agent,
            width=bounds.width,
            height=bounds.height,
            load_s=bounds.load_s,
            settle_s=bounds.settle_s,
            memory_bytes=bounds.memory_bytes,
            largest_dom=bounds.largest_dom,
        )
        with tempfile.TemporaryDirectory(prefix="webstrata-render-", ignore_cleanup_errors=True) as folder:
            try:
                process = await _start_process(folder)
            except OSError as problem:
                return Failure(kind=FailureKind.HANDLER, detail=f"the browser's process did not start: {problem}")
            watch = asyncio.create_task(_watch_memory(process.pid, bounds.total_memory_bytes))
            try:
                async with asyncio.timeout(bounds.total_s):
                    made = await _converse(process, start, requests)
                return watch.result() if watch.done() else made
            except TimeoutError:
                detail = f"not rendered within {bounds.total_s:g} seconds"
                return Failure(kind=FailureKind.TIMEOUT_TOTAL, detail=detail)
            finally:
                watch.cancel()
                await _end(process, folder)


def find_program() -> str:
    """The system's Chromium; empty where there is none."""
    return next((found for name in PROGRAMS if (found := shutil.which(name))), "")


def what_is_missing(program: str) -> str:
    """What to install, in words; empty where all is there."""
    if importlib.util.find_spec("playwright") is None:
        return "rendering needs Playwright: install webstrata[browser]"
    if not program or not os.access(program, os.X_OK):
        where = f" at {program}" if program else ""
        return f"rendering needs Chromium, and there is none{where}: install your system's chromium package"
    return ""


def _is_page(answer: Exchange) -> bool:
    whole = answer.status == 200 and answer.truncated is None
    return whole and bare_type(answer.header("content-type")) in _HTML


async def _start_process(folder: str) -> asyncio.subprocess.Process:
    """In a session and a folder of its own, and with nothing of our environment."""
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


async def _watch_memory(pid: int, most: int) -> Failure:
    """Ends the browser when it takes too much memory; ends itself only then."""
    while True:
        members = await asyncio.to_thread(process_tree, pid)
        if await asyncio.to_thread(memory_of, members) > most:
            kill(members)
            return Failure(kind=FailureKind.HANDLER, detail=f"the page takes more than {most >> 20} MiB of memory")
        await asyncio.sleep(_LOOK_S)


async def _converse(
    process: asyncio.subprocess.Process, start: RenderRequest, requests: Subrequests
) -> RenderedPage | Failure:
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(packed(start))
    while True:
        message = await receive(process.stdout)
        if isinstance(message, RenderedPage):
            return message
        if isinstance(message, RenderFailure):
            return Failure(kind=FailureKind.TIMEOUT_TOTAL if message.late else FailureKind.HANDLER, detail=message.why)
        if message is None or isinstance(message, RenderRequest):
            return Failure(kind=FailureKind.HANDLER, detail="the browser's process ended before the page was rendered")
        requests.take(message, process.stdin)


async def _end(process: asyncio.subprocess.Process, folder: str) -> None:
    """Let it close its browser; then it is killed with all that it started, in whatever group or session."""
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
    for _ in range(int(_END_S / _GONE_S)):  # a gigabyte is not given back at once
        left = await asyncio.to_thread(named, folder)
        if not left:
            return
        kill(left)
        await asyncio.sleep(_GONE_S)
