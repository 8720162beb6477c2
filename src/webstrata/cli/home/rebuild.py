"""`webstrata rebuild`: make the database and the index again from the WARC files."""

from __future__ import annotations

from typing import Annotated

import msgspec
import typer

from webstrata.cli.options import HomeOption, JsonOption
from webstrata.cli.output import counted, print_json, progress_bar
from webstrata.cli.session import open_node, run_async


def command(
    replace: Annotated[
        bool,
        typer.Option(
            "--replace",
            help="Replace an existing database; it is kept as the file `webstrata.db.damaged-DATE` or the schema "
            "`NAME_damaged_DATE`.",
        ),
    ] = False,
    home: HomeOption = None,
    as_json: JsonOption = False,
) -> None:
    """Make the database and the index again from the WARC files: pages, visits, versions and forecasts.

    Every archived version is parsed and judged again, in the order of the visits. The new database is put in place at
    the end: a rebuild that is interrupted changes nothing.
    """
    node = open_node(home)
    with progress_bar("reading the archive", 2 * node.archived_bytes()) as on_progress:
        result, kept = run_async(lambda: node.rebuild(replace=replace, on_progress=on_progress))
    if as_json:
        print_json({**msgspec.to_builtins(result), "kept": kept})
        return
    typer.echo(f"{counted(result.visits, 'visit')} of {counted(result.pages, 'page')} rebuilt from the archive.")
    if result.repeated:
        typer.echo(f"{counted(result.repeated, 'visit')} left out: repeated, or older than a visit of the same page.")
    if result.unreadable:
        typer.echo(f"{counted(result.unreadable, 'record')} could not be read; run `webstrata check`.")
    for name in kept:
        typer.echo(f"The old database is kept as {name}.")
    typer.echo("The WARC files do not hold:")
    for fact in result.lost:
        if fact.number != 0:
            number = "" if fact.number is None else f" ({fact.number})"
            typer.echo(f"  {fact.what}{number}: {fact.instead}")
