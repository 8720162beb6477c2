"""`webstrata import wayback`: the copies that the CDX server of an archive lists."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from webstrata.cli.imports.running import (
    ArchiveOption,
    DepthOption,
    DryRunOption,
    RestartOption,
    WatchedOption,
    WatchOption,
    run_imports,
)
from webstrata.cli.imports.servers import PerMinuteOption, RefreshOption, checked_rate
from webstrata.cli.options import HomeOption, JsonOption
from webstrata.cli.session import time_range
from webstrata.wanted_pages import WantedPages, wanted_pages

if TYPE_CHECKING:
    from contextlib import AbstractAsyncContextManager

    from webstrata.node import Node
    from webstrata.ports import CopySource

_WAYBACK = "https://web.archive.org/cdx/search/cdx"


def command(
    patterns: Annotated[
        list[str],
        typer.Argument(
            metavar="URL…",
            help="A page, https://foo.edu/dir/* for all below a folder, foo.edu/* for a host, or *.foo.edu with its "
            "subdomains.",
            show_default=False,
        ),
    ],
    server: Annotated[
        str, typer.Option("--server", metavar="URL", help="The CDX server of another archive, without a query.")
    ] = _WAYBACK,
    since: Annotated[
        str | None,
        typer.Option("--from", metavar="TIME", help="Only copies at or after this time.", show_default=False),
    ] = None,
    until: Annotated[
        str | None, typer.Option("--to", metavar="TIME", help="Only copies at or before this time.", show_default=False)
    ] = None,
    archive: ArchiveOption = "",
    depth: DepthOption = None,
    watched: WatchedOption = False,
    watch: WatchOption = False,
    per_minute: PerMinuteOption = None,
    dry_run: DryRunOption = False,
    restart: RestartOption = False,
    refresh: RefreshOption = False,
    home: HomeOption = None,
    as_json: JsonOption = False,
) -> None:
    """Import the copies that the Wayback Machine lists, or with --server the CDX server of another archive.

    The dialect of the server is recognised by its answers. One request is sent at a time. If the server refuses
    requests, the import waits as it asks; after several tries the command ends with exit code 1, and the same command
    goes on later where it stopped. Answers are kept for a day to a month in the folder `cache` of the home.
    """
    start, end = time_range(since, until)
    rate = checked_rate(per_minute, server)

    def open_sources(node: Node) -> AbstractAsyncContextManager[Sequence[CopySource]]:
        return node.cdx_servers(
            server, patterns, since=start, until=end, archive=archive, per_minute=rate, refresh=refresh
        )

    run_imports(
        open_sources,
        home=home,
        wanted=_wanted(patterns, depth, watched=watched),
        dry_run=dry_run,
        restart=restart or refresh,
        as_json=as_json,
        watch=watch,
    )


def _wanted(patterns: Sequence[str], depth: int | None, *, watched: bool) -> WantedPages:
    """The server chooses the pages; the patterns are needed to count levels below the folder that one names.

    Archives list the pages of a host with and without `www.` together.
    """
    if depth is None:
        return wanted_pages(watched=watched)
    wildcards = [pattern for pattern in patterns if pattern.endswith("*")]
    bare = [pattern.partition("://")[2] or pattern for pattern in wildcards]
    other = [one.removeprefix("www.") if one.startswith("www.") else f"www.{one}" for one in bare]
    rest = [pattern for pattern in patterns if pattern not in wildcards]
    return wanted_pages([*bare, *other, *rest], max_depth=depth, watched=watched)
