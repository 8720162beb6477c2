"""`webstrata cat URL`: the archived body of a page."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from webstrata.cli.options import HomeOption, JsonOption, UrlArgument
from webstrata.cli.output import iso_or_none, print_json, printable, size, write_bytes
from webstrata.cli.session import open_node, run_async
from webstrata.clock import parse_instant
from webstrata.errors import UsageError
from webstrata.flows.versions import Version, read_version, version_at, watched_page


def command(
    address: UrlArgument,
    at: Annotated[
        str | None,
        typer.Option(metavar="T", help="The version at this time. Default: the newest version.", show_default=False),
    ] = None,
    headers: Annotated[
        bool, typer.Option("--headers", help="Print the status and headers instead of the body.")
    ] = False,
    home: HomeOption = None,
    as_json: JsonOption = False,
) -> None:
    """Print the archived body of a page, with its content coding removed.

    On a terminal, control characters are replaced; a pipe or a file gets the bytes unchanged.
    """
    instant = parse_instant(at) if at is not None else None
    node = open_node(home)

    async def read() -> Version:
        async with node.store() as store:
            page = await watched_page(store, address)
            visit = await version_at(store, page, instant)
            return read_version(node.reader().read, visit, node.settings.fetch.max_decoded)

    version = run_async(read)
    if as_json:
        print_json(
            {
                "url": version.visit.url,
                "at": iso_or_none(version.visit.at),
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
            typer.echo(printable(f"{name}: {value}"))
    elif sys.stdout.isatty():
        _print_text(version)
    else:
        write_bytes(version.body)


def _print_text(version: Version) -> None:
    """Print the body to a terminal; refuse binary bodies."""
    from webstrata.flows.version_content import content_of

    if b"\0" in version.body[:8000]:
        kind = printable(version.header("content-type") or "of unknown type")
        raise UsageError(
            f"the body ({size(len(version.body))}, {kind}) is binary and not shown on a terminal. "
            "Redirect it to a file with > FILE."
        )
    for line in content_of(version, None, raw=True).text.splitlines():
        typer.echo(printable(line))
