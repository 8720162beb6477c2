"""`webstrata cat URL`: the archived body of a page."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from webstrata.cli.history.visit_text import warn_of_cuts
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
        typer.Option(metavar="TIME", help="The version at this time. Default: the newest version.", show_default=False),
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
    warn_of_cuts([version.visit])
    if as_json:
        print_json(
            {
                "url": version.visit.url,
                "at": iso_or_none(version.visit.at),
                "status": version.status,
                "headers": version.headers,
                "size": version.size,
                "truncated": version.visit.truncated,
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
        problem = version.write(write_bytes)
        if problem is not None:
            typer.echo(f"The body is not what its Content-Encoding header says: {printable(problem)}.", err=True)


def _print_text(version: Version) -> None:
    """Print the body to a terminal; refuse binary and very large bodies."""
    from webstrata.flows.version_content import source_text

    if version.large is not None or b"\0" in version.body[:8000]:
        kind = printable(version.header("content-type") or "of unknown type")
        what = "too large" if version.large is not None else "binary"
        raise UsageError(
            f"the body ({size(version.size)}, {kind}) is {what} and not shown on a terminal. "
            "Redirect it to a file with > FILE."
        )
    for line in source_text(version).splitlines():
        typer.echo(printable(line))
