"""`webstrata run`: the loop, until stopped."""

from __future__ import annotations

from typing import Annotated

import typer

from webstrata.cli.crawl.loop import keep_going
from webstrata.cli.session import HomeOption, JsonOption, PolicyOption, SetOption, open_node, with_policy
from webstrata.clock import parse_span


def command(
    policy: PolicyOption = None,
    home: HomeOption = None,
    settings: SetOption = None,
    stop_after: Annotated[
        str | None, typer.Option("--for", metavar="SPAN", help="Stop after this time, like 6h.")
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Keep visiting, each page when its turn comes, until stopped (Ctrl-C finishes what is in flight)."""
    node = open_node(home, with_policy(settings, policy))
    until = node.clock.now() + parse_span(stop_after) if stop_after else float("inf")
    keep_going(node, lambda loop: loop.run(until), quiet=quiet, as_json=as_json)
