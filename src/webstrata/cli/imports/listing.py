"""`webstrata import list`: the imports of the home, and how far they have come."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from webstrata.cli.imports.running import left_out_text
from webstrata.cli.options import HomeOption, JsonOption
from webstrata.cli.output import date_time, iso_or_none, print_json, print_table, printable
from webstrata.cli.session import open_node, run_async

if TYPE_CHECKING:
    from webstrata.records import ImportProgress


def command(home: HomeOption = None, as_json: JsonOption = False) -> None:
    """List the imports, the latest first. One that is not finished continues when its command is run again."""
    node = open_node(home)

    async def imports() -> list[ImportProgress]:
        async with node.store() as store:
            return await store.copies.imports()

    found = run_async(imports)
    if as_json:
        print_json({"imports": [_json(one) for one in found]})
    elif not found:
        typer.echo("Nothing was imported. `webstrata import --help` says what can be.")
    else:
        print_table(
            ["TIME", "STATE", "READ", "KEPT", "SOURCE"],
            [
                [
                    date_time(one.at),
                    "finished" if one.is_finished else "unfinished",
                    f"{one.read:,}",
                    f"{one.kept:,}",
                    f"{printable(one.key)}{left_out_text(one.skipped)}",
                ]
                for one in found
            ],
        )


def _json(one: ImportProgress) -> dict[str, object]:
    return {
        "key": one.key,
        "at": iso_or_none(one.at),
        "finished": one.is_finished,
        "read": one.read,
        "kept": one.kept,
        "skipped": one.skipped,
    }
