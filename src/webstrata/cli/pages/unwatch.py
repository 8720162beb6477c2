"""`webstrata unwatch`: stop visiting pages; what was archived stays."""

from __future__ import annotations

from typing import Annotated

import typer

from webstrata import urls
from webstrata.cli.output import counted, print_json
from webstrata.cli.session import HomeOption, JsonOption, open_node, run_async
from webstrata.errors import UsageError


def command(
    addresses: Annotated[list[str], typer.Argument(metavar="URL", show_default=False)],
    home: HomeOption = None,
    as_json: JsonOption = False,
) -> None:
    """Stop visiting pages. Their log and every archived version stay; `watch` takes them up again."""
    wanted = list(dict.fromkeys(urls.canonical(address) for address in addresses))

    async def pause() -> tuple[int, list[str]]:
        async with open_node(home).store() as store:
            unknown = [url for url in wanted if await store.pages.get(url) is None]
            return await store.pages.pause(wanted), unknown

    stopped, unknown = run_async(pause)
    if as_json:
        print_json({"unwatched": stopped, "unknown": len(unknown)})
    elif stopped or not unknown:
        typer.echo(f"{counted(stopped, 'page')} no longer visited; what was archived stays.")
    if unknown:
        raise UsageError(f"not watched: {', '.join(unknown)}. `webstrata list` shows what is.")
