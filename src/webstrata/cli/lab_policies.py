"""`webstrata lab policies`: every policy over real change histories, at equal downloads."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from webstrata.cli.output import print_json, print_table
from webstrata.cli.session import JsonOption


def command(
    more: Annotated[
        list[Path] | None,
        typer.Argument(metavar="[FILE]...", help="More files of histories.", show_default=False),
    ] = None,
    histories: Annotated[
        list[Path] | None,
        typer.Option(
            "--histories",
            metavar="FILE",
            show_default=False,
            help="Parquet file of change histories, or a folder of them; without: the extract of the package.",
        ),
    ] = None,
    policies: Annotated[
        str | None,
        typer.Option("--policies", help="Names, with commas between them; without: all.", show_default=False),
    ] = None,
    years: Annotated[float, typer.Option(min=0.01, help="Length of the window, which ends with the histories.")] = 3.0,
    as_json: JsonOption = False,
) -> None:
    """Replay policies over real change histories: recall, precision, freshness and delay at so many downloads."""
    from webstrata.lab.experiment_policies import Experiment, run
    from webstrata.lab.histories import read_histories, shipped_histories

    files = [*(histories or []), *(more or [])]
    asked = Experiment(policies=_names(policies), days=years * 365.0)
    found = run(read_histories(files) if files else shipped_histories(), asked)
    if as_json:
        print_json({"rows": found.rows})
        return
    columns = ("policy", "corpus", "downloads", "captured", "changes", "recall", "precision", "freshness", "delay (d)")
    print_table(
        columns,
        [
            (
                row.policy,
                row.corpus,
                row.downloads,
                row.captured,
                row.changes,
                f"{row.recall:.3f}",
                f"{row.precision:.3f}",
                f"{row.freshness:.3f}",
                f"{row.delay_days:.1f}",
            )
            for row in found.rows
            if row.bucket == "all"
        ],
    )


def _names(policies: str | None) -> list[str]:
    return [name.strip() for name in (policies or "").split(",") if name.strip()]
