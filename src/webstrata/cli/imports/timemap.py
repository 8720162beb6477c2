"""`webstrata import timemap`: the copies that TimeMaps list."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from webstrata.cli.imports.running import (
    ArchiveOption,
    DepthOption,
    DryRunOption,
    OnlyOption,
    RestartOption,
    WatchedOption,
    WatchOption,
    run_imports,
)
from webstrata.cli.imports.servers import PerMinuteOption, RefreshOption, checked_rate
from webstrata.cli.options import HomeOption, JsonOption
from webstrata.wanted_pages import wanted_pages

if TYPE_CHECKING:
    from collections.abc import Sequence
    from contextlib import AbstractAsyncContextManager

    from webstrata.node import Node
    from webstrata.ports import CopySource


def command(
    sources: Annotated[
        list[str],
        typer.Argument(
            metavar="FILE|URL…",
            help="TimeMaps: files, or URLs. With --server, URLs of pages whose TimeMaps are requested there.",
            show_default=False,
        ),
    ],
    server: Annotated[
        str | None,
        typer.Option(
            "--server",
            metavar="URL",
            help="Request the TimeMaps of pages from this archive or Memento aggregator, like "
            "https://archive.example.org/timemap/link/; the page's URL follows, or replaces {url}.",
            show_default=False,
        ),
    ] = None,
    archive: ArchiveOption = "",
    only: OnlyOption = None,
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
    """Import the copies that TimeMaps list: link-format (RFC 7089), JSON and CDXJ, plain or gzip.

    A TimeMap tells when there are copies, not whether the page had changed between them. Of an aggregator's TimeMap the
    archive of each copy is the host of the memento.
    """
    rate = checked_rate(per_minute, server or "", *sources)

    def open_sources(node: Node) -> AbstractAsyncContextManager[Sequence[CopySource]]:
        return node.timemaps(sources, server=server, archive=archive, per_minute=rate, refresh=refresh)

    run_imports(
        open_sources,
        home=home,
        wanted=wanted_pages(only or (), max_depth=depth, watched=watched),
        dry_run=dry_run,
        restart=restart or refresh,
        as_json=as_json,
        watch=watch,
    )
