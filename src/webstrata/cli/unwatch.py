"""`webstrata unwatch`: stop visiting pages; what was archived stays."""

from __future__ import annotations

from typing import Annotated

import typer

from webstrata import urls
from webstrata.cli.output import print_json
from webstrata.cli.session import HomeOption, JsonOption, open_node, run_async
from webstrata.errors import UsageError


def command(
    addresses: Annotated[list[str], typer.Argument(metavar="URL…", show_default=False)],
    home: HomeOption = None,
    as_json: JsonOption = False,
) -> None:
    """Stop visiting pages. Their log and every archived version stay; `watch` takes them up again."""
    wanted = [urls.canonical(address) for address in addresses]

    async def pause() -> int:
        async with open_node(home).store() as store:
            return await store.pause(wanted)

    stopped = run_async(pause)
    if as_json:
        print_json({"unwatched": stopped, "unknown": len(wanted) - stopped})
    else:
        typer.echo(f"{stopped} pages are no longer visited.")
    if not stopped:
        raise UsageError("none of these pages is watched. `webstrata list` shows those that are.")
