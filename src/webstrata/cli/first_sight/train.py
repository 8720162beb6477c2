"""`webstrata train`: learns to guess from the look of a page how often it changes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from webstrata.cli.first_sight.explanation import show_page
from webstrata.cli.first_sight.report import report_document, show_report
from webstrata.cli.options import HomeOption, JsonOption
from webstrata.cli.output import print_json, progress_bar
from webstrata.cli.session import home_path, open_node, run_async
from webstrata.errors import UsageError

if TYPE_CHECKING:
    from webstrata.predict.first_sight.training import Training
    from webstrata.predict.first_sight.training_pages import TrainingPages

SHIPPED = "shipped"


def command(
    recorded: Annotated[
        list[str] | None,
        typer.Option(
            "--recorded",
            metavar="FOLDER",
            help=f"Learn from the recorded sites in this folder instead of the home; `{SHIPPED}`: those of the default "
            "model. May be repeated.",
            show_default=False,
        ),
    ] = None,
    k: Annotated[int, typer.Option("--k", min=2, max=6, help="Number of groups of pages.")] = 4,
    method: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="Method to learn with: tree, tree-selected, tree-unpruned or boosting. `best` compares all, and takes the one with the least error on unseen sites.",
        ),
    ] = "best",
    show: Annotated[
        str | None,
        typer.Option(
            "--show", metavar="URL", help="Train nothing; explain the class of this page.", show_default=False
        ),
    ] = None,
    plot: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Draw errors, confusion, features and the tree (svg, png or pdf).", show_default=False
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write the model to this file instead of the home.", show_default=False),
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Report, but write no model.")] = False,
    home: HomeOption = None,
    as_json: JsonOption = False,
) -> None:
    """Learn from the home's own pages to guess how often a page changes from what it looks like at its first visit.

    The model replaces the default one in this home. A running `run` uses it from its next start on.
    """
    if show is not None:
        if recorded or plot or out or dry_run:
            raise UsageError("--show explains one page by the present model. Leave out the options of training.")
        show_page(home, show, as_json=as_json)
        return
    if plot is not None:
        from webstrata.plots.figure import check_format

        check_format(plot)
    target = None if dry_run else out or _model_of(home)
    training = _trained(home, recorded, k, method)
    if plot is not None:
        from webstrata.plots.first_sight import draw_training

        draw_training(plot, training)
    if target is not None:
        _write(training, target)
    if as_json:
        print_json({"model": None if target is None else str(target), **report_document(training)})
    else:
        show_report(training)
        if target is not None:
            typer.echo(f"\nModel written to {target}.")


def _trained(home: Path | None, recorded: list[str] | None, k: int, method: str) -> Training:
    from webstrata.predict.first_sight.methods import METHODS, require_scikit_learn
    from webstrata.predict.first_sight.training import BEST, train

    require_scikit_learn()
    pages = _recorded_pages(recorded) if recorded else _stored_pages(home)
    source = "recorded sites" if recorded else "this home"
    compared = METHODS if method == BEST else (method,)
    with _showing_steps(len(compared) + 1) as on_step:
        return train(pages, k=k, method=method, compared=compared, source=source, on_step=on_step)


def _recorded_pages(folders: list[str]) -> TrainingPages:
    from webstrata.lab.first_sight.page_table import as_training_pages, shipped_pages
    from webstrata.lab.first_sight.recorded_pages import read_recorded_pages

    with progress_bar("pages", unit="rows") as advance:
        pages = [
            page
            for folder in folders
            for page in (
                shipped_pages()
                if folder == SHIPPED
                else read_recorded_pages(Path(folder), lambda _, number: advance(number))
            )
        ]
    return as_training_pages(pages)


def _stored_pages(home: Path | None) -> TrainingPages:
    from webstrata.flows.training_pages import stored_training_pages

    node = open_node(home)

    async def read() -> TrainingPages:
        async with node.store() as store:
            return await stored_training_pages(store, advance)

    with progress_bar("pages", unit="rows") as advance:
        return run_async(read)


def _model_of(home: Path | None) -> Path:
    """Where the home keeps its model. Raises HomeError before the work of training."""
    from webstrata.home import Home

    opened = Home.open(home_path(home))
    opened.require_writable()
    return opened.model


def _write(training: Training, target: Path) -> None:
    from webstrata.node import output_file
    from webstrata.predict.first_sight.model_file import encode

    with output_file(target) as file:
        file.write(encode(training.model))


@contextmanager
def _showing_steps(steps: int) -> Iterator[Callable[[str], object]]:
    with progress_bar("training", steps, unit="rows") as advance:
        yield lambda _: advance(1)
