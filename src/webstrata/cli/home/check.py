"""`webstrata check`: verify the archive, the index and the database."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import msgspec
import typer

from webstrata.cli.options import HomeOption, JsonOption
from webstrata.cli.output import counted, print_json, printable, progress_bar
from webstrata.cli.session import open_node, run_async

if TYPE_CHECKING:
    from webstrata.archive.warc.check import CheckFinding, FindingGroup

_EXAMPLES = 5
"""Findings of each kind that are shown; `--json` has up to 1,000."""


def command(
    repair: Annotated[bool, typer.Option("--repair", help="Repair what can be repaired without losing data.")] = False,
    deep: Annotated[
        bool,
        typer.Option(
            "--deep", help="Also compare every value of the database with its checksum, and the log with the records."
        ),
    ] = False,
    home: HomeOption = None,
    as_json: JsonOption = False,
) -> None:
    """Verify WARC records and digests, compare the index with the records and the database with both.

    The exit code is 1 if a fault remains.
    """
    node = open_node(home)
    with progress_bar("reading the archive", node.archived_bytes()) as on_progress:
        result = run_async(lambda: node.check(repair=repair, deep=deep, on_progress=on_progress))
    if as_json:
        print_json(msgspec.to_builtins(result))
    else:
        typer.echo(
            f"{counted(result.records, 'record')}: {result.bad} bad, {result.dangling} dangling, {result.lost} lost, "
            f"{result.repaired} repaired"
        )
        if result.elsewhere:
            typer.echo(f"in the archives of other homes, not checked here: {counted(result.elsewhere, 'record')}")
        for group in result.groups:
            _show_group(group, [one for one in result.findings if (one.count, one.do) == (group.count, group.do)])
        for note in result.notes:
            typer.echo(f"note: {printable(note)}")
    if result.bad or result.dangling or result.lost:
        raise typer.Exit(1)


def _show_group(group: FindingGroup, findings: list[CheckFinding]) -> None:
    """The first findings of a kind, after what can be done about them."""
    advice = "" if group.count == "repaired" else f": {group.do}"
    typer.echo(f"{group.number} {group.count}{advice}")
    for finding in findings[:_EXAMPLES]:
        typer.echo(f"  {finding.file}:{finding.offset}: {printable(finding.what)}")
    if group.number > _EXAMPLES:
        typer.echo(f"  and {group.number - _EXAMPLES} more")
