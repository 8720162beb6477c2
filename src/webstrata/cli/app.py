"""The application: its commands, its global options, and the messages and exit codes of errors.

The module of a command is imported only when that command is called, so that `list` does not load what `demo` needs.
An error is reported as one sentence; `--debug` adds the traceback.
"""

from __future__ import annotations

import logging
import sys
import traceback
from importlib import import_module
from typing import Annotated

import typer

from webstrata import __version__
from webstrata.cli.options import HomeOption
from webstrata.cli.session import remember_home
from webstrata.cli.streams import finish, say, stdout_failed, take_over
from webstrata.errors import WebstrataError

COMMANDS = {
    "init": "home.init",
    "watch": "pages.watch",
    "unwatch": "pages.unwatch",
    "list": "pages.listing",
    "tag": "pages.tag",
    "crawl": "crawl.crawl",
    "run": "crawl.run",
    "status": "home.status",
    "boost": "pages.boost",
    "interval": "pages.interval",
    "snooze": "pages.snooze",
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
    "rebuild": "home.rebuild",
    "export": "history.export",
    "capture": "capture.capture",
    "certificate": "capture.certificate",
    "coherence": "capture.coherence",
    "plan": "crawl.plan",
    "demo": "demo.demo",
    "lab": "lab.app",
}
"""Command -> its module in `webstrata.cli`."""


def application(*only: str) -> typer.Typer:
    """The command line with these commands; without names, with all commands."""
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


_is_debugging = False


def _print_version(wanted: bool) -> None:
    if wanted:
        from webstrata.compiled import kernel_description

        typer.echo(f"webstrata {__version__} ({kernel_description()})")
        raise typer.Exit


def _root(
    home: HomeOption = None,
    debug: Annotated[
        bool, typer.Option("--debug", help="Log at level DEBUG, and print the traceback of an internal error.")
    ] = False,
    version: Annotated[
        bool,
        typer.Option(
            "--version",
            callback=_print_version,
            is_eager=True,
            help="Print the version and which kernels run, and exit.",
        ),
    ] = False,
) -> None:
    global _is_debugging
    remember_home(home)
    _is_debugging = debug
    if debug:  # before the command configures logging: its own level then has no effect
        logging.basicConfig(level=logging.DEBUG, format="webstrata: %(levelname)s %(name)s: %(message)s")


def _called(words: list[str]) -> list[str]:
    """The command that these words name, if it is the first word; else nothing, and all commands are loaded."""
    rest = list(words)
    while rest and rest[0] in ("--debug", "--home"):
        del rest[: 2 if rest[0] == "--home" else 1]
    return rest[:1] if rest and rest[0] in COMMANDS else []


def main() -> None:
    """Run the command line. Errors become a sentence on stderr and an exit code: 1 failed, 2 wrong usage."""
    take_over()
    sys.exit(finish(_run(sys.argv[1:])))


def _run(words: list[str]) -> int:
    """Run the command that these words name; its exit code."""
    try:
        application(*_called(words))()
    except SystemExit as ending:  # the usual end of typer's commands
        return ending.code if isinstance(ending.code, int) else int(ending.code is not None)
    except WebstrataError as problem:
        say(f"webstrata: {problem}")
        return problem.exit_code
    except Exception as problem:
        if not stdout_failed():
            _report(problem)
        return 1
    return 0


def _report(problem: Exception) -> None:
    """One line for an unexpected error, after the traceback if that is wanted."""
    if _is_debugging:
        traceback.print_exception(problem)
    if isinstance(problem, OSError):
        say(f"webstrata: {problem}. Check the path, its permissions and the free space.")
        return
    where = traceback.extract_tb(problem.__traceback__)[-1]
    advice = "" if _is_debugging else " Run again with --debug for the traceback (webstrata --debug COMMAND …)."
    say(
        f"webstrata: internal error at {where.name}:{where.lineno}: {type(problem).__name__}: {problem}. "
        f"Nothing stored is lost. Please report this line.{advice}"
    )
