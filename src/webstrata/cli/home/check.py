"""`webstrata check`: verify the archive, the index and the database."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import msgspec
import typer

from webstrata.cli.home.access import access_warning
from webstrata.cli.options import HomeOption, JsonOption
from webstrata.cli.output import counted, print_json, printable, progress_bar
from webstrata.cli.session import open_node, run_async

if TYPE_CHECKING:
    from webstrata.records import CheckResult, FindingGroup

_EXAMPLES = 5
"""Findings of each kind that are shown without `--all`."""
_SEVERITIES = {"damage": "damage", "derived": "can be made again", "repaired": "done"}


def command(
    repair: Annotated[bool, typer.Option("--repair", help="Repair what can be repaired without losing data.")] = False,
    deep: Annotated[
        bool,
        typer.Option(
            "--deep", help="Also compare every value of the database with its checksum, and the log with the records."
        ),
    ] = False,
    show_all: Annotated[
        bool, typer.Option("--all", help="Show up to 1,000 findings of each kind instead of the first five.")
    ] = False,
    home: HomeOption = None,
    as_json: JsonOption = False,
) -> None:
    """Verify WARC records and digests, compare the index with the records and the database with both.

    Findings of the same kind are shown together, with what to do about them. The exit code is 1 if a fault remains.
    """
    node = open_node(home)
    with progress_bar("reading the archive", node.archived_bytes()) as on_progress:
        result = run_async(lambda: node.check(repair=repair, deep=deep, on_progress=on_progress))
    if (warning := access_warning(node.home)) is not None:
        result.notes.append(warning)
    if as_json:
        print_json(msgspec.to_builtins(result))
    else:
        for group in result.groups:
            _show_group(group, result, None if show_all else _EXAMPLES)
        if result.elsewhere:
            where = "in the archives of other homes: not checked here"
            typer.echo(f"note: {counted(result.elsewhere, 'record')} of the database {where}")
        for note in result.notes:
            typer.echo(f"note: {printable(note)}")
        typer.echo(
            f"{counted(result.records, 'record')}: {result.bad} bad, {result.dangling} dangling, {result.lost} lost, "
            f"{result.repaired} repaired"
        )
    if result.faults:
        raise typer.Exit(1)


def _show_group(group: FindingGroup, result: CheckResult, limit: int | None) -> None:
    """The number of findings of a kind, the first of them, and what can be done about them."""
    typer.echo(f"{group.part}: {group.what}: {group.number} ({_SEVERITIES[group.severity]})")
    if group.by_file:
        lines = [f"{file}: {number}" for file, number in group.files.items()]
        shown = sum(list(group.files.values())[:limit])
    else:
        found = [one for one in result.findings if one.kind is group.kind]
        lines = [f"{_place(one.file, one.offset)}{one.what}" for one in found]
        shown = len(lines[:limit])
    for line in lines[:limit]:
        typer.echo(f"  {printable(line)}")
    if group.number > shown:
        typer.echo(f"  and {group.number - shown} more")
    if group.do:
        typer.echo(f"  → {group.do}")


def _place(file: str, offset: int) -> str:
    return "" if file == "database" else f"{file}:{offset}: "
