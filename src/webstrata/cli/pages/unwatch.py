"""`webstrata unwatch`: stop visiting pages; archived versions are kept."""

from __future__ import annotations

from typing import Annotated

import typer

from webstrata import urls
from webstrata.cli.options import HomeOption, JsonOption
from webstrata.cli.output import counted, print_json
from webstrata.cli.session import open_node, run_async
from webstrata.errors import UsageError


def command(
    addresses: Annotated[list[str], typer.Argument(metavar="URL", help="URLs of the pages.", show_default=False)],
    home: HomeOption = None,
    as_json: JsonOption = False,
) -> None:
    """Stop visiting pages. The log and all archived versions are kept; `watch` resumes the visits."""
    pages = list(dict.fromkeys(urls.canonical(address) for address in addresses))

    async def pause() -> tuple[int, list[str]]:
        async with open_node(home).store() as store:
            unknown = [url for url in pages if await store.pages.get(url) is None]
            return await store.pages.pause(pages), unknown

    paused, unknown = run_async(pause)
    if as_json:
        print_json({"unwatched": paused, "unknown": len(unknown)})
    elif paused or not unknown:
        typer.echo(f"{counted(paused, 'page')} no longer watched. Archived versions are kept.")
    if unknown:
        raise UsageError(f"not watched: {', '.join(unknown)}. `webstrata list` shows the watched pages.")
