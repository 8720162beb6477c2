"""`webstrata reindex`: rebuild the CDXJ index from the WARC files alone."""

from __future__ import annotations

import typer

from webstrata.cli.output import bar, counted, print_json
from webstrata.cli.session import HomeOption, JsonOption, open_node


def command(home: HomeOption = None, as_json: JsonOption = False) -> None:
    """Rebuild the index from the WARC files; the result is identical to what the crawl wrote."""
    node = open_node(home)
    with bar("reading the archive", node.archived_bytes()) as on_progress:
        files, lines = node.reindex(on_progress)
    if as_json:
        print_json({"files": files, "lines": lines})
    else:
        typer.echo(f"{counted(lines, 'capture')} in {counted(files, 'WARC file')} indexed.")
