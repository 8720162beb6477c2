"""`webstrata import warc`: the copies in WARC, ARC and WACZ files, with their contents."""

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
    run_imports,
)
from webstrata.cli.options import HomeOption, JsonOption
from webstrata.wanted_pages import wanted_pages


def command(
    paths: Annotated[
        list[Path],
        typer.Argument(metavar="PATH…", help="WARC, ARC and WACZ files, and folders of them.", show_default=False),
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
    """Import the copies in archive files of any crawler, with their contents.

    Contents are parsed as those of visits are, so copies have a text, links and static features, and a change of the
    bytes can be told from a change of the content. The name of the archive is the one that a file states (isPartOf or
    hostname of its warcinfo record), or the name of the file, unless --archive says another.
    """
    from webstrata.node import archive_files_in

    files = archive_files_in(paths)
    wanted = wanted_pages(only or (), max_depth=depth, watched=watched)
    run_imports(
        lambda node: node.content_files(files, archive, wanted),
        home=home,
        wanted=wanted,
        dry_run=dry_run,
        restart=restart,
        as_json=as_json,
        watch=watch,
    )
