"""The application: its commands, and what becomes of errors (a sentence and an exit code, never a traceback).

A command's file is imported when it is called for: what `list` needs is there at once, whatever `demo` needs.
"""

from __future__ import annotations

import sys
import traceback
from importlib import import_module
from typing import Annotated

import typer

from webstrata import __version__
from webstrata.cli.session import HomeOption, remember_home
from webstrata.errors import WebstrataError

COMMANDS = {
    "init": "home.init",
    "watch": "pages.watch",
    "unwatch": "pages.unwatch",
    "list": "pages.listing",
    "crawl": "crawl.crawl",
    "run": "crawl.run",
    "status": "home.status",
    "boost": "pages.boost",
    "interval": "pages.interval",
    "log": "history.log",
    "diff": "history.diff",
    "rules": "pages.rules",
    "preview": "pages.preview",
    "noise": "pages.noise",
    "fingerprint": "files.fingerprint",
    "compare": "files.compare",
    "estimate": "files.estimate",
    "cat": "history.cat",
    "why": "history.why",
    "settings": "home.settings",
    "check": "home.check",
    "reindex": "home.reindex",
    "export": "history.export",
    "capture": "capture.capture",
    "certificate": "capture.certificate",
    "coherence": "capture.coherence",
    "plan": "crawl.plan",
    "demo": "demo.demo",
    "lab": "lab.app",
}
"""Command -> its module below `webstrata.cli`."""


def application(*only: str) -> typer.Typer:
    """The command line with these commands; without names, with all of them."""
    app = typer.Typer(
        name="webstrata",
        help="Keeps a faithful record of a changing web: watches pages, visits politely, archives every version.",
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(_root)
    for name in only or COMMANDS:
        module = import_module(f"webstrata.cli.{COMMANDS[name]}")
        if hasattr(module, "app"):
            app.add_typer(module.app, name=name)
        else:
            app.command(name=name)(module.command)
    return app


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"webstrata {__version__}")
        raise typer.Exit


def _root(
    home: HomeOption = None,
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    remember_home(home)


def _called(words: list[str]) -> list[str]:
    """The command that these words call for, if that is plain: else none, and all are loaded."""
    if len(words) > 2 and words[0] == "--home":
        words = words[2:]
    return words[:1] if words and words[0] in COMMANDS else []


def main() -> None:
    """Run the command line; errors become a sentence on stderr and an exit code (1 failed, 2 usage)."""
    try:
        application(*_called(sys.argv[1:]))()
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
