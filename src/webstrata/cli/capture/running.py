"""The captures of one command: started together, stopped together by a signal, each with its own result."""

from __future__ import annotations

import asyncio
import logging
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer
from msgspec import Struct

from webstrata.cli.capture.display import NoCaptureDisplay, capture_display
from webstrata.cli.capture.summary import waiting_message
from webstrata.cli.crawl.loop import stopped_by_signals
from webstrata.cli.messages import start_logging
from webstrata.cli.output import printable
from webstrata.errors import WebstrataError

if TYPE_CHECKING:
    from webstrata.flows.capture.events import CaptureOrder, CaptureRun
    from webstrata.flows.capture.proof import FinishedCapture
    from webstrata.flows.capture.service import CaptureService
    from webstrata.flows.capture.site_capture import SiteCapture
    from webstrata.node import Node


class CaptureOptions(Struct, frozen=True, kw_only=True):
    """Options of the command that are not part of the orders."""

    resume: str | None
    repair: int | None
    max_time_s: float | None
    within_s: float | None
    """Start in the quietest period within this time; None to start now."""
    out: Path | None
    run: CaptureRun
    """What a resumed run needs to know."""


class RunningCaptures:
    """The running captures of the command, which are stopped together."""

    def __init__(self, options: CaptureOptions, display: NoCaptureDisplay) -> None:
        self.options = options
        self.display = display
        self.captures: list[SiteCapture] = []
        self._stop = asyncio.Event()

    @property
    def stopping(self) -> bool:
        return self._stop.is_set()

    def stop(self) -> None:
        self._stop.set()
        for capture in self.captures:
            capture.stop()

    async def run(
        self, service: CaptureService, node: Node, order: CaptureOrder | None
    ) -> tuple[SiteCapture, FinishedCapture] | None:
        """Run one capture and write its file. None if the command was stopped before the capture began."""
        if order is not None and self.options.within_s is not None:
            await self._wait_for_quietest(service, node, order, self.options.within_s)
        if self.stopping:
            return None
        if order is not None:
            capture = await service.begin(order, self.display.on_event, self.options.run)
        else:
            options = self.options
            capture = await service.resume(
                options.resume or "", self.display.on_event, repair=options.repair, max_time_s=options.max_time_s
            )
        self.captures.append(capture)
        if self._stop.is_set():
            capture.stop()
        await capture.run()
        out = self.options.out or node.home.captures / f"{capture.state.started.capture}.wacz"
        return capture, await service.finish(capture, out)

    async def _wait_for_quietest(
        self, service: CaptureService, node: Node, order: CaptureOrder, within_s: float
    ) -> None:
        start, past = await service.quietest_start(order, within_s)
        message = waiting_message(start.at, node.clock.now(), start.relative, len(past.changes_at))
        typer.echo(f"webstrata: {order.url}: {message}", err=True)
        sleeping = asyncio.ensure_future(node.clock.sleep_until(start.at))
        stopping = asyncio.ensure_future(self._stop.wait())
        await asyncio.wait((sleeping, stopping), return_when=asyncio.FIRST_COMPLETED)
        for task in (sleeping, stopping):
            task.cancel()


async def run_captures(
    node: Node, orders: list[CaptureOrder], options: CaptureOptions, *, quiet: bool
) -> list[tuple[SiteCapture, FinishedCapture]]:
    """Run the captures of these orders, or the one to resume, until they end or a signal stops them."""
    with capture_display(quiet=quiet) as display:
        start_logging(logging.WARNING if quiet else logging.INFO)
        running = RunningCaptures(options, display)
        results: list[Any] = []
        to_run: list[CaptureOrder | None] = list(orders) if options.resume is None else [None]
        with stopped_by_signals(running):
            async with node.capturing() as service:
                tasks = [running.run(service, node, order) for order in to_run]
                results.extend(await asyncio.gather(*tasks, return_exceptions=True))
    return _without_failures(results)


def _without_failures(results: list[Any]) -> list[tuple[SiteCapture, FinishedCapture]]:
    """Report the failure of one of several sites and return the others; raise the failure of a single site."""
    problems = [result for result in results if isinstance(result, BaseException)]
    for problem in problems:
        if len(results) == 1 or not isinstance(problem, WebstrataError):
            raise problem
        typer.echo(f"webstrata: {printable(problem)}", err=True)
    return [result for result in results if result is not None and result not in problems]
