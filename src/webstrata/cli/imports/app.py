"""`webstrata import`: what other archives know of the past of pages."""

from __future__ import annotations

import typer

from webstrata.cli.imports import cdx, gaps, listing, parquet, timemap, warc, wayback

app = typer.Typer(
    help="Import copies of pages that other archives hold, so that the schedule starts with what their past teaches. "
    "An import that was interrupted continues when the same command is run again.",
    no_args_is_help=True,
)

app.command(name="cdx")(cdx.command)
app.command(name="wayback")(wayback.command)
app.command(name="timemap")(timemap.command)
app.command(name="warc")(warc.command)
app.command(name="parquet")(parquet.command)
app.command(name="gaps")(gaps.command)
app.command(name="list")(listing.command)
