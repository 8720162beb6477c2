"""The application: its commands, its global options, and the messages and exit codes of errors.

The module of a command is imported only when that command is called, so that `list` does not load what `demo` needs,
and `--help`, `--version` and completion load none of them.
An error is reported as one sentence; `--debug` adds the traceback.
"""

from __future__ import annotations

import gc
import logging
import os
import sys
import traceback
from collections.abc import Sequence
from importlib import import_module
from typing import Annotated, Any

import typer

from webstrata import __version__
from webstrata.cli.messages import mask_unconfigured_logging, print_error, print_traceback, start_logging
from webstrata.cli.options import HomeOption
from webstrata.cli.placeholders import complete_help
from webstrata.cli.session import database_damage, remember_home
from webstrata.cli.streams import INTERRUPTED, finish, stdout_failed, take_over
from webstrata.cli.summaries import SUMMARIES
from webstrata.errors import WebstrataError
from webstrata.masking import forget_secrets

PROGRAM = "webstrata"

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
    "changes": "history.changes",
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
    "train": "first_sight.train",
    "demo": "demo.demo",
    "lab": "lab.app",
}
"""Command -> its module in `webstrata.cli`."""


def application(*only: str) -> typer.Typer:
    """The command line with these commands; without names, with all commands."""
    app = _root_application()
    for name in only or COMMANDS:
        module = import_module(f"webstrata.cli.{COMMANDS[name]}")
        if hasattr(module, "app"):
            app.add_typer(module.app, name=name, short_help=SUMMARIES[name])
        else:
            app.command(name=name, short_help=SUMMARIES[name])(module.command)
    return app


def outline() -> typer.Typer:
    """The command line with the names and summaries of all commands, without the commands.

    It is enough for `--help`, for the completion of a command's name, and for the error if there is no such command.
    """
    app = _root_application()
    for name in COMMANDS:
        app.command(name=name, short_help=SUMMARIES[name])(_not_loaded)
    return app


def command_line(name: str | None = None) -> Any:
    """The command line as Typer runs it: with one command, or with the outline of all of them."""
    command = typer.main.get_command(application(name) if name is not None else outline())
    complete_help(command)
    return command


def _root_application() -> typer.Typer:
    app = typer.Typer(
        name=PROGRAM,
        help="Keep a faithful record of a changing web: watch pages, visit them politely, archive every version.",
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(_root)
    return app


def _not_loaded() -> None:
    raise RuntimeError("the command was not loaded: `_called` did not find its name")


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
            help="Print the version and whether the kernels are compiled, and exit.",
        ),
    ] = False,
) -> None:
    global _is_debugging
    remember_home(home)
    _is_debugging = debug
    if debug:  # before the command configures logging: its own level then has no effect
        start_logging(logging.DEBUG, "webstrata: %(levelname)s %(name)s: %(message)s")


def _called(words: Sequence[str]) -> str | None:
    """The command that these words name after the global options; None if they name no command."""
    rest = list(words)
    while rest and rest[0].startswith("-"):
        del rest[: 2 if rest[0] == "--home" else 1]
    return rest[0] if rest and rest[0] in COMMANDS else None


def _words_to_complete() -> list[str]:
    """The words of the command line for which a shell asks for completions; empty if none does.

    The scripts of `--show-completion` set these variables: the first for bash, the second for zsh, fish and PowerShell.
    """
    if f"_{PROGRAM.upper()}_COMPLETE" not in os.environ:
        return []
    # Typer would render the summaries as Rich markup, which they are not; loading Rich takes half of the time.
    sys.modules["rich"] = None  # type: ignore[assignment]  # then it is not found
    line = os.environ.get("COMP_WORDS") or os.environ.get("_TYPER_COMPLETE_ARGS", "")
    return line.split()[1:]


def main() -> None:
    """Run the command line. Errors become a sentence on stderr and an exit code: 1 failed, 2 wrong usage."""
    take_over()
    forget_secrets()
    mask_unconfigured_logging()
    _save_processor_time()
    sys.exit(finish(_run(sys.argv[1:])))


def _save_processor_time() -> None:
    """A short command creates few reference cycles, and NumPy's threads would wait for matrices that are never large."""
    gc.set_threshold(20_000, *gc.get_threshold()[1:])
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


def _run(words: list[str]) -> int:
    """Run the command that these words name; its exit code."""
    try:
        name = _called(words or _words_to_complete())
        command_line(name)(prog_name=PROGRAM)
    except KeyboardInterrupt:
        return INTERRUPTED
    except SystemExit as ending:  # the usual end of typer's commands
        return ending.code if isinstance(ending.code, int) else int(ending.code is not None)
    except WebstrataError as problem:
        print_error(str(problem))
        return problem.exit_code
    except Exception as problem:
        if not stdout_failed():
            _report(problem)
        return 1
    return 0


def _report(problem: Exception) -> None:
    """One line for an unexpected error, after the traceback if that is wanted."""
    if _is_debugging:
        print_traceback(problem)
    if isinstance(problem, OSError):
        print_error(f"{problem}. Check the path, its permissions and the free space.")
    elif damage := database_damage():
        print_error(damage)
    else:
        where = traceback.extract_tb(problem.__traceback__)[-1]
        advice = "" if _is_debugging else " Run again with --debug for the traceback (webstrata --debug COMMAND …)."
        print_error(
            f"internal error at {where.name}:{where.lineno}: {type(problem).__name__}: {problem}. "
            f"Nothing stored is lost. Please report this line.{advice}"
        )
