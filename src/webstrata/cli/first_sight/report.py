"""The report of a training, as text and as a JSON document."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import typer

from webstrata.cli.output import counted, print_table

if TYPE_CHECKING:
    from webstrata.predict.first_sight.evaluation import ErrorRate
    from webstrata.predict.first_sight.training import MethodErrors, Training, TrainingReport

_SHOWN_FEATURES = 8
_SHOWN_LINES = 40


def report_document(training: Training) -> dict[str, Any]:
    """The report as it is printed with --json."""
    import msgspec

    from webstrata.predict.first_sight.explaining import tree_lines

    return {**msgspec.structs.asdict(training.report), "tree": tree_lines(training.model)}


def show_report(training: Training) -> None:
    """Print the report."""
    from webstrata.predict.first_sight.explaining import tree_lines

    report = training.report
    typer.echo(
        f"{counted(report.pages, 'page')} of {counted(report.sites, 'site')}, {report.changed_pages} with changes\n"
    )
    print_table(("group", "pages"), list(zip(report.groups, report.pages_by_group, strict=True)))
    typer.echo(f"\nErrors, balanced over the groups (a guess without looking: {report.random_error:.0%})\n")
    print_methods(report.methods, report.chosen)
    typer.echo(f"\nConfusion of {report.chosen} on unseen sites (rows: true groups)\n")
    print_table(("", *report.groups), [(name, *row) for name, row in zip(report.groups, report.confusion, strict=True)])
    _show_features(report)
    lines = tree_lines(training.model)
    if lines:
        typer.echo("\nTree\n")
        typer.echo("\n".join(lines[:_SHOWN_LINES]))
        if len(lines) > _SHOWN_LINES:
            typer.echo(f"({len(lines) - _SHOWN_LINES} more lines: --json has all of them)")
    typer.echo(
        f"\nTrust in these groups on unseen sites: {report.trust:g} (0: none, 1: full); they save "
        f"{report.gained_bits:.2f} bits per page."
    )


def print_methods(methods: Sequence[MethodErrors], chosen: str) -> None:
    """The errors of each method with their 95 % intervals."""
    print_table(
        ("method", "unseen pages", "unseen sites", ""),
        [
            (
                row.method,
                _interval(row.unseen_pages),
                _interval(row.unseen_sites),
                "chosen" if row.method == chosen else "" if row.can_be_held else "compared only",
            )
            for row in methods
        ],
    )


def _interval(rate: ErrorRate) -> str:
    return f"{rate.error:.1%} ({rate.low:.0%}-{rate.high:.0%})"


def _show_features(report: TrainingReport) -> None:
    used = [one for one in report.importance if one.rise > 0][:_SHOWN_FEATURES]
    if used:
        typer.echo("\nFeatures whose shuffling raises the error on unseen sites\n")
        print_table(("feature", "points"), [(one.feature, f"{100 * one.rise:.1f}") for one in used])
