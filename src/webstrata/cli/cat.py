"""`webstrata cat URL`: an archived body."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from webstrata.cli.output import print_json, when
from webstrata.cli.session import HomeOption, JsonOption, open_node, run_async
from webstrata.clock import parse_instant
from webstrata.flows.recall import Version, recall, version_at, watched_page


def command(
    address: Annotated[str, typer.Argument(metavar="URL", show_default=False)],
    at: Annotated[str | None, typer.Option(metavar="T", help="As of this time; else the newest.")] = None,
    headers: Annotated[
        bool, typer.Option("--headers", help="Print the status and headers instead of the body.")
    ] = False,
    home: HomeOption = None,
    as_json: JsonOption = False,
) -> None:
    """Print the archived body of a page (content coding removed), as it was at a time."""
    node = open_node(home)

    async def read() -> Version:
        async with node.store() as store:
            page = await watched_page(store, address)
            visit = await version_at(store, page, parse_instant(at) if at else None)
            return recall(node.reader().read, visit, node.settings.fetch.max_decoded)

    version = run_async(read)
    if as_json:
        print_json(
            {
                "url": version.visit.url,
                "at": when(version.visit.at),
                "status": version.status,
                "headers": version.headers,
                "size": len(version.body),
                "raw": version.visit.raw,
                "warc": version.visit.position,
            }
        )
    elif headers:
        typer.echo(f"status: {version.status}")
        for name, value in version.headers:
            typer.echo(f"{name}: {value}")
    else:
        sys.stdout.buffer.write(version.body)
        sys.stdout.buffer.flush()
