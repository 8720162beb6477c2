"""`webstrata reindex`: rebuild the CDXJ index from the WARC files alone."""

from __future__ import annotations

import typer

from webstrata.cli.options import HomeOption, JsonOption
from webstrata.cli.output import counted, print_json, progress_bar
from webstrata.cli.session import open_node


def command(home: HomeOption = None, as_json: JsonOption = False) -> None:
    """Rebuild the index from the WARC files; the result is identical to what the crawl wrote."""
    node = open_node(home)
    with progress_bar("reading the archive", node.archived_bytes()) as on_progress:
        files, lines = node.reindex(on_progress)
    if as_json:
        print_json({"files": files, "lines": lines})
    else:
        typer.echo(f"{counted(lines, 'capture')} indexed in {counted(files, 'WARC file')}.")
