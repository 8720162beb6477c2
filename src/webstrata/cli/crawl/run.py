"""`webstrata run`: run the loop until it is stopped."""

from __future__ import annotations

from typing import Annotated

import typer

from webstrata.cli.crawl.loop import run_loop
from webstrata.cli.options import HomeOption, JsonOption, PolicyOption, SetOption
from webstrata.cli.session import open_node, with_policy
from webstrata.clock import parse_span


def command(
    policy: PolicyOption = None,
    home: HomeOption = None,
    settings: SetOption = None,
    stop_after: Annotated[
        str | None,
        typer.Option("--for", metavar="SPAN", help="Stop after this time, like 6h. Default: run until stopped."),
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Visit each page when it is due, until stopped (Ctrl-C finishes the requests in flight)."""
    node = open_node(home, with_policy(settings, policy))
    until = node.clock.now() + parse_span(stop_after) if stop_after else float("inf")
    run_loop(node, lambda loop: loop.run(until), quiet=quiet, as_json=as_json)
