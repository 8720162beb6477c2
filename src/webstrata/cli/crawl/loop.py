"""What `crawl` and `run` share: open the loop, stop it well on a signal, sum up."""

from __future__ import annotations

import asyncio
import logging
import signal
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Protocol, TypeVar

import typer

from webstrata.cli.crawl.display import VisitCounts, showing, stderr
from webstrata.cli.output import counted, print_json, size
from webstrata.cli.session import run_async
from webstrata.errors import BadSettings
from webstrata.flows.crawl.loop import CrawlLoop
from webstrata.node import Node


def keep_going(node: Node, work: Callable[[CrawlLoop], Awaitable[object]], *, quiet: bool, as_json: bool) -> None:
    """Do the work; the first SIGINT or SIGTERM finishes what is in flight, the second gives it back at once."""
    _insist_on_certificates(node)

    async def main() -> VisitCounts:
        with showing(quiet=quiet) as tally:
            # Not before: a live display takes stderr over, and what is logged must stand above it.
            logging.basicConfig(level=logging.WARNING if quiet else logging.INFO, format="webstrata: %(message)s")
            async with node.crawling(tally) as loop:
                await until_signalled(loop, work)
        return tally

    tally = run_async(main)
    if as_json:
        print_json(tally.summary())
    else:
        typer.echo(
            f"{counted(tally.visits, 'visit')}, {tally.changed} changed, {tally.failed} failed, "
            f"{size(tally.bytes)} in {tally.summary()['seconds']:.1f} s",
            err=True,
        )
        if not tally.visits:
            typer.echo("Nothing was due: `webstrata status` says when the next visit is.", err=True)


def _insist_on_certificates(node: Node) -> None:
    file = node.settings.fetch.ca_file
    if file and not Path(file).is_file():
        raise BadSettings(f"fetch.ca_file: there is no file {file}. Name one with certificates, or leave it empty.")


class Stoppable(Protocol):
    """Work that can be ended well."""

    @property
    def stopping(self) -> bool: ...

    def stop(self) -> None: ...


Work = TypeVar("Work", bound=Stoppable)


async def until_signalled(loop: Work, work: Callable[[Work], Awaitable[object]]) -> None:
    """Work until it is done, or well stopped: `loop.stopping` tells."""
    task = asyncio.ensure_future(work(loop))

    def on_signal() -> None:
        if loop.stopping:
            task.cancel()
            return
        loop.stop()
        stderr.print("webstrata: finishing what is in flight; once more to give it back at once")

    events = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        events.add_signal_handler(number, on_signal)
    try:
        await task
    except asyncio.CancelledError:
        if not loop.stopping:
            raise
    finally:
        for number in (signal.SIGINT, signal.SIGTERM):
            events.remove_signal_handler(number)
