"""`webstrata check`: is everything that was archived still there, and whole?"""

from __future__ import annotations

from typing import Annotated

import msgspec
import typer

from webstrata.cli.output import print_json, print_table
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
    result = run_async(lambda: node.check(mend=repair))
    if as_json:
        print_json(msgspec.to_builtins(result))
    else:
        typer.echo(
            f"{result.records} records: {result.bad} bad, {result.dangling} dangling, {result.lost} lost, "
            f"{result.repaired} repaired"
        )
        if result.findings:
            print_table(
                ("what", "where", "found", "do"),
                ((one.count, f"{one.file}:{one.offset}", one.what, one.do) for one in result.findings),
            )
    if result.bad or result.dangling or result.lost:
        raise typer.Exit(1)
