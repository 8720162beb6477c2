"""`webstrata import cdx`: the copies that CDX and CDXJ files list."""

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
        list[Path], typer.Argument(metavar="FILE…", help="CDX or CDXJ files, plain or gzip.", show_default=False)
    ],
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
    """Import the copies that the index files of an archive list.

    CDX files with a legend or with 7, 9, 10 or 11 fields, and CDXJ files; the form is recognised by the content. The
    name of the archive is the name of the file unless --archive says another.
    """
    run_imports(
        opened(lambda node: [node.index_file(file, archive) for file in files]),
        home=home,
        wanted=wanted_pages(only or (), max_depth=depth, watched=watched),
        dry_run=dry_run,
        restart=restart,
        as_json=as_json,
        watch=watch,
    )
