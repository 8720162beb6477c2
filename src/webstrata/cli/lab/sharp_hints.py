"""`webstrata lab sharp --hints`: whether the type, depth and words of URLs predict how often pages change."""

from __future__ import annotations

from typing import Any

import typer

from webstrata.cli.output import print_json, print_table


def show(recordings: list[Any], as_json: bool) -> None:
    from webstrata.lab.sharp.rate_hints import hint_report

    report = hint_report(recordings)
    if as_json:
        print_json({"hints": report})
        return
    print_table(
        ("sites", "known", "pages", "log-likelihood", "with hints", "change", "sites improved"),
        [
            (
                row.part,
                row.known,
                row.pages,
                f"{row.without_hints:.1f}",
                f"{row.with_hints:.1f}",
                f"{row.with_hints - row.without_hints:+.1f}",
                f"{row.improved_sites} of {row.sites}",
            )
            for row in report.rows
        ],
    )
    for known, factors in report.factors.items():
        shown = ", ".join(f"{hint} {factor:.2f}" for hint, factor in sorted(factors.items()))
        typer.echo(f"factors ({known}): {shown}")
