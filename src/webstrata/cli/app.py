"""The application: its commands, and what becomes of errors (a sentence and an exit code, never a traceback)."""

from __future__ import annotations

import sys
import traceback
from typing import Annotated

import typer

from webstrata import __version__
from webstrata.cli import (
    cat,
    check,
    crawl,
    demo,
    diff,
    export,
    init,
    listing,
    log,
    reindex,
    run,
    status,
    unwatch,
    watch,
    why,
)
from webstrata.cli import settings as settings_command
from webstrata.cli.session import HomeOption, remember_home
from webstrata.errors import WebstrataError

app = typer.Typer(
    name="webstrata",
    help="Keeps a faithful record of a changing web: watches pages, visits politely, archives every version.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)

for module in (init, watch, unwatch, crawl, run, status, log, diff, cat, why, check, reindex, demo):
    app.command(name=module.__name__.rsplit(".", 1)[1])(module.command)
app.command(name="list")(listing.command)
app.command(name="settings")(settings_command.command)
app.add_typer(export.app, name="export")


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"webstrata {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    home: HomeOption = None,
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    remember_home(home)


def main() -> None:
    """Run the command line; errors become a sentence on stderr and an exit code (1 failed, 2 usage)."""
    try:
        app()
    except WebstrataError as problem:
        typer.echo(f"webstrata: {problem}", err=True)
        sys.exit(problem.exit_code)
    except BrokenPipeError:
        sys.stderr.close()  # whoever read our output has had enough
        sys.exit(0)
    except OSError as problem:
        typer.echo(f"webstrata: {problem}. Check the path, its permissions and the free space.", err=True)
        sys.exit(1)
    except Exception as problem:  # the last border: a fault of ours, told without spilling it over the terminal
        where = traceback.extract_tb(problem.__traceback__)[-1]
        typer.echo(
            f"webstrata: internal error at {where.name}:{where.lineno}: {type(problem).__name__}: {problem}. "
            "Nothing stored is lost. Please report this line.",
            err=True,
        )
        sys.exit(1)
