"""`webstrata check`: verify the archive, the index and the database."""

from __future__ import annotations

from typing import Annotated

import msgspec
import typer

from webstrata.cli.options import HomeOption, JsonOption
from webstrata.cli.output import counted, print_json, printable, progress_bar
from webstrata.cli.session import open_node, run_async


def command(
    repair: Annotated[bool, typer.Option("--repair", help="Repair what can be repaired without losing data.")] = False,
    home: HomeOption = None,
    as_json: JsonOption = False,
) -> None:
    """Verify WARC records and digests, compare the index with the records and the database with both.

    The exit code is 1 if a fault remains.
    """
    node = open_node(home)
    with progress_bar("reading the archive", node.archived_bytes()) as on_progress:
        result = run_async(lambda: node.check(repair=repair, on_progress=on_progress))
    if as_json:
        print_json(msgspec.to_builtins(result))
    else:
        typer.echo(
            f"{counted(result.records, 'record')}: {result.bad} bad, {result.dangling} dangling, {result.lost} lost, "
            f"{result.repaired} repaired"
        )
        for finding in result.findings:
            typer.echo(f"{finding.count:<8}  {finding.file}:{finding.offset}: {printable(finding.what)}")
            if finding.count != "repaired":
                typer.echo(f"          {finding.do}")
        shown = len(result.findings)
        if (total := result.bad + result.dangling + result.lost + result.repaired) > shown:
            typer.echo(f"and {total - shown} more")
        for note in result.notes:
            typer.echo(f"note      {printable(note)}")
    if result.bad or result.dangling or result.lost:
        raise typer.Exit(1)
