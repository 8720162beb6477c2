"""`webstrata lab policies`: replay every policy over real change histories, with equal numbers of downloads."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from webstrata.cli.lab.byte_budgets import show_bytes
from webstrata.cli.lab.named_histories import named_histories
from webstrata.cli.options import CopiesOption, HistoriesArgument, HistoriesOption, JsonOption, RecordedOption
from webstrata.cli.output import counted, print_json, print_table
from webstrata.cli.session import open_node, run_async
from webstrata.clock import DAY_S, parse_span
from webstrata.errors import UsageError

if TYPE_CHECKING:
    from webstrata.lab.policies.byte_experiment import CostsOf
    from webstrata.lab.policies.experiment import PolicyExperiment, PolicyResults
    from webstrata.lab.policies.histories import Histories

Objective = Literal["capture", "freshness", "mix"]
_FRESHNESS: dict[Objective, float] = {"capture": 0.0, "mix": 0.5, "freshness": 1.0}


def command(
    more: HistoriesArgument = None,
    histories: HistoriesOption = None,
    recorded: RecordedOption = False,
    store: Annotated[
        Path | None,
        typer.Option(
            "--store",
            metavar="HOME",
            show_default=False,
            help="Replay the changes detected in this home. Each is placed in the middle between two visits.",
        ),
    ] = None,
    policies: Annotated[
        str | None,
        typer.Option("--policies", help="Names of policies, separated by commas (default: all).", show_default=False),
    ] = None,
    match: Annotated[
        str,
        typer.Option(
            help="Timer policies whose number of downloads is the budget of the others in each corpus; all: every timer."
        ),
    ] = "state-2",
    budget: Annotated[
        str | None,
        typer.Option(
            help="Budget for each corpus instead of --match: 9000, 50/day, 4/page/day or 0.5x:dyn; several separated by "
            "commas.",
            show_default=False,
        ),
    ] = None,
    years: Annotated[
        float | None,
        typer.Option(
            min=0.002,
            show_default=False,
            help="Length of the window before the end of the histories (default: 3; with --store, what most pages cover; with "
            "--recorded, 2).",
        ),
    ] = None,
    step: Annotated[
        str,
        typer.Option(
            metavar="SPAN",
            help="Time between two decisions of a budgeted policy, and the shortest interval of all policies.",
        ),
    ] = "1d",
    liveliest: Annotated[
        float,
        typer.Option(
            metavar="SHARE",
            help="Replay only this share of the pages of each corpus: those that changed most before the window.",
        ),
    ] = 1.0,
    history_days: Annotated[
        float,
        typer.Option(min=0.0, help="Budgeted policies learn from copies of this number of days before the window."),
    ] = 0.0,
    copies: CopiesOption = "archive",
    lists: Annotated[
        str | None,
        typer.Option(
            metavar="SPAN",
            help="Each site has a dated list of changed pages, fetched at most once in this time.",
            show_default=False,
        ),
    ] = None,
    list_recall: Annotated[float, typer.Option(help="Share of the changes that are in the lists.")] = 1.0,
    list_precision: Annotated[float, typer.Option(help="Share of the entries in the lists that are true.")] = 1.0,
    reports: Annotated[
        float | None,
        typer.Option(
            metavar="RATE", help="Visitors per page and day whose browsers report changes.", show_default=False
        ),
    ] = None,
    byte_share: Annotated[
        float | None,
        typer.Option(
            "--bytes",
            metavar="SHARE",
            min=0.001,
            show_default=False,
            help="Compare rankings at equal bytes instead: by the value of a visit, and by its value per byte. The budget "
            "is this share of the bytes that value downloads at --match. Sizes are simulated; those of --recorded are real.",
        ),
    ] = None,
    objective: Annotated[Objective, typer.Option(help="What `value` maximises.")] = "capture",
    seed: Annotated[int, typer.Option(help="Seed of the simulated lists, reports and sizes.")] = 1,
    out: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Write JSON, plots and an HTML report to this folder.", show_default=False),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Replay policies over real change histories: recall, precision, freshness and delay with equal downloads."""
    from webstrata.lab.policies.experiment import PolicyExperiment, run
    from webstrata.lab.policies.past_histories import copy_times

    loaded = _histories([*(histories or []), *(more or [])], store, recorded=recorded)
    days = _window_days(years, loaded, of_store=store is not None, recorded=recorded)
    if byte_share is not None:
        costs_of = _costs_of(seed, recorded=recorded)
        show_bytes(loaded, days=days, match=_names(match), share=byte_share, costs_of=costs_of, as_json=as_json)
        return
    experiment = PolicyExperiment(
        policies=_names(policies),
        days=days,
        match=_names(match),
        budgets=_names(budget),
        history_days=history_days,
        copies=copy_times(copies),
        lists_days=None if lists is None else _days(lists),
        list_recall=list_recall,
        list_precision=list_precision,
        reports=reports,
        freshness=_FRESHNESS[objective],
        seed=seed,
        step_days=_days(step),
        liveliest=liveliest,
    )
    with _progress_bar() as on_progress:
        results = run(loaded, experiment, on_progress)
    if out is not None:
        _write(out, experiment, results)
    if as_json:
        print_json(
            {
                "rows": results.rows,
                "comparisons": results.comparisons,
                "pages": results.pages,
                "left_out": results.left_out,
            }
        )
    else:
        _show(results)


def _histories(files: list[Path], store: Path | None, *, recorded: bool) -> Histories:
    """Read histories from files, from the store of a home, or by default from the shipped extract."""
    if store is None:
        return named_histories(files, recorded=recorded)
    if files or recorded:
        raise UsageError("name either files of histories or --recorded, or --store, not both.")
    from webstrata.lab.policies.stored_histories import stored_histories

    node = open_node(store)

    async def read() -> Histories:
        async with node.store() as opened:
            return await stored_histories(opened)

    return run_async(read)


def _costs_of(seed: int, *, recorded: bool) -> CostsOf:
    """The real sizes of recorded pages, or simulated ones."""
    if recorded:
        from webstrata.lab.policies.recorded_histories import recorded_costs

        return recorded_costs
    from webstrata.lab.policies.page_sizes import simulated_sizes

    return partial(simulated_sizes, seed=seed)


def _window_days(years: float | None, histories: Histories, *, of_store: bool, recorded: bool) -> float:
    if years is not None:
        return max(1.0, round(years * 365.0))
    if recorded:
        return 2 * 365.0
    if not of_store:
        return 3 * 365.0
    from webstrata.lab.policies.stored_histories import covered_days

    return covered_days(histories)


@contextmanager
def _progress_bar() -> Iterator[Callable[[str, int, int], object]]:
    """A progress bar of the replays on a terminal, nothing in a pipe."""
    if not sys.stderr.isatty():
        yield lambda title, done, total: None
        return
    from rich.progress import Progress

    from webstrata.cli.crawl.display import stderr

    with Progress(console=stderr, transient=True) as bar:
        task = bar.add_task("")
        yield lambda title, done, total: bar.update(task, description=title, completed=done, total=total)


def _names(text: str | None) -> tuple[str, ...]:
    return tuple(name.strip() for name in (text or "").split(",") if name.strip())


def _days(text: str) -> float:
    try:
        return parse_span(text) / DAY_S
    except ValueError as error:
        raise UsageError(f"{error}") from None


def _write(out: Path, experiment: PolicyExperiment, results: PolicyResults) -> None:
    from webstrata.plots.report_policies import write_report

    for file in write_report(out, experiment, results):
        typer.echo(f"wrote {file}", err=True)


def _show(results: PolicyResults) -> None:
    columns = (
        "policy",
        "budget",
        "corpus",
        "downloads",
        "captured",
        "changes",
        "recall",
        "precision",
        "freshness",
        "delay (days)",
    )
    print_table(
        columns,
        [
            (
                row.policy,
                row.match or "own intervals",
                row.corpus,
                row.downloads,
                row.captured,
                row.changes,
                f"{row.recall:.3f} ±{(row.recall_interval[1] - row.recall_interval[0]) / 2:.3f}",
                f"{row.precision:.3f}",
                f"{row.freshness:.3f}",
                f"{row.delay_days:.2f}",
            )
            for row in results.rows
            if row.bucket == "all"
        ],
    )
    if results.comparisons:
        typer.echo(
            "\nChanges captured by value, divided by those captured by another policy with the same downloads"
            " (95 % interval):\n"
        )
        print_table(
            ("other policy", "budget", "corpus", "ratio"),
            [
                (
                    comparison.versus,
                    comparison.match,
                    comparison.corpus,
                    f"{comparison.ratio:.3f} ({comparison.ratio_interval[0]:.3f} to {comparison.ratio_interval[1]:.3f})",
                )
                for comparison in results.comparisons
            ],
        )
    if results.left_out:
        typer.echo(f"\n{counted(results.left_out, 'page')} left out: they did not exist at the start of the window.")
