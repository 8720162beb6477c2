"""`webstrata import gaps`: lists of observations, as research on crawl scheduling publishes them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from webstrata.cli.imports.running import (
    ArchiveOption,
    DepthOption,
    DryRunOption,
    OnlyOption,
    RestartOption,
    WatchedOption,
    WatchOption,
    opened,
    run_imports,
)
from webstrata.cli.options import HomeOption, JsonOption
from webstrata.clock import parse_instant
from webstrata.wanted_pages import wanted_pages


def command(
    files: Annotated[
        list[Path], typer.Argument(metavar="FILE…", help="Lists of observations, plain or gzip.", show_default=False)
    ],
    until: Annotated[
        str | None,
        typer.Option(
            metavar="TIME",
            help="The time of the last observation of each page. Default: the start of the import.",
            show_default=False,
        ),
    ] = None,
    archive: ArchiveOption = "",
    only: OnlyOption = None,
    depth: DepthOption = None,
    watched: WatchedOption = False,
    watch: WatchOption = False,
    dry_run: DryRunOption = False,
    restart: RestartOption = False,
    home: HomeOption = None,
    as_json: JsonOption = False,
) -> None:
    """Import lists of observations: for each page, the days between them and whether the page had changed.

    A line is a URL, a tab and a JSON list of [gap in days, changed], or a JSON object with `url` and `observations`.
    """
    last_at = parse_instant(until) if until is not None else None
    run_imports(
        opened(lambda node: [node.gaps_file(file, archive, last_at) for file in files]),
        home=home,
        wanted=wanted_pages(only or (), max_depth=depth, watched=watched),
        dry_run=dry_run,
        restart=restart,
        as_json=as_json,
        watch=watch,
    )
