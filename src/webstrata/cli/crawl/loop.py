"""What `crawl` and `run` share: run the loop, stop it on a signal, print a summary."""

from __future__ import annotations

import asyncio
import logging
import signal
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol

import typer

from webstrata.cli.messages import start_logging
from webstrata.cli.output import counted, print_json, size
from webstrata.cli.session import run_async

if TYPE_CHECKING:
    from webstrata.cli.crawl.display import VisitCounts
    from webstrata.flows.crawl.loop import CrawlLoop
    from webstrata.node import Node


def run_loop(node: Node, work: Callable[[CrawlLoop], Awaitable[object]], *, quiet: bool, as_json: bool) -> None:
    """Run `work` with the loop of the node, then print the number of visits."""
    node.require_usable()
    began_at = node.clock.now()
    counts = run_async(lambda: _run(node, work, quiet=quiet))
    if as_json:
        failures = [{"url": visit.url, "status": visit.status, "failure": visit.failure} for visit in counts.failures]
        print_json({**counts.summary(), "failures": failures})
        return
    typer.echo(
        f"{counted(counts.visits, 'visit')}, {counts.changed} changed, {counts.failed} failed, "
        f"{f'{counts.cut} with a cut body, ' if counts.cut else ''}{size(counts.bytes)} in {counts.summary()['seconds']:.1f} s",
        err=True,
    )
    fault = node.home.fault()
    if not counts.visits and fault is not None and fault[1] >= began_at:
        typer.echo("No page was visited because of a fault of this machine: `webstrata status` shows it.", err=True)
    elif not counts.visits:
        typer.echo("Nothing was due: `webstrata status` says when the next visit is.", err=True)


async def _run(node: Node, work: Callable[[CrawlLoop], Awaitable[object]], *, quiet: bool) -> VisitCounts:
    from webstrata.cli.crawl.display import showing

    with showing(quiet=quiet) as counts:
        # Only now: the live display redirects stderr, and log messages must appear above it.
        start_logging(logging.WARNING if quiet else logging.INFO)
        async with node.crawling(counts) as loop:
            with stopped_by_signals(loop):
                await work(loop)
    return counts


class Stoppable(Protocol):
    """Work that can finish what is in flight and then stop."""

    @property
    def stopping(self) -> bool: ...

    def stop(self) -> None: ...


@contextmanager
def stopped_by_signals(work: Stoppable) -> Iterator[None]:
    """The first SIGINT or SIGTERM stops the work; the second one cancels the block, which then ends without an error."""
    task = asyncio.current_task()
    assert task is not None

    def on_signal() -> None:
        from webstrata.cli.crawl.display import stderr

        if work.stopping:
            task.cancel()
            return
        work.stop()
        stderr.print("webstrata: finishing the requests in flight; press Ctrl-C again to stop at once")

    events = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        events.add_signal_handler(number, on_signal)
    try:
        yield
    except asyncio.CancelledError:
        if not work.stopping:
            raise
        task.uncancel()
    finally:
        for number in (signal.SIGINT, signal.SIGTERM):
            events.remove_signal_handler(number)
