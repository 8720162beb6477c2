"""`webstrata lab groups`: the groups of pages by change rate (Figure 2), and learning methods that find them (Table 1)."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from webstrata.cli.first_sight.report import print_methods
from webstrata.cli.options import JsonOption
from webstrata.cli.output import print_json, print_table, progress_bar

MOST_PAGES = 250
"""The shipped table has as many."""

if TYPE_CHECKING:
    from webstrata.lab.first_sight.experiment import GroupsResult


def command(
    k: Annotated[int, typer.Option("--k", min=2, max=6, help="Number of groups of Table 1.")] = 4,
    most: Annotated[
        int, typer.Option("--pages", min=1, max=MOST_PAGES, help="Largest number of pages of each site.")
    ] = MOST_PAGES,
    plot: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Draw the groups and the errors (svg, png or pdf).", show_default=False),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of folds, samples and methods.")] = 1,
    as_json: JsonOption = False,
) -> None:
    """Divide the pages of recorded sites into 2 to 6 groups by change rate, and compare methods that find the group of
    a page from its first version: Figure 2 and Table 1 of present-and-past."""
    from webstrata.lab.first_sight.experiment import compare_groups
    from webstrata.lab.first_sight.page_table import as_training_pages, shipped_pages
    from webstrata.predict.first_sight.methods import METHODS, require_scikit_learn

    require_scikit_learn()
    if plot is not None:
        from webstrata.plots.figure import check_format

        check_format(plot)
    pages = as_training_pages(shipped_pages(most))
    with progress_bar("training", 2 * len(METHODS) + 1, unit="rows") as advance:
        result = compare_groups(pages, k=k, seed=seed, on_step=lambda _: advance(1))
    if plot is not None:
        from webstrata.plots.first_sight import draw_groups

        draw_groups(plot, result.figure2, result.folds.methods, result.random_error)
    if as_json:
        print_json(result)
    else:
        _show(result)


def _show(result: GroupsResult) -> None:
    typer.echo(
        f"{result.pages} pages of {result.sites} sites: {result.web_pages} web pages, {result.data_files} data files\n"
    )
    typer.echo("Figure 2: groups by change rate\n")
    print_table(
        ("k", "mean interval", "pages", "changes per day", "explained"),
        [
            (
                len(sizes.pages) if not number else "",
                name,
                sizes.pages[number],
                f"{sizes.mean_rate_per_day[number]:.4f}",
                f"{sizes.explained:.0%}" if not number else "",
            )
            for sizes in result.figure2
            for number, name in enumerate(sizes.groups.names)
        ],
    )
    typer.echo(
        f"\nTable 1: {result.learned} pages to learn, {result.tested} to test, as many of each of {result.k} groups\n"
    )
    print_table(
        ("method", "test error", "95 %", "learning", "classification"),
        [
            (
                row.method,
                f"{row.error:.1%}",
                f"{row.low:.0%}-{row.high:.0%}",
                f"{row.learning_s:.2f} s",
                f"{1000 * row.classification_s:.1f} ms",
            )
            for row in result.table1
        ],
    )
    typer.echo(
        f"\nFive folds over all pages, balanced (a guess without looking: {result.random_error:.0%}; not balanced, the "
        f"largest group is wrong for {result.majority_error:.0%})\n"
    )
    print_methods(result.folds.methods, result.folds.chosen)
