"""`webstrata check`: is everything that was archived still there, and whole?"""

from __future__ import annotations

from typing import Annotated

import msgspec
import typer

from webstrata.cli.output import bar, counted, print_json, printable
from webstrata.cli.session import HomeOption, JsonOption, open_node, run_async


def command(
    repair: Annotated[
        bool, typer.Option("--repair", help="Put right what can be put right without losing anything.")
    ] = False,
    home: HomeOption = None,
    as_json: JsonOption = False,
) -> None:
    """Scrub a home: WARC records and digests, the index against them, the database against both. Exit 1 if anything is wrong."""
    node = open_node(home)
    with bar("reading the archive", node.archived_bytes()) as on_progress:
        result = run_async(lambda: node.check(repair=repair, on_progress=on_progress))
    if as_json:
        print_json(msgspec.to_builtins(result))
    else:
        typer.echo(
            f"{counted(result.records, 'record')}: {result.bad} bad, {result.dangling} dangling, {result.lost} lost, "
            f"{result.repaired} repaired"
        )
        for one in result.findings:
            typer.echo(f"{one.count:<8}  {one.file}:{one.offset}: {printable(one.what)}")
            if one.count != "repaired":
                typer.echo(f"          {one.do}")
        told = len(result.findings)
        if (total := result.bad + result.dangling + result.lost + result.repaired) > told:
            typer.echo(f"and {total - told} more")
        for note in result.notes:
            typer.echo(f"note      {printable(note)}")
    if result.bad or result.dangling or result.lost:
        raise typer.Exit(1)
