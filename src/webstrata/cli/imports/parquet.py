"""`webstrata import parquet`: tables of histories or of copies."""

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
from webstrata.wanted_pages import wanted_pages


def command(
    files: Annotated[
        list[Path],
        typer.Argument(metavar="FILE…", help="Parquet files of histories or of copies.", show_default=False),
    ],
    template: Annotated[
        str,
        typer.Option(
            "--url",
            metavar="TEMPLATE",
            help="The URL of a page of a history that is not a URL itself, like https://example.org/{page}; {corpus} "
            "stands for its corpus.",
            show_default=False,
        ),
    ] = "",
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
    """Import Parquet files: histories (page, first, until, changes) or copies (url, time, digest).

    A history is imported as a copy at its first time, one at each change, and one at its end. A table of copies may
    also have the columns archive and status.
    """
    run_imports(
        opened(lambda node: [node.parquet_copies(file, archive, template) for file in files]),
        home=home,
        wanted=wanted_pages(only or (), max_depth=depth, watched=watched),
        dry_run=dry_run,
        restart=restart,
        as_json=as_json,
        watch=watch,
    )
