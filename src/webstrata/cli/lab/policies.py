"""`webstrata lab policies`: every policy over real change histories, at equal downloads."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from webstrata.cli.options import JsonOption
from webstrata.cli.output import counted, print_json, print_table
from webstrata.cli.session import open_node, run_async
from webstrata.clock import DAY_S, parse_span
from webstrata.errors import UsageError

if TYPE_CHECKING:
    from webstrata.lab.policies.experiment import PolicyExperiment, PolicyResults
    from webstrata.lab.policies.histories import Histories

Objective = Literal["capture", "freshness", "mix"]
_FRESHNESS: dict[Objective, float] = {"capture": 0.0, "mix": 0.5, "freshness": 1.0}


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
    store: Annotated[
        Path | None,
        typer.Option(
            "--store",
            metavar="HOME",
            show_default=False,
            help="Replay what the visits of this home saw; each change stands in the middle between two visits.",
        ),
    ] = None,
    policies: Annotated[
        str | None,
        typer.Option("--policies", help="Names, with commas between them; without: all.", show_default=False),
    ] = None,
    match: Annotated[
        str,
        typer.Option(help="Budgeted policies get the downloads of these, corpus by corpus; all: of every timer."),
    ] = "state-2",
    budget: Annotated[
        str | None,
        typer.Option(
            help="Downloads of each corpus instead: 9000, 50/day, 0.5x:dyn; several with commas.", show_default=False
        ),
    ] = None,
    years: Annotated[
        float | None,
        typer.Option(
            min=0.002,
            show_default=False,
            help="Length of the window, which ends with the histories (3; of a store what most of its pages cover).",
        ),
    ] = None,
    history_days: Annotated[
        float, typer.Option(min=0.0, help="Days of weekly archive copies before the window that budgeted policies see.")
    ] = 0.0,
    lists: Annotated[
        str | None,
        typer.Option(
            metavar="SPAN", help="Each site has a dated list, to be fetched this often at most.", show_default=False
        ),
    ] = None,
    list_recall: Annotated[float, typer.Option(help="Share of the changes that the lists tell.")] = 1.0,
    list_precision: Annotated[float, typer.Option(help="Share of what the lists tell that is true.")] = 1.0,
    reports: Annotated[
        float | None,
        typer.Option(
            metavar="RATE", help="Visitors per page and day whose browsers report changes.", show_default=False
        ),
    ] = None,
    objective: Annotated[Objective, typer.Option(help="What `value` goes for.")] = "capture",
    seed: Annotated[int, typer.Option(help="For made-up lists and reports.")] = 1,
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Write JSON, plots and an HTML report here.", show_default=False)
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Replay policies over real change histories: recall, precision, freshness and delay at so many downloads."""
    from webstrata.lab.policies.experiment import PolicyExperiment, run

    found_histories = _histories([*(histories or []), *(more or [])], store)
    asked = PolicyExperiment(
        policies=_names(policies),
        days=_window_days(years, found_histories, of_store=store is not None),
        match=_names(match),
        budgets=_names(budget),
        history_days=history_days,
        lists_days=None if lists is None else _days(lists),
        list_recall=list_recall,
        list_precision=list_precision,
        reports=reports,
        freshness=_FRESHNESS[objective],
        seed=seed,
    )
    with _bar() as progress:
        found = run(found_histories, asked, progress)
    if out is not None:
        _write(out, asked, found)
    if as_json:
        print_json(
            {"rows": found.rows, "comparisons": found.comparisons, "pages": found.pages, "left_out": found.left_out}
        )
    else:
        _show(found)


def _histories(files: list[Path], store: Path | None) -> Histories:
    """From files, from a home, or the extract of the package."""
    from webstrata.lab.policies.histories import read_histories, shipped_histories

    if store is None:
        return read_histories(files) if files else shipped_histories()
    if files:
        raise UsageError("either files of histories or --store, not both.")
    from webstrata.lab.policies.stored_histories import stored_histories

    node = open_node(store)

    async def read() -> Histories:
        async with node.store() as opened:
            return await stored_histories(opened)

    return run_async(read)


def _window_days(years: float | None, histories: Histories, *, of_store: bool) -> float:
    if years is not None:
        return max(1.0, round(years * 365.0))
    if not of_store:
        return 3 * 365.0
    from webstrata.lab.policies.stored_histories import covered_days

    return covered_days(histories)


@contextmanager
def _bar() -> Iterator[Callable[[str, int, int], object]]:
    """How many replays are done; on a terminal only."""
    if not sys.stderr.isatty():
        yield lambda what, done, total: None
        return
    from rich.progress import Progress

    from webstrata.cli.crawl.display import stderr

    with Progress(console=stderr, transient=True) as shown:
        task = shown.add_task("")
        yield lambda what, done, total: shown.update(task, description=what, completed=done, total=total)


def _names(text: str | None) -> tuple[str, ...]:
    return tuple(name.strip() for name in (text or "").split(",") if name.strip())


def _days(text: str) -> float:
    try:
        return parse_span(text) / DAY_S
    except ValueError as problem:
        raise UsageError(f"{problem}") from None


def _write(out: Path, asked: PolicyExperiment, found: PolicyResults) -> None:
    from webstrata.plots.report_policies import write_report

    for file in write_report(out, asked, found):
        typer.echo(f"wrote {file}", err=True)


def _show(found: PolicyResults) -> None:
    columns = (
        "policy",
        "at",
        "corpus",
        "downloads",
        "captured",
        "changes",
        "recall",
        "precision",
        "freshness",
        "delay d",
    )
    print_table(
        columns,
        [
            (
                row.policy,
                row.match or "own pace",
                row.corpus,
                row.downloads,
                row.captured,
                row.changes,
                f"{row.recall:.3f} ±{(row.recall_interval[1] - row.recall_interval[0]) / 2:.3f}",
                f"{row.precision:.3f}",
                f"{row.freshness:.3f}",
                f"{row.delay_days:.1f}",
            )
            for row in found.rows
            if row.bucket == "all"
        ],
    )
    if found.comparisons:
        typer.echo(
            "\nChanges captured by value for each one captured by others, at the same downloads (95 % interval):\n"
        )
        print_table(
            ("against", "at", "corpus", "times"),
            [
                (
                    one.versus,
                    one.match,
                    one.corpus,
                    f"{one.ratio:.3f} ({one.ratio_interval[0]:.3f} to {one.ratio_interval[1]:.3f})",
                )
                for one in found.comparisons
            ],
        )
    if found.left_out:
        typer.echo(f"\n{counted(found.left_out, 'page')} left out: not there at the start of the window.")
