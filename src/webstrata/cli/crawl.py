"""`webstrata crawl`: one round over what is due."""

from __future__ import annotations

from typing import Annotated

import typer

from webstrata.cli.loop import keep_going
from webstrata.cli.session import HomeOption, JsonOption, SetOption, open_node


def command(
    home: HomeOption = None,
    settings: SetOption = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Visit what is due, once, and exit: for cron."""
    keep_going(open_node(home, settings), lambda loop: loop.crawl(), quiet=quiet, as_json=as_json)
